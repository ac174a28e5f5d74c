# launch: grid=1 block=64
# buffer: a f32 64
# cuda: a
# numba: a
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit(device=True)
def fill(s, t, v):
    s[t] = v

@cuda.jit(device=True)
def mirrored(s, t):
    return s[63 - t]

@cuda.jit
def k(a):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    fill(s, t, a[t])
    a[t] = mirrored(s, t)
