# launch: grid=1 block=64
# buffer: a f32 64
# buffer: b f32 64
# cuda: a b 64
# numba: a b 64
# differs: Numba counts a negative index from the end, C++ reads before the buffer.
# cuda-shows: outside
# numba-shows: negative
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b, n):
    i = cuda.grid(1)
    if i < n:
        b[i] = a[i] - a[i - 1]
