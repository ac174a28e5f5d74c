# launch: grid=4 block=64
# buffer: a f32 250
# buffer: b f32 250
# cuda: a b
# numba: a b
# shows: outside
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b):
    i = cuda.grid(1)
    b[i] = a[i]
