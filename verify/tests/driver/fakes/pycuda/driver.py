"""Device memory is memory of the host, and kernels are functions of Python that are given bytes."""
import struct
import types

import numpy

KERNELS = {}
# Blocks and threads of a block of the launch that runs.
LAUNCH = []
# First byte to the bytes of an allocation.
HELD = {}
Context = types.SimpleNamespace(synchronize=lambda: None)
host_alloc_flags = types.SimpleNamespace(DEVICEMAP=2)


class HostAllocation(numpy.ndarray):
    """Memory of the host that the device reaches."""

    def get_device_pointer(self):
        return self.ctypes.data


def pagelocked_empty(size, dtype, mem_flags=0):
    return numpy.zeros(size, dtype).view(HostAllocation)[:]


class DeviceAllocation:
    def __init__(self, size):
        cells = numpy.full(size, 255, numpy.uint8)
        self.pointer = cells.ctypes.data
        HELD[self.pointer] = cells

    def __int__(self):
        return self.pointer


def mem_alloc(size):
    return DeviceAllocation(size)


def mem_get_address_range(pointer):
    base = next(base for base, cells in HELD.items() if base <= pointer < base + cells.size)
    return base, HELD[base].size


def cells_of(pointer):
    base, _ = mem_get_address_range(int(pointer))
    return HELD[base][int(pointer) - base :]


def memcpy_htod(to, source):
    source = numpy.frombuffer(source, numpy.uint8) if isinstance(source, bytes) else source
    there = numpy.ascontiguousarray(source).view(numpy.uint8).reshape(-1)
    cells_of(to)[: there.size] = there


def memcpy_dtoh(to, source):
    to = numpy.frombuffer(to, numpy.uint8) if isinstance(to, bytearray) else to
    to.view(numpy.uint8).reshape(-1)[:] = cells_of(source)[: to.nbytes]


def memset_d8(to, value, count):
    cells_of(to)[:count] = value


class ArgumentHandler:
    def __init__(self, array):
        self.array, self.held = array, None

    def get_device_alloc(self):
        if self.held is None:
            self.held = mem_alloc(self.array.nbytes)
        return self.held


class In(ArgumentHandler):
    def pre_call(self, _):
        memcpy_htod(self.get_device_alloc(), self.array)


class Out(ArgumentHandler):
    def post_call(self, _):
        memcpy_dtoh(self.array, self.get_device_alloc())


class InOut(In, Out):
    pass


class Function:
    def __init__(self, name):
        self.name = name

    def launch(self, grid, block, arguments):
        LAUNCH[:] = [grid[0], block[0]]
        KERNELS[self.name](*arguments)

    def __call__(self, *arguments, block, grid=(1, 1), stream=None, shared=0):
        handed = []
        for argument in arguments:
            if isinstance(argument, numpy.number):
                handed.append(argument.tobytes())
                continue
            if isinstance(argument, ArgumentHandler) and hasattr(argument, "pre_call"):
                argument.pre_call(stream)
            held = argument.get_device_alloc() if isinstance(argument, ArgumentHandler) else argument
            handed.append(cells_of(held))
        self.launch(grid, block, handed)
        for argument in arguments:
            if hasattr(argument, "post_call"):
                argument.post_call(stream)

    def prepare(self, types):
        self.types = types
        return self

    def prepared_call(self, grid, block, *arguments, shared_size=0):
        handed = [cells_of(a) if t == "P" else struct.pack(t, a) for t, a in zip(self.types, arguments)]
        self.launch(grid, block, handed)

    prepared_timed_call = plain_prepared_call = prepared_call

    def prepared_async_call(self, grid, block, stream, *arguments, shared_size=0):
        self.plain_prepared_call(grid, block, *arguments)
