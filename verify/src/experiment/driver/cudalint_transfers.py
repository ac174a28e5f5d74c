"""What the launch of a Numba kernel with arrays of the host costs: it is repeated with copies of its arrays, on the host and on the
device. Bytes that are copied are those that Numba has the driver copy.
"""
import time

from cudalint_memory import as_host

ROUNDS = 15


def measured(launch, configuration, arguments):
    """A fact for the log; none where no argument is an array of the host."""
    import numpy
    from numba import cuda

    is_host = [isinstance(argument, numpy.ndarray) and argument.ndim > 0 for argument in arguments]
    if not any(is_host):
        return None
    held = [as_host(argument) for argument in arguments]
    copies = {}

    def given(on_device):
        found = []
        for argument, own, kept in zip(arguments, is_host, held):
            if kept is None:
                found.append(argument)
                continue
            # One array may be given twice.
            key = (id(argument), on_device and own)
            if key not in copies:
                copies[key] = numpy.copy(kept) if own and not on_device else cuda.to_device(kept)
            found.append(copies[key])
        return found

    def shortest(on_device):
        least = None
        for _ in range(ROUNDS):
            copies.clear()
            arrays = given(on_device)
            cuda.synchronize()
            begun = time.perf_counter_ns()
            launch(configuration, *arrays)
            cuda.synchronize()
            took = time.perf_counter_ns() - begun
            least = took if least is None or took < least else least
        return least

    # The first launch of each kind compiles.
    launch(configuration, *given(False))
    launch(configuration, *given(True))
    cuda.synchronize()
    copies.clear()
    arrays = given(False)
    with Copies() as counted:
        launch(configuration, *arrays)
        cuda.synchronize()
    there, back = counted.there, counted.back
    return {
        "there": there, "back": back, "host": shortest(False), "device": shortest(True), "rounds": ROUNDS,
        "kernel": configuration.dispatcher.py_func.__name__,
    }


class Copies:
    """Counts the bytes that Numba has the driver copy between host and device. All versions call these functions by the object
    that stands for the driver."""

    THERE, BACK = ("cuMemcpyHtoD", "cuMemcpyHtoDAsync"), ("cuMemcpyDtoH", "cuMemcpyDtoHAsync")

    def __init__(self):
        from numba.cuda.cudadrv import driver

        self.driver, self.there, self.back, self.plain = driver.driver, 0, 0, {}

    def __enter__(self):
        for name in self.THERE + self.BACK:
            self.plain[name] = getattr(self.driver, name)
            setattr(self.driver, name, self.counting(name, self.plain[name]))
        return self

    def __exit__(self, *_):
        for name, plain in self.plain.items():
            setattr(self.driver, name, plain)

    def counting(self, name, plain):
        def copy(to, what, size, *others):
            if name in self.THERE:
                self.there += int(size)
            else:
                self.back += int(size)
            return plain(to, what, size, *others)

        return copy
