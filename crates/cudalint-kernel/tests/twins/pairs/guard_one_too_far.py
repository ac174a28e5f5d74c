# launch: grid=4 block=64
# buffer: a f32 200
# cuda: a 200
# numba: a
# shows: outside
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i <= a.shape[0]:
        a[i] *= 2.0
