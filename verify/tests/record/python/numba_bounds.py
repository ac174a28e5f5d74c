# record: memcheck racecheck synccheck
import numpy as np
from numba import cuda


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 2.0


x = np.ones(1000, dtype=np.float32)
d = cuda.to_device(x)
o = cuda.device_array(1000, dtype=np.float32)
scale[4, 256](d, o)
cuda.synchronize()
print("end")
