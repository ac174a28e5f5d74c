# case: {"method": "initcheck", "verdict": "confirmed", "at": "out[i] = x[i] + 1.0", "flag": "x[i]", "function": "add", "launch": ["add[1, 256](x, out)", [1], [256]], "accesses": [["read", 0, 256, [0], [0]]]}
import numpy as np
from numba import cuda


@cuda.jit
def add(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + 1.0


x = cuda.device_array(256, dtype=np.float32)
out = cuda.device_array(256, dtype=np.float32)
add[1, 256](x, out)
print(out.copy_to_host()[0])
