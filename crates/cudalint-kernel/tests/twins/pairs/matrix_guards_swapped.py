# launch: grid=3,2 block=16,16
# buffer: a f32 20 40
# buffer: b f32 20 40
# cuda: a b 20 40
# numba: a b 20 40
# shows: outside race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b, rows, cols):
    x, y = cuda.grid(2)
    if x < rows and y < cols:
        b[y, x] = a[y, x] + 1.0
    if y < rows:
        b[y, 0] = a[0, x]
