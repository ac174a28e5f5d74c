# case: {"method": "racecheck", "verdict": "confirmed", "at": "s[t] += s[t + k]", "flag": "s[t + k]", "function": "reduce", "launch": ["reduce[1, 256]", [1], [256]], "accesses": [["read", 32, 256, [0], [0]], ["write", 32, 256, [0], [32]]]}
import numpy as np
from numba import cuda, int32


@cuda.jit
def reduce(x, out):
    s = cuda.shared.array(256, dtype=int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    k = 128
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        k //= 2
    if t == 0:
        out[0] = s[0]


x = np.ones(256, dtype=np.int32)
out = np.zeros(1, dtype=np.int32)
reduce[1, 256](x, out)
