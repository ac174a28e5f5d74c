# launch: grid=1 block=64
# buffer: a f32 64
# cuda: a 4
# numba: a 4
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    for i in range(n):
        v = s[(t + 1) % 64]
        s[t] = v + 1
        cuda.syncthreads()
    a[t] = s[t]
