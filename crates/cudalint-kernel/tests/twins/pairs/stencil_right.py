# launch: grid=2 block=64
# buffer: a f64 128
# buffer: b f64 128
# cuda: a b 128
# numba: a b 128
# shows: outside
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b, n):
    i = cuda.grid(1)
    if i < n:
        b[i] = 0.5 * (a[i] + a[i + 1])
