# record: memcheck
import cupy

WIDTH = 64
source = f"""
#define OFFSET {WIDTH}
extern "C" __global__ void shifted(float* out) {{
    int i = threadIdx.x;
    out[i + OFFSET] = 2.0f;
}}
"""
shifted = cupy.RawKernel(source, "shifted")
out = cupy.zeros(64, dtype=cupy.float32)
shifted((1,), (64,), (out,))
cupy.cuda.runtime.deviceSynchronize()
print("end")
