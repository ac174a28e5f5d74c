# launch: grid=2 block=64
# buffer: a f32 500
# buffer: b f32 500
# cuda: a b 500
# numba: a b
# shows: outside
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b):
    for i in range(cuda.grid(1), len(a), cuda.gridsize(1)):
        b[i] = a[i + 2]
