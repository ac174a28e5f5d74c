# record: memcheck
import cupy

source = r"""
extern "C" __global__ void fill(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1.0f;
}
"""
fill = cupy.RawKernel(source, "fill")
out = cupy.zeros(1000, dtype=cupy.float32)
fill((4,), (256,), (out, cupy.int32(1000)))
cupy.cuda.runtime.deviceSynchronize()
print("end")
