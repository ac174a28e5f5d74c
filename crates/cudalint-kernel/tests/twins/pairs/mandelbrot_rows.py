# launch: grid=1 block=32
# buffer: out i32 32 16
# cuda: out 32 16 20
# numba: out 20
# shows: nothing
from numba import cuda, float32, float64, int32, int64, uint32
import numpy as np
import math

@cuda.jit(device=True)
def steps(x, y, most):
    re = x
    im = y
    for i in range(most):
        if re * re + im * im >= 4:
            return i
        re, im = re * re - im * im + x, 2 * re * im + y
    return most

@cuda.jit
def k(out, most):
    y = cuda.grid(1)
    if y < out.shape[0]:
        for x in range(out.shape[1]):
            out[y, x] = steps(x * 0.1 - 1, y * 0.1 - 1, most)
