"""Sums of rows with a kernel in a string, and a smoothing kernel in Python; both let threads run too far."""
import cupy as cp
import numpy as np
from numba import cuda

row_sums = cp.RawKernel(
    r"""
extern "C" __global__ void row_sums(const float *matrix, float *sums, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int column = 0; column < columns; ++column) sum += matrix[row * columns + column];  //~ missing-bounds-guard
    sums[row] = sum;
}
""",
    "row_sums",
)


@cuda.jit
def smooth(values, out):
    tile = cuda.shared.array(128, np.float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < values.size:
        tile[t] = values[i]
    if 0 < t < 127 and i < values.size - 1:
        out[i] = (tile[t - 1] + tile[t] + tile[t + 1]) / 3  #~ shared-memory-race


def main():
    matrix = cp.ones((1000, 64), dtype=cp.float32)
    sums = cp.zeros(1000, dtype=cp.float32)
    row_sums((8,), (128,), (matrix, sums, cp.int32(64)))

    values = cuda.to_device(np.ones(1000, dtype=np.float32))
    out = cuda.device_array_like(values)
    smooth[8, 128](values, out)
    print(sums.sum(), out.copy_to_host()[1:-1].mean())


if __name__ == "__main__":
    main()
