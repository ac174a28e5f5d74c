# launch: grid=1 block=64
# buffer: a f32 64
# cuda: a 40
# numba: a 40
# shows: mask
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, n):
    t = cuda.threadIdx.x
    if t < n:
        v = a[t]
        v += cuda.shfl_xor_sync(0xffffffff, v, 1)
        a[t] = v
