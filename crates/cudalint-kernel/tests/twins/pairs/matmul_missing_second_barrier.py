# launch: grid=2,2 block=8,8
# buffer: A f32 16 16
# buffer: B f32 16 16
# buffer: C f32 16 16
# cuda: A B C 16
# numba: A B C
# shows: race
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

TPB = 8

@cuda.jit
def k(A, B, C):
    sA = cuda.shared.array((TPB, TPB), float32)
    sB = cuda.shared.array((TPB, TPB), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    acc = float32(0)
    for i in range(A.shape[1] // TPB):
        sA[ty, tx] = A[y, tx + i * TPB]
        sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            acc += sA[ty, j] * sB[j, tx]
    C[y, x] = acc
