# launch: grid=1 block=64
# buffer: a i32 64
# cuda: a
# numba: a
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        v = 0
        if t >= d:
            v = s[t - d]
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        d *= 2
    a[t] = s[t]
