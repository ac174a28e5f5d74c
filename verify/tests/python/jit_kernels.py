# case: {"method": "racecheck", "verdict": "confirmed", "at": "out[t] = s[63 - t]", "flag": "s[63 - t]", "function": "turn", "launch": ["turn[1, 64](out)", [1], [64]], "accesses": [["read", 63, 64, [0], [0]], ["write", 63, 64, [0], [63], "s[t] = t"]]}
# case: {"method": "watchpoint", "verdict": "confirmed", "at": "out[t] = s[63 - t]", "flag": "s[63 - t]", "function": "turn", "launch": ["turn[1, 64](out)", [1], [64]], "accesses": [["read", 63, 64, [0], [0]], ["write", 63, 64, [0], [63], "s[t] = t"]]}
# case: {"method": "memcheck", "verdict": "confirmed", "at": "out[i] = i", "flag": "out[i]", "function": "ramp", "launch": ["ramp[4, 256](small", [4], [256]], "accesses": [["write", 1000, 1000, [3], [232]]]}
import cupy as cp
from cupyx import jit


@jit.rawkernel()
def turn(out):
    s = jit.shared_memory(cp.int32, 64)
    t = jit.threadIdx.x
    s[t] = t
    out[t] = s[63 - t]


@jit.rawkernel()
def ramp(out, n):
    i = jit.grid(1)
    if i < n + 100:
        out[i] = i


out = cp.zeros(64, dtype=cp.int32)
turn[1, 64](out)
small = cp.zeros(1000, dtype=cp.int32)
ramp[4, 256](small, cp.int32(1000))
cp.cuda.runtime.deviceSynchronize()
