# launch: grid=2,2 block=16,16
# buffer: a f32 32 32
# buffer: b f32 32 32
# cuda: a b 32
# numba: a b
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, b):
    tile = cuda.shared.array(shape=(16, 16), dtype=float32)
    x = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    y = cuda.blockIdx.y * 16 + cuda.threadIdx.y
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    b[cuda.blockIdx.x * 16 + cuda.threadIdx.y, cuda.blockIdx.y * 16 + cuda.threadIdx.x] = \
        tile[cuda.threadIdx.x, cuda.threadIdx.y]
