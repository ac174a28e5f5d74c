# launch: grid=2 block=64
# buffer: a i32 128
# buffer: h i32 16
# cuda: a h 128
# numba: a h
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, h):
    s = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        s[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(s, i % 16, 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(h, t, s[t])
