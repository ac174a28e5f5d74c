# launch: grid=2 block=64
# buffer: a i32 4
# cuda: a 5
# numba: a 5
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, v):
    a[0] = v
    if cuda.threadIdx.x > 3:
        a[1] = cuda.threadIdx.x
