# launch: grid=1 block=64 shared=512
# buffer: a f32 64
# cuda: a
# numba: a
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a):
    s = cuda.shared.array(0, float32)
    u = s
    v = s[32:]
    t = cuda.threadIdx.x
    u[t] = a[t]
    v[t] = a[t]
    cuda.syncthreads()
    a[t] = u[t] + v[t]
