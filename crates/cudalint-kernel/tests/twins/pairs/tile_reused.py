# launch: grid=1 block=64
# buffer: a f32 256
# buffer: b f32 64
# cuda: a b 256
# numba: a b
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    v = float32(0)
    for i in range(0, a.shape[0], 64):
        s[t] = a[i + t]
        cuda.syncthreads()
        v += s[63 - t]
    b[t] = v
