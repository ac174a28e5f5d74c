# record: memcheck
import numpy as np
from numba import cuda


@cuda.jit
def fill(out):
    out[cuda.grid(1)] = 1


out = np.zeros(2048, dtype=np.int32)
fill[1, 2048](out)
print(out[0])
