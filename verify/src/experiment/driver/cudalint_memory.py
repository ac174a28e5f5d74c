"""The memory behind the arguments of a launch: what it holds before and after, and the launch once more on the same memory.

Each class has `arguments`, what their arrays hold `before` the launch (none for what is no array), and `run(grid, given)`: the
launch with this grid (and, of raw kernels, other arguments) on memory as it was before, and what its arrays hold then.
"""


class NumbaMemory:
    """Launches a Numba kernel on copies of its arrays."""

    def __init__(self, launch, configuration, arguments):
        self.launch, self.configuration, self.arguments = launch, configuration, list(arguments)
        self.before = [as_host(argument) for argument in arguments]
        self.names = parameter_names(configuration.dispatcher.py_func)

    def name_of(self, number):
        return f"`{self.names[number]}`" if number < len(self.names) else f"argument {number + 1}"

    def run(self, grid):
        from numba import cuda

        copies, given = {}, []
        for argument, host in zip(self.arguments, self.before):
            # One array may be given twice.
            if host is not None and id(argument) not in copies:
                copies[id(argument)] = cuda.to_device(host)
            given.append(copies.get(id(argument), argument))
        configuration = self.configuration
        shape = (grid, configuration.blockdim, configuration.stream, configuration.sharedmem)
        self.launch(configuration.dispatcher[shape], *given)
        cuda.synchronize()
        return [None if host is None else array.copy_to_host() for array, host in zip(given, self.before)]

    def restore(self):
        pass


class CupyMemory:
    """The allocations behind the CuPy arrays among arguments, with what they held before the launch."""

    def __init__(self, launch, block, arguments, rest, others):
        import cupy

        self.cupy, self.launch, self.block, self.rest, self.others = cupy, launch, block, rest, others
        self.arguments, self.blocks = list(arguments), {}
        for argument in filter(is_array, arguments):
            memory = argument.data.mem
            if memory.size:
                self.blocks.setdefault(memory.ptr, self.bytes_of(memory))
        self.held = {pointer: block.copy() for pointer, block in self.blocks.items()}
        self.before = self.now(self.arguments)

    def name_of(self, number):
        return f"argument {number + 1}"

    def bytes_of(self, memory):
        pointer = self.cupy.cuda.MemoryPointer(memory, 0)
        return self.cupy.ndarray((memory.size,), self.cupy.uint8, memptr=pointer)

    def restore(self):
        for pointer, block in self.blocks.items():
            block[...] = self.held[pointer]

    def run(self, grid, given=None):
        self.restore()
        given = self.arguments if given is None else given
        self.launch(grid, self.block, tuple(given), *self.rest, **self.others)
        self.cupy.cuda.runtime.deviceSynchronize()
        return self.now(given)

    def now(self, arguments):
        return [argument.get() if is_array(argument) else None for argument in arguments]

    def conversions(self, argument, parameter):
        if not is_array(argument):
            yield from conversions_of_number(argument, parameter)
            return
        if parameter.dtype is None or not parameter.pointer:
            return
        flat = argument
        if not argument.flags.c_contiguous:
            flat = self.cupy.ascontiguousarray(argument)
            yield "does not have its elements in a row", flat
        if str(argument.dtype) != parameter.dtype:
            yield f"is an array of {argument.dtype}", flat.astype(parameter.dtype)


