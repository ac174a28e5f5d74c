# case: {"method": "memcheck", "verdict": "confirmed", "at": "out[i] = 1.0f;  // all", "flag": "out[i]", "function": "fill", "launch": ["fill((4,), (256,)", [4], [256]], "accesses": [["write", 1000, 1000, [3], [232]]]}
# case: {"method": "racecheck", "verdict": "confirmed", "at": "out[t] = s[63 - t];", "flag": "s[63 - t]", "function": "turn", "launch": ["turn((1,), (64,)", [1], [64]], "accesses": [["read", 63, 64, [0], [0]], ["write", 63, 64, [0], [63], "s[t] = t;"]]}
# case: {"method": "initcheck", "verdict": "confirmed", "at": "out[t] = in[t] + 1.0f;", "flag": "in[t]", "function": "add", "launch": ["add((1,), (64,)", [1], [64]], "accesses": [["read", 0, 64, [0], [0]]]}
# case: {"method": "synccheck", "verdict": "confirmed", "at": "if (threadIdx.x < 16) __syncthreads();", "flag": "__syncthreads()", "function": "half_of", "launch": ["half_of((1,), (64,)", [1], [64]]}
# case: {"method": "watchpoint", "verdict": "confirmed", "at": "n[0] += 1;", "flag": "n[0]", "function": "count", "launch": ["count((2,), (64,)", [2], [64]], "accesses": [["read", 0, 1, [0], [0]], ["write", 0, 1, [0], [1]]]}
import cupy as cp

fill = cp.RawKernel(r'''
extern "C" __global__ void fill(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1.0f;  // all
}
''', "fill")

module = cp.RawModule(code="""
extern "C" __global__ void turn(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    out[t] = s[63 - t];
}
extern "C" __global__ void add(const float *in, float *out) {
    int t = threadIdx.x;
    out[t] = in[t] + 1.0f;
}
extern "C" __global__ void half_of(float *out) {
    if (threadIdx.x < 16) __syncthreads();
    out[threadIdx.x] = 1.0f;
    __syncthreads();
}
extern "C" __global__ void count(int *n) {
    n[0] += 1;
}
""")
turn, add = module.get_function("turn"), module.get_function("add")
half_of, count = module.get_function("half_of"), module.get_function("count")


def wait():
    cp.cuda.runtime.deviceSynchronize()


turn((1,), (64,), (cp.zeros(64, cp.int32),))
add((1,), (64,), (cp.empty(64, cp.float32), cp.zeros(64, cp.float32)))
half_of((1,), (64,), (cp.zeros(64, cp.float32),))
count((2,), (64,), (cp.zeros(1, cp.int32),))
wait()
out = cp.zeros(1000, dtype=cp.float32)
fill((4,), (256,), (out, cp.int32(1000)))
wait()
