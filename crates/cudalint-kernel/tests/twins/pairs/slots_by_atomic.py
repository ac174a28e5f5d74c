# launch: grid=2 block=32
# buffer: a i32 64
# buffer: count i32 1 zeros
# buffer: out i32 64
# cuda: a count out 64
# numba: a count out
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, count, out):
    i = cuda.grid(1)
    if i < a.shape[0] and a[i] > 0:
        slot = cuda.atomic.add(count, 0, 1)
        out[slot] = a[i]
