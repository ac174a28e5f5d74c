# case: {"method": "watchpoint", "verdict": "confirmed", "at": "counts[0] += 1;", "flag": "counts[0]", "function": "count", "launch": ["count((4,), (64,), (counts,))", [4], [64]], "accesses": [["read", 0, 1, [0], [0]], ["write", 0, 1, [0], [1]]]}
# case: {"method": "watchpoint", "verdict": "not-observed", "at": "atomicAdd(&counts[0], 1);", "flag": "counts[0]", "function": "right", "launch": ["right((4,), (64,), (counts,))", [4], [64]], "accesses": [["write", 0, 1, [0], [0]], ["write", 0, 1, [0], [1]]]}
# case: {"method": "watchpoint", "verdict": "confirmed", "at": "sums[k] = k * t;", "flag": "sums[k]", "function": "running", "launch": ["running((1,), (32,), (to,))", [1], [32]], "accesses": [["write", 4, 4, [0], [0]]]}
import cupy as cp

module = cp.RawModule(code=r'''
extern "C" __global__ void count(int* counts) {
    counts[0] += 1;
}

extern "C" __global__ void right(int* counts) {
    atomicAdd(&counts[0], 1);
}

extern "C" __global__ void running(int* to) {
    int sums[4];
    int t = threadIdx.x;
    for (int k = 0; k < 5; ++k)
        sums[k] = k * t;
    to[t] = sums[t % 4];
}
''')
count, right, running = (module.get_function(name) for name in ("count", "right", "running"))
counts, to = cp.zeros(1, dtype=cp.int32), cp.zeros(32, dtype=cp.int32)
count((4,), (64,), (counts,))
right((4,), (64,), (counts,))
running((1,), (32,), (to,))
print(counts, to)
