# case: {"method": "memcheck", "verdict": "confirmed", "space": "shared", "at": "s[cuda.grid(1)] = x[0]", "function": "stage", "launch": ["def stage", [1], [128]], "accesses": [["write", 100, 100, [0], [100]]]}
import math

from numba import cuda, float32

SIZE = 100


@cuda.jit(device=True)
def half(v):
    return math.sqrt(v) / 2


@cuda.jit
def stage(x, out):
    s = cuda.shared.array(SIZE, dtype=float32)
    s[cuda.grid(1)] = x[0]
    cuda.syncthreads()
    out[0] = half(s[0])
