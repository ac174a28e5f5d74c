# launch: grid=2 block=64
# buffer: a f32 100
# cuda: a 100
# numba: a 100
# shows: outside
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit(device=True)
def next(x, i):
    return x[i + 1]

@cuda.jit(device=True)
def twice(v):
    return 2 * v

@cuda.jit
def k(a, n):
    i = cuda.grid(1)
    if i < n:
        twice(next(a, i))
