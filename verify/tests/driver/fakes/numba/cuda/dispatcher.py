"""Kernels run thread after thread, on arrays of the host."""
import numba.cuda as cuda
from numba.core import bytecode


class CUDADispatcher:
    def __init__(self, py_func, targetoptions=None):
        self.py_func, self.targetoptions, self.overloads = py_func, targetoptions or {}, {}

    def __getitem__(self, configuration):
        griddim, blockdim, *others = configuration
        return _LaunchConfiguration(self, griddim, blockdim, *others)

    def __call__(self, *arguments):
        return self.py_func(*arguments)


class _LaunchConfiguration:
    def __init__(self, dispatcher, griddim, blockdim, stream=0, sharedmem=0):
        self.dispatcher, self.griddim, self.blockdim = dispatcher, griddim, blockdim
        self.stream, self.sharedmem = stream, sharedmem

    def __call__(self, *arguments):
        dispatcher = self.dispatcher
        # As the real one does, a kernel takes in what it reads from outside when it is first launched.
        if not dispatcher.overloads:
            bytecode.FunctionIdentity.from_function(dispatcher.py_func)
            dispatcher.overloads["once"] = dict(dispatcher.py_func.__globals__)
        frozen = type(dispatcher.py_func)(
            dispatcher.py_func.__code__,
            dispatcher.overloads["once"],
            dispatcher.py_func.__name__,
            None,
            dispatcher.py_func.__closure__,
        )
        grid = self.griddim if isinstance(self.griddim, int) else self.griddim[0]
        for block in range(grid):
            for thread in range(self.blockdim):
                cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x = block, thread, self.blockdim
                frozen(*(getattr(argument, "cells", argument) for argument in arguments))
