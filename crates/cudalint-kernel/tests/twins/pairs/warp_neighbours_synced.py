# launch: grid=1 block=32
# buffer: a f32 32
# cuda: a
# numba: a
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncwarp()
    a[t] = s[t ^ 1]
