"""Launches a kernel that PyCUDA compiles, and looks at what it wrote."""

import numpy
import pycuda.autoinit
import pycuda.driver
from pycuda.compiler import SourceModule

write = SourceModule("__global__ void write(int *cells) { cells[threadIdx.x] = threadIdx.x; }").get_function("write")
cells = numpy.zeros(256, dtype=numpy.int32)
write(pycuda.driver.InOut(cells), grid=(1, 1), block=(256, 1, 1))
assert (cells == numpy.arange(256)).all(), "the kernel wrote something else"
print("cudalint works")
