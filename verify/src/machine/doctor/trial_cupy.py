"""Launches a kernel that CuPy compiles, and looks at what it wrote."""

import cupy

write = cupy.RawKernel(
    'extern "C" __global__ void write(int *cells) { cells[threadIdx.x] = threadIdx.x; }', "write"
)
cells = cupy.zeros(256, dtype=cupy.int32)
write((1,), (256,), (cells,))
assert (cells.get() == cupy.arange(256).get()).all(), "the kernel wrote something else"
print("cudalint works")
