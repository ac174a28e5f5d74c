# launch: grid=4 block=64
# buffer: a f32 250
# buffer: b f32 250
# cuda: a b 250
# numba: a b 250
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b, n):
    i = cuda.grid(1)
    if i < n:
        b[i] = a[i]
