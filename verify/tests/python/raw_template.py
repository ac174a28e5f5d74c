# case: {"method": "memcheck", "verdict": "confirmed", "at": "out[i + OFFSET] = 2.0f;", "flag": "out[i + OFFSET]", "function": "shifted", "launch": ["shifted((1,), (64,)", [1], [64]], "accesses": [["write", 64, 64, [0], [0]]]}
import cupy as cp

WIDTH = 64
shifted = cp.RawKernel(f"""
#define OFFSET {WIDTH}
extern "C" __global__ void shifted(float *out) {{
    int i = threadIdx.x;
    out[i + OFFSET] = 2.0f;
}}
""", "shifted")
small = cp.zeros(64, dtype=cp.float32)
shifted((1,), (64,), (small,))
cp.cuda.runtime.deviceSynchronize()
