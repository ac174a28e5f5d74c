"""Launches a kernel that numba compiles, and looks at what it wrote."""

import numpy
from numba import cuda


@cuda.jit
def write(cells):
    i = cuda.grid(1)
    if i < cells.size:
        cells[i] = i


cells = cuda.device_array(256, dtype=numpy.int32)
write[1, 256](cells)
assert (cells.copy_to_host() == numpy.arange(256)).all(), "the kernel wrote something else"
print("cudalint works")
