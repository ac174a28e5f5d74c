# launch: grid=1 block=128
# buffer: a f32 128
# buffer: out f32 1
# cuda: a out
# numba: a out
# shows: divergent
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, out):
    s = cuda.shared.array(128, "f4")
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            s[t] += s[t + d]
            cuda.syncthreads()
        d //= 2
    if t == 0:
        out[0] = s[0]
