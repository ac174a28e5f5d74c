# launch: grid=2,2 block=16,16
# buffer: a f32 32 32
# buffer: b f32 32 32
# cuda: a b 32
# numba: a b
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

TILE = 16
PADDED = TILE + 1

@cuda.jit
def k(a, b):
    tile = cuda.shared.array((TILE, PADDED), float32)
    x = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[y, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.x * TILE + cuda.threadIdx.y
    b[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]
