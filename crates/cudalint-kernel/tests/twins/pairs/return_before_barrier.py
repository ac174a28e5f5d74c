# launch: grid=1 block=64
# buffer: a f32 40
# cuda: a 40
# numba: a 40
# shows: exit unwritten
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, n):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t >= n:
        return
    s[t] = a[t]
    cuda.syncthreads()
    a[t] = s[63 - t]
