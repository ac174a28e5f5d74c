# case: {"method": "api-error", "verdict": "confirmed", "shows": {"kind": "refused-launch", "of": "threads"}, "at": "fill[1, 2048](out)", "launch": ["fill[1, 2048](out)", [1], [2048]]}
import numpy as np
from numba import cuda


@cuda.jit
def fill(out):
    out[cuda.grid(1)] = 1


out = np.zeros(2048, dtype=np.int32)
fill[1, 2048](out)
