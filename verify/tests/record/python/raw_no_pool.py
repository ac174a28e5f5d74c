# record: memcheck initcheck racecheck
import cupy

cupy.cuda.set_allocator(None)
cupy.cuda.set_pinned_memory_allocator(None)
source = r"""
template <typename T>
__global__ void fill(T* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1.0f;
}
"""
module = cupy.RawModule(code=source, options=("-lineinfo",), name_expressions=["fill<float>"])
fill = module.get_function("fill<float>")
out = cupy.zeros(1000, dtype=cupy.float32)
fill((4,), (256,), (out, cupy.int32(1000)))
cupy.cuda.runtime.deviceSynchronize()
print("end")
