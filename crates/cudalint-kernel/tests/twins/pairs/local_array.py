# launch: grid=1 block=32
# buffer: a f32 32
# cuda: a
# numba: a
# shows: outside
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a):
    v = cuda.local.array(8, float32)
    t = cuda.threadIdx.x
    for i in range(8):
        v[i] = i
    for i in range(9):
        a[t] += v[i]
