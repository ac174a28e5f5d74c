# launch: grid=2 block=32
# buffer: a f32 66
# cuda: a 3
# numba: a 3
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, steps):
    i = cuda.grid(1) + 1
    for s in range(steps):
        v = float32(0.5) * (a[i - 1] + a[i + 1])
        cuda.syncthreads()
        a[i] = v
        cuda.syncthreads()
