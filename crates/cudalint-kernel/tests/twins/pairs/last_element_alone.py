# launch: grid=1 block=64
# buffer: a f32 64
# buffer: b f32 64
# cuda: a b 64
# numba: a b
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b):
    i = cuda.threadIdx.x
    if i > 0 and i < a.shape[0]:
        a[i] = a[i - 1]
