"""Adds arrays with Numba; one launch forgets the block, another divides with `/`."""
import numpy as np
from numba import cuda


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def main():
    n = 1000
    x = cuda.to_device(np.arange(n, dtype=np.float32))
    y = cuda.to_device(np.ones(n, dtype=np.float32))
    out = cuda.device_array(n, dtype=np.float32)
    add[(n + 127) // 128,](x, y, out)  #~ malformed-launch-call
    add[n / 128, 128](x, y, out)  #~ malformed-launch-call
    add[(n + 127) // 128, 128](x, y, out)
    print(out.copy_to_host()[:3])


if __name__ == "__main__":
    main()
