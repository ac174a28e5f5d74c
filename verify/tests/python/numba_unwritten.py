# case: {"method": "watchpoint", "verdict": "confirmed", "at": "to[t] = part[t]", "flag": "part[t]", "function": "total", "launch": ["total[2, 128](values, to)", [2], [128]], "accesses": [["read", 64, 128, [1], [64]]]}
# case: {"method": "watchpoint", "verdict": "not-observed", "at": "to[t] = full[t]", "flag": "full[t]", "function": "whole", "launch": ["whole[2, 128](values, to)", [2], [128]], "accesses": [["read", 64, 128, [1], [64]]]}
# case: {"method": "watchpoint", "verdict": "unviable", "at": "to[t] = lent[t]", "flag": "lent[t]", "function": "handed", "launch": ["handed[2, 128](values, to)", [2], [128]], "accesses": [["read", 64, 128, [1], [64]]]}
import numpy as np
from numba import cuda


@cuda.jit
def total(values, to):
    part = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    if t < 64:
        part[t] = values[t]
    cuda.syncthreads()
    to[t] = part[t]


@cuda.jit
def whole(values, to):
    full = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    full[127 - t] = values[t]
    cuda.syncthreads()
    to[t] = full[t]


@cuda.jit(device=True)
def fill(array, t):
    array[t] = 0


@cuda.jit
def handed(values, to):
    lent = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    fill(lent, t)
    cuda.syncthreads()
    to[t] = lent[t]


values = cuda.to_device(np.ones(128, np.float32))
to = cuda.device_array(128, np.float32)
total[2, 128](values, to)
whole[2, 128](values, to)
handed[2, 128](values, to)
print(to.copy_to_host()[:4])