class PycudaMemory:
    """The memory behind arguments of PyCUDA: arrays of the host in `In`, `Out` and `InOut`, arrays and allocations of the
    device."""

    def __init__(self, launch, arguments, parameters):
        from pycuda import driver

        self.driver, self.launch, self.arguments = driver, launch, list(arguments)
        self.parameters = parameters if parameters and len(parameters) == len(arguments) else [None] * len(arguments)
        self.held = {}
        for argument in arguments:
            pointer = device_pointer(argument)
            if pointer:
                base, size = map(int, driver.mem_get_address_range(pointer))
                if base not in self.held:
                    self.held[base] = self.read(base, size)
        self.before = self.now(self.arguments)

    def name_of(self, number):
        return f"argument {number + 1}"

    def read(self, pointer, size):
        import numpy

        cells = numpy.empty(size, numpy.uint8)
        self.driver.memcpy_dtoh(cells, pointer)
        return cells

    def restore(self):
        for base, cells in self.held.items():
            self.driver.memcpy_htod(base, cells)

    def run(self, grid, given=None):
        self.restore()
        given = [self.anew(argument) for argument in (self.arguments if given is None else given)]
        self.launch(tuple(grid), given)
        self.driver.Context.synchronize()
        return self.now(given)

    def anew(self, argument):
        """A handler that copies back to an array of its own; what is not written is then as it was before."""
        if not is_handler(argument):
            return argument
        copies_back = hasattr(argument, "post_call")
        return (self.driver.InOut if copies_back else self.driver.In)(argument.array.copy())

    def now(self, arguments):
        return [self.host(argument, parameter) for argument, parameter in zip(arguments, self.parameters)]

    def host(self, argument, parameter):
        if is_handler(argument):
            return argument.array.copy()
        pointer = device_pointer(argument)
        if not pointer:
            return None
        if hasattr(argument, "get"):
            return argument.get()
        # An allocation has no type of its own.
        base, size = map(int, self.driver.mem_get_address_range(pointer))
        cells = self.read(pointer, size - (pointer - base))
        dtype = parameter.dtype if parameter else None
        return cells.view(dtype) if dtype and cells.nbytes % item_size(dtype) == 0 else cells

    def conversions(self, argument, parameter):
        if not is_handler(argument) and not hasattr(argument, "gpudata"):
            yield from conversions_of_number(argument, parameter)
            return
        array = argument.array if is_handler(argument) else argument
        if parameter.dtype is None or not parameter.pointer or str(array.dtype) == parameter.dtype:
            return
        other = array.astype(parameter.dtype)
        yield f"is an array of {array.dtype}", type(argument)(other) if is_handler(argument) else other


def is_handler(argument):
    """Whether an argument is PyCUDA's `In`, `Out` or `InOut`."""
    return hasattr(argument, "get_device_alloc") and hasattr(argument, "array")


def device_pointer(argument):
    """Where an argument of PyCUDA begins in device memory; none for what is no such memory."""
    if is_handler(argument):
        return None
    if hasattr(argument, "gpudata"):
        return int(argument.gpudata) if argument.gpudata else None
    if type(argument).__name__ in ("DeviceAllocation", "PooledDeviceAllocation"):
        return int(argument)
    return None


def item_size(dtype):
    import numpy

    return numpy.dtype(dtype).itemsize


def conversions_of_number(argument, parameter):
    """What a number would be as its parameter means it, with what is changed."""
    import numpy

    if parameter.dtype is None or parameter.pointer:
        return
    dtype = numpy.dtype(parameter.dtype)
    if isinstance(argument, (bool, int, float, complex, numpy.generic)):
        own = argument.dtype if isinstance(argument, numpy.generic) else numpy.dtype(type(argument))
        if own != dtype:
            yield f"is {argument!r}, which is handed over as {own}", dtype.type(argument)


def difference_of(one, again, meant, converted):
    """In words, what a launch leaves that the meant one does not; none where they leave the same."""
    for number, array in enumerate(one):
        if array is None or first_difference(array, again[number]) is not None:
            continue
        other = meant[number]
        if number == converted:
            other = other.astype(array.dtype)
        where = first_difference(array, other)
        if where is not None:
            place = f"[{', '.join(map(str, where))}]" if where else ""
            return f"element {place} of argument {number + 1} becomes {array[where]}, and {other[where]} as it is meant"
    return None


def is_array(value):
    """Whether a value is a CuPy array."""
    return type(value).__module__.split(".")[0] == "cupy" and hasattr(value, "data") and hasattr(value, "get")


def as_host(argument):
    """A copy of an array on the host; none for what is no array."""
    import numpy

    # cuda.In(array), cuda.Out(array), cuda.InOut(array)
    argument = getattr(argument, "value", argument) if type(argument).__module__.endswith("cuda.args") else argument
    if isinstance(argument, numpy.ndarray):
        return argument.copy()
    if hasattr(argument, "__cuda_array_interface__"):
        from numba import cuda

        return cuda.as_cuda_array(argument).copy_to_host()
    return None


def parameter_names(function):
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])


def bits(array):
    """An array's bytes, a row an element: so that not-a-number equals itself."""
    import numpy

    flat = numpy.ascontiguousarray(array).reshape(-1)
    return flat.view(numpy.uint8).reshape(flat.size, -1) if flat.size else flat.reshape(0, 1)


def same(one, other):
    """Of each element, whether two arrays of one shape hold the same."""
    return (bits(one) == bits(other)).all(axis=-1)


def first_difference(one, other):
    """The place of the first element in which two arrays of one shape differ, as a tuple; none where they are equal."""
    import numpy

    differs = ~same(one, other) if one.size else numpy.zeros(0, bool)
    if not differs.any():
        return None
    return tuple(int(index) for index in numpy.unravel_index(int(differs.argmax()), one.shape))
