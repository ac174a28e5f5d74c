# case: {"method": "watchpoint", "verdict": "confirmed", "at": "out[0] += 1", "flag": "out[0]", "function": "count", "launch": ["count[4, 64](out)", [4], [64]], "accesses": [["read", 0, 1, [0], [0]], ["write", 0, 1, [0], [1]]]}
# case: {"method": "watchpoint", "verdict": "not-observed", "at": "cuda.atomic.add(out, 0, 1)", "function": "right", "launch": ["right[4, 64](out)", [4], [64]], "accesses": [["write", 0, 1, [0], [0]], ["write", 0, 1, [0], [1]]]}
# case: {"method": "watchpoint", "verdict": "not-observed", "at": "out[t] = s[63 - t]", "flag": "s[63 - t]", "function": "turn", "launch": ["turn[1, 64](many)", [1], [64]], "accesses": [["read", 63, 64, [0], [0]], ["write", 63, 64, [0], [63], "s[t] = t"]]}
# case: {"method": "watchpoint", "verdict": "confirmed", "at": "out[t] = w[63 - t]", "flag": "w[63 - t]", "function": "wrong", "launch": ["wrong[1, 64](many)", [1], [64]], "accesses": [["read", 63, 64, [0], [0]], ["write", 63, 64, [0], [63], "w[t] = t"]]}
import numpy as np
from numba import cuda, int32


@cuda.jit
def count(out):
    out[0] += 1


@cuda.jit
def right(out):
    cuda.atomic.add(out, 0, 1)


@cuda.jit
def turn(out):
    s = cuda.shared.array(64, dtype=int32)
    t = cuda.threadIdx.x
    s[t] = t
    cuda.syncthreads()
    out[t] = s[63 - t]


@cuda.jit
def wrong(out):
    w = cuda.shared.array(64, dtype=int32)
    t = cuda.threadIdx.x
    w[t] = t
    out[t] = w[63 - t]


out = np.zeros(1, dtype=np.int32)
count[4, 64](out)
right[4, 64](out)
many = np.zeros(64, dtype=np.int32)
turn[1, 64](many)
wrong[1, 64](many)
