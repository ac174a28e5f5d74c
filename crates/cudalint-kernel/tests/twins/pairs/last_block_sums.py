# launch: grid=4 block=32
# buffer: a f32 128
# buffer: parts f32 4
# buffer: count i32 1 zeros
# buffer: out f32 1
# cuda: a parts count out
# numba: a parts count out
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit
def k(a, parts, count, out):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        parts[cuda.blockIdx.x] = a[cuda.blockIdx.x * cuda.blockDim.x]
        cuda.threadfence()
        before = cuda.atomic.add(count, 0, 1)
        last[0] = before == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] == 1 and t == 0:
        v = float32(0)
        for i in range(cuda.gridDim.x):
            v += parts[i]
        out[0] = v
