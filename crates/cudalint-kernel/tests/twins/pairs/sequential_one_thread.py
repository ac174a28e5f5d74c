# launch: grid=1 block=32
# buffer: a i32 32
# cuda: a 32
# numba: a 32
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, n):
    if cuda.threadIdx.x == 0:
        for i in range(n - 1, 0, -1):
            a[i] = a[i - 1]
