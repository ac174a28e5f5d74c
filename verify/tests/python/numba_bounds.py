# case: {"method": "memcheck", "verdict": "confirmed", "at": "out[i] = x[i] * 2.0", "flag": "x[i]", "function": "scale", "launch": ["scale[4, 256](d, o)", [4], [256]], "accesses": [["read", 1000, 1000, [3], [232]]]}
# case: {"method": "memcheck", "verdict": "unviable", "at": "i = cuda.grid(1)", "flag": "i", "function": "scale"}
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
