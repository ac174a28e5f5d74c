# launch: grid=2 block=64
# buffer: h i32 16 zeros
# cuda: h 128
# numba: h 128
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(h, n):
    i = cuda.grid(1)
    if i < n:
        h[i % 16] += 1
