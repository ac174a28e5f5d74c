# launch: grid=2 block=128
# buffer: a f32 256
# buffer: out f32 2
# cuda: a out
# numba: a out
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, out):
    s = cuda.shared.array(128, "float32")
    t = cuda.threadIdx.x
    s[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    d = 64
    while d > 0:
        if t < d:
            s[t] += s[t + d]
        d >>= 1
    if t == 0:
        out[cuda.blockIdx.x] = s[0]
