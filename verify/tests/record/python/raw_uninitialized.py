# record: initcheck
import cupy

source = r"""
extern "C" __global__ void add(const float* in, float* out) {
    int t = threadIdx.x;
    out[t] = in[t] + 1.0f;
}
"""
add = cupy.RawModule(code=source).get_function("add")
out = cupy.zeros(64, dtype=cupy.float32)
add((1,), (64,), (cupy.empty(64, dtype=cupy.float32), out))
cupy.cuda.runtime.deviceSynchronize()
print("end")
