"""The few functions of numba.cuda that scripts of the tests call."""
import types

import numpy


class Place(types.SimpleNamespace):
    pass


blockIdx, threadIdx, blockDim = Place(x=0, y=0, z=0), Place(x=0, y=0, z=0), Place(x=1, y=1, z=1)


def grid(_):
    return blockIdx.x * blockDim.x + threadIdx.x


def jit(function=None, **options):
    from numba.cuda.dispatcher import CUDADispatcher

    if function is None:
        return lambda function: CUDADispatcher(function, options)
    return CUDADispatcher(function, options)


class DeviceArray:
    def __init__(self, cells):
        self.cells = cells
        self.shape, self.dtype, self.size = cells.shape, cells.dtype, cells.size

    @property
    def __cuda_array_interface__(self):
        cells = self.cells
        return {"data": (cells.ctypes.data, False), "shape": cells.shape, "typestr": cells.dtype.str, "strides": None}

    def copy_to_host(self, array=None):
        if array is None:
            return self.cells.copy()
        array[...] = self.cells
        return array


def to_device(obj):
    return obj if isinstance(obj, DeviceArray) else DeviceArray(numpy.array(obj))


as_cuda_array = to_device


def synchronize():
    pass


def syncthreads():
    pass


class shared:
    @staticmethod
    def array(shape, dtype):
        return numpy.zeros(shape, dtype)


class local:
    @staticmethod
    def array(shape, dtype):
        # Room behind the end: what lies there is a thread's own, too.
        return numpy.zeros(shape + 4, dtype)


class atomic:
    @staticmethod
    def add(array, index, value):
        old = array[index]
        array[index] += value
        return old
