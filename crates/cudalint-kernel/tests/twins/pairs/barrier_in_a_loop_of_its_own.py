# launch: grid=1 block=64
# buffer: a f32 64
# cuda: a
# numba: a
# shows: divergent
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a):
    t = cuda.threadIdx.x
    for i in range(t % 2 + 1):
        a[t] += 1
        cuda.syncthreads()
    cuda.syncthreads()
