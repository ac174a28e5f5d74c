# launch: grid=1 block=32
# buffer: a f32 32 8
# buffer: out f32 32
# cuda: a out 8
# numba: a out
# shows: outside
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, out):
    i = cuda.grid(1)
    row = a[i, :]
    v = float32(0)
    for j in range(len(row) + 1):
        v += row[j]
    out[i] = v
