# case: {"method": "memcheck", "verdict": "confirmed", "at": "out[i] = x[i] * 2.0", "flag": "x[i]", "function": "scale", "bindings": {"n": 1000, "x.shape[0]": 1000}, "launch": ["scale[(n + 255)", [4], [256]], "accesses": [["read", 1000, 1000, [3], [232]]]}
import numpy as np
from numba import cuda


@cuda.jit
def scale(x, out, n):
    i = cuda.grid(1)
    if i <= n:
        out[i] = x[i] * 2.0


def run(x, n):
    d = cuda.to_device(x)
    o = cuda.device_array(n + 1, dtype=np.float32)
    scale[(n + 255) // 256, 256](d, o, n)
    return o.copy_to_host()
