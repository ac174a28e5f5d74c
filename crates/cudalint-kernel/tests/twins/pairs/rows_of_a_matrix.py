# launch: grid=1 block=32
# buffer: a f32 32 8
# buffer: out f32 32
# cuda: a out 32 8
# numba: a out
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit(device=True)
def total(row):
    v = float32(0)
    for j in range(row.shape[0]):
        v += row[j]
    return v

@cuda.jit
def k(a, out):
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i] = total(a[i])
