# launch: grid=1 block=64
# buffer: a f32 64
# buffer: found i32 1
# cuda: a found 64
# numba: a found
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, found):
    t = cuda.threadIdx.x
    for i in range(t, a.shape[0], 8):
        if i > 40:
            found[0] = i
            break
