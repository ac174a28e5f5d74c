# launch: grid=1 block=64
# buffer: a i32 64
# buffer: out i32 1
# cuda: a out
# numba: a out
# shows: outside
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t + 1] = a[t]
    cuda.syncthreads()
    d = 32
    while d > 0:
        if t < d:
            s[t + 1] = s[t + 1] + s[t + 1 + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        out[0] = s[1]
