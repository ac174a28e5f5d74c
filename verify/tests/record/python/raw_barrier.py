# record: synccheck
import cupy

source = r"""
extern "C" __global__ void half_of(float* out) {
    if (threadIdx.x < 16)
        __syncthreads();
    out[threadIdx.x] = 1.0f;
    __syncthreads();
}
"""
half_of = cupy.RawKernel(source, "half_of")
half_of((1,), (64,), (cupy.zeros(64, dtype=cupy.float32),))
cupy.cuda.runtime.deviceSynchronize()
print("end")
