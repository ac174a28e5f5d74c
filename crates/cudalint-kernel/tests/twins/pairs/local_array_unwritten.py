# launch: grid=1 block=32
# buffer: a f32 32
# cuda: a
# numba: a
# shows: unwritten
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a):
    v = cuda.local.array(shape=8, dtype=float32)
    t = cuda.threadIdx.x
    v[0] = 1
    a[t] = v[0] + v[1]
