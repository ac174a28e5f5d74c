# case: {"method": "watchpoint", "verdict": "confirmed", "at": "sums[k] = k * cuda.threadIdx.x", "flag": "sums[k]", "function": "running", "launch": ["running[1, 32](to)", [1], [32]], "accesses": [["write", 4, 4, [0], [0]]]}
# case: {"method": "watchpoint", "verdict": "refuted", "at": "totals[k] = k + cuda.threadIdx.x", "flag": "totals[k]", "function": "within", "launch": ["within[1, 32](to)", [1], [32]], "accesses": [["write", 4, 4, [0], [0]]]}
import numpy as np
from numba import cuda


@cuda.jit
def running(to):
    sums = cuda.local.array(4, np.int32)
    for k in range(5):
        sums[k] = k * cuda.threadIdx.x
    to[cuda.threadIdx.x] = sums[cuda.threadIdx.x % 4]


@cuda.jit
def within(to):
    totals = cuda.local.array(4, np.int32)
    for k in range(4):
        totals[k] = k + cuda.threadIdx.x
    to[cuda.threadIdx.x] = totals[cuda.threadIdx.x % 4]


to = cuda.device_array(32, np.int32)
running[1, 32](to)
within[1, 32](to)
print(to.copy_to_host())
