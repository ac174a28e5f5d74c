# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "captured", "name": "GAIN"}}, "at": "GAIN = 3.0"}
# case: {"method": "output", "verdict": "not-observed", "shows": {"kind": "memory", "difference": {"kind": "captured", "name": "SHIFT"}}, "at": "SHIFT = 1.0  # before"}
import numpy as np
from numba import cuda

GAIN = 2.0
SHIFT = 0.0


@cuda.jit
def scale(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] *= GAIN


@cuda.jit
def shift(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += SHIFT


def host(a):
    global GAIN, SHIFT
    SHIFT = 1.0  # before
    shift[4, 128](a)
    scale[4, 128](a)
    GAIN = 3.0
    scale[4, 128](a)
    return a


print(host(np.ones(500))[0])
