# record: memcheck racecheck memcheck-kernel
# Device functions, two specializations, a closure's kernel, a line-info kernel.
import numpy as np
from numba import cuda


@cuda.jit(device=True)
def store(x, i, v):
    x[i + 1000] = v


@cuda.jit
def fill(x):
    store(x, cuda.threadIdx.x, 1)


def make(k):
    @cuda.jit
    def inner(x):
        x[cuda.threadIdx.x + k] = k

    return inner


@cuda.jit(lineinfo=True)
def with_lines(x, n):
    i = cuda.grid(1)
    if i < n:
        x[i] = 1


@cuda.jit("void(float64[:], int32)")
def signed(x, n):
    x[cuda.grid(1) + n] = 1.0


a = cuda.to_device(np.zeros(32, dtype=np.int32))
b = cuda.to_device(np.zeros(32, dtype=np.float64))
for launch in (
    lambda: fill[1, 32](a),
    lambda: fill[1, 32](b),
    lambda: make(3000)[1, 32](a),
    lambda: with_lines[1, 64](a, 64),
    lambda: signed[1, 32](b, 500),
):
    try:
        launch()
        cuda.synchronize()
    except Exception as error:
        print(type(error).__name__, error)
