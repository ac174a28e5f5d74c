# case: {"method": "api-error", "verdict": "confirmed", "shows": {"kind": "refused-launch", "of": "shared-memory"}, "at": "def fill(to):", "flag": "fill", "function": "fill"}
import numpy as np
from numba import cuda


@cuda.jit
def fill(to):
    tile = cuda.shared.array((128, 512), np.float32)
    t = cuda.threadIdx.x
    tile[t, 0] = t
    cuda.syncthreads()
    to[t] = tile[127 - t, 0]


to = cuda.device_array(128, np.float32)
fill[1, 128](to)
print(to.copy_to_host())
