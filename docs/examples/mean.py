import numpy as np
from numba import cuda

@cuda.jit
def smooth(values, out):
    tile = cuda.shared.array(128, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = values[i]
    if 0 < t < 127:
        out[i] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3

values = cuda.to_device(np.ones(128 * 64, np.float32))
out = cuda.device_array_like(values)
smooth[64, 128](values, out)
