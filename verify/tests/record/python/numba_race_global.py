# record: racecheck
import numpy as np
from numba import cuda


@cuda.jit
def accumulate(out):
    out[0] += 1


out = np.zeros(1, dtype=np.int32)
accumulate[4, 256](out)
print(out[0])
