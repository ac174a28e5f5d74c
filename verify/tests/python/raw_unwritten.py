# case: {"method": "watchpoint", "verdict": "confirmed", "at": "to[t] = part[t];", "flag": "part[t]", "function": "total", "launch": ["total((2,), (128,), (values, to))", [2], [128]], "accesses": [["read", 64, 128, [1], [64]]]}
# case: {"method": "watchpoint", "verdict": "not-observed", "at": "to[t] = full[t];", "flag": "full[t]", "function": "whole", "launch": ["whole((2,), (128,), (values, to))", [2], [128]], "accesses": [["read", 64, 128, [1], [64]]]}
import cupy as cp

total = cp.RawKernel(r'''
extern "C" __global__ void total(const float *values, float *to) {
    __shared__ float part[128];
    int t = threadIdx.x;
    if (t < 64) part[t] = values[t];
    __syncthreads();
    to[t] = part[t];
}
''', 'total')
whole = cp.RawKernel(r'''
extern "C" __global__ void whole(const float *values, float *to) {
    __shared__ float full[128];
    int t = threadIdx.x;
    full[127 - t] = values[t];
    __syncthreads();
    to[t] = full[t];
}
''', 'whole')
values, to = cp.ones(128, dtype=cp.float32), cp.zeros(128, dtype=cp.float32)
total((2,), (128,), (values, to))
whole((2,), (128,), (values, to))
print(to[:4])
