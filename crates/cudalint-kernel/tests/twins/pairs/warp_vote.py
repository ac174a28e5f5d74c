# launch: grid=1 block=32
# buffer: a i32 32
# cuda: a
# numba: a
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a):
    t = cuda.threadIdx.x
    m = cuda.ballot_sync(0xffffffff, t < 7)
    if cuda.any_sync(0xffffffff, t > 3):
        a[t] = cuda.popc(m)
