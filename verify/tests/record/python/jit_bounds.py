# record: memcheck
import cupy
from cupyx import jit


@jit.rawkernel()
def ramp(out, n):
    i = jit.grid(1)
    if i < n + 100:
        out[i] = i


out = cupy.zeros(1000, dtype=cupy.int32)
ramp[5, 256](out, cupy.int32(1000))
cupy.cuda.runtime.deviceSynchronize()
print("end")
