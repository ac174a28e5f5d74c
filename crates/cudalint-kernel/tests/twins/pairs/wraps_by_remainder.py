# launch: grid=1 block=64
# buffer: a f32 64
# buffer: b f32 64
# cuda: a b 64
# numba: a b 64
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b, n):
    i = cuda.grid(1)
    if i < n:
        b[i] = a[(i - 1) % n] + a[(i + 1) % n]
