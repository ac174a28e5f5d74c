# launch: grid=1 block=64
# buffer: a f32 64
# cuda: a 16 8
# numba: a 16 8
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, size, stride):
    i = cuda.threadIdx.x
    other = i ^ stride
    if other > i:
        if i & size == 0:
            if a[i] > a[other]:
                v = a[i]
                a[i] = a[other]
                a[other] = v
        else:
            if a[i] < a[other]:
                v = a[i]
                a[i] = a[other]
                a[other] = v
