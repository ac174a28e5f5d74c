"""Stands for cupy where there is none: raw kernels are functions of Python that are given bytes."""
import ctypes
import types

import numpy

float32, int32, uint8 = numpy.float32, numpy.int32, numpy.uint8
KERNELS = {}
HELD = {}
# Blocks and threads of a block of the launch that runs.
LAUNCH = []
ALLOCATORS = []
cuda = types.SimpleNamespace(
    set_allocator=ALLOCATORS.append,
    set_pinned_memory_allocator=ALLOCATORS.append,
    runtime=types.SimpleNamespace(
        deviceSynchronize=lambda: None,
        hostAlloc=lambda size, flags: ctypes.addressof(HELD.setdefault(len(HELD), ctypes.create_string_buffer(size))),
        memcpy=lambda to, source, size, kind: ctypes.memmove(to, source, size),
    ),
    MemoryPointer=lambda memory, offset: memory,
)


class Memory:
    def __init__(self, cells):
        self.cells = cells
        self.ptr, self.size = cells.ctypes.data, cells.nbytes


class Pointer:
    """A memory pointer to the first byte of an allocation."""

    def __init__(self, memory):
        self.mem, self.ptr = memory, memory.ptr

    def fits(self, size):
        if size > self.mem.size:
            raise RuntimeError("cudaErrorInvalidValue")

    def memset(self, value, size):
        self.fits(size)
        ctypes.memset(self.ptr, value, size)

    def copy_from_host(self, mem, size):
        self.fits(size)
        ctypes.memmove(self.ptr, mem, size)


class Array:
    def __init__(self, cells, memory):
        self.cells, self.data = cells, Pointer(memory)
        self.shape, self.dtype, self.size, self.flags = cells.shape, cells.dtype, cells.size, cells.flags

    def get(self):
        return self.cells.copy()

    def copy(self):
        return array(self.cells)

    def astype(self, dtype):
        return array(self.cells.astype(dtype))

    def __setitem__(self, place, value):
        self.cells[place] = getattr(value, "cells", value)

    @property
    def T(self):
        return Array(self.cells.T, self.data.mem)


def array(cells):
    cells = numpy.array(cells, order="C")
    return Array(cells, Memory(cells))


def arange(count, dtype=None):
    return array(numpy.arange(count, dtype=dtype))


def ascontiguousarray(value):
    return array(numpy.ascontiguousarray(value.cells))


def ndarray(shape, dtype, memptr):
    # Elements of a transposed or sliced array lie in the memory of the first one.
    flat = memptr.cells.reshape(-1).view(numpy.uint8)
    return Array(flat, memptr)


class Module:
    """Variables of a compiled program, by their names."""

    def __init__(self):
        self.variables = {}

    def get_global_var(self, name):
        return ctypes.addressof(self.variables.setdefault(name, ctypes.create_string_buffer(256)))


class RawKernel:
    def __init__(self, code, name, options=(), backend="nvrtc"):
        self.code, self.name, self.options = code, name, options
        self.kernel = types.SimpleNamespace(module=Module())

    def __call__(self, grid, block, args):
        LAUNCH[:] = [grid[0], block[0]]
        handed = []
        for value in args:
            if isinstance(value, Array):
                handed.append(value.data.mem.cells.reshape(-1))
            else:
                scalar = value if isinstance(value, numpy.generic) else numpy.array(value)[()]
                handed.append(scalar.tobytes())
        KERNELS[self.name](*handed)


class ElementwiseKernel:
    def __call__(self, *args):
        pass


class RawModule:
    def __init__(self, code=None, *, path=None, options=(), backend="nvrtc"):
        self.code, self.options = code, options

    def get_function(self, name):
        return RawKernel(self.code, name, self.options)
