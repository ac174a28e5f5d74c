# launch: grid=1 block=64
# buffer: a f32 64
# buffer: out f32 2
# cuda: a out
# numba: a out
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, out):
    t = cuda.threadIdx.x
    v = a[t]
    d = 16
    while d > 0:
        v += cuda.shfl_down_sync(0xffffffff, v, d)
        d //= 2
    if t % 32 == 0:
        out[t // 32] = v
