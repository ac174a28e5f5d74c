# launch: grid=2,1,2 block=4,4,4
# buffer: a f64 8 4 7
# cuda: a 8 4 7
# numba: a
# shows: outside race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a):
    x, y, z = cuda.grid(3)
    if x < a.shape[0] and y < a.shape[1]:
        a[x, y, z] += 1
