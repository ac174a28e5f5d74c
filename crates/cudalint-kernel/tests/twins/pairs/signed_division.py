# launch: grid=1 block=16
# buffer: a i32 8
# cuda: a 8
# numba: a 8
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, n):
    t = cuda.threadIdx.x
    half = (t - 8) // 2
    a[half + 4] = t
