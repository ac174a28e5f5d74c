# record: racecheck
import cupy
from cupyx import jit


@jit.rawkernel()
def turn(out):
    s = jit.shared_memory(cupy.int32, 64)
    t = jit.threadIdx.x
    s[t] = t
    out[t] = s[63 - t]


out = cupy.zeros(64, dtype=cupy.int32)
turn[1, 64](out)
cupy.cuda.runtime.deviceSynchronize()
print("end")
