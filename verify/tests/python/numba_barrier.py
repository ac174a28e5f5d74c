# case: {"method": "synccheck", "verdict": "confirmed", "at": "        cuda.syncthreads()  # some", "flag": "cuda.syncthreads()", "function": "half", "launch": ["half[1, 64](out)", [1], [64]]}
import numpy as np
from numba import cuda, int32


@cuda.jit
def half(out):
    s = cuda.shared.array(64, dtype=int32)
    t = cuda.threadIdx.x
    s[t] = 1
    if t < 16:
        cuda.syncthreads()  # some
    s[t] += 1
    cuda.syncthreads()
    out[t] = s[63 - t]


out = np.zeros(64, dtype=np.int32)
half[1, 64](out)
