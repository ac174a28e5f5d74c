# launch: grid=2 block=1
# buffer: lock i32 1 zeros
# buffer: total f32 1 zeros
# cuda: lock total
# numba: lock total
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(lock, total):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    total[0] += float32(1.0)
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)
