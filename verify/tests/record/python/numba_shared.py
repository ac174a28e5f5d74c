# record: memcheck
import numpy as np
from numba import cuda, float32


@cuda.jit
def stage(out):
    s = cuda.shared.array(100, dtype=float32)
    i = cuda.grid(1)
    s[i] = 1.0
    cuda.syncthreads()
    out[i] = s[i]


out = np.zeros(1000, dtype=np.float32)
stage[1, 1000](out)
print(out[0])
