# launch: grid=1 block=64
# buffer: h i32 16
# cuda: h
# numba: h
# shows: unwritten
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(h):
    s = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    cuda.atomic.add(s, t % 16, 1)
    cuda.syncthreads()
    if t < 16:
        h[t] = s[t]
