# launch: grid=1 block=96
# buffer: out i32 1
# cuda: out
# numba: out
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(out):
    n = cuda.syncthreads_count(int32(cuda.threadIdx.x % 3 == 0))
    if cuda.threadIdx.x == 0:
        out[0] = n
