# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 768, "elements": 1000}}, "at": "twice((3,), (256,), (x, y, cp.int32(1000)))", "launch": ["twice((3,), (256,), (x, y, cp.int32(1000)))", [3], [256]]}
# case: {"method": "output", "verdict": "not-observed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 1024, "elements": 1000}}, "at": "twice((4,), (256,), (x, y, cp.int32(1000)))", "launch": ["twice((4,), (256,), (x, y, cp.int32(1000)))", [4], [256]]}
# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 768, "elements": 1000}}, "at": "halved[3, 256](x, y, 1000)", "launch": ["halved[3, 256](x, y, 1000)", [3], [256]]}
# case: {"method": "api-error", "verdict": "not-observed", "shows": {"kind": "refused-launch", "of": "blocks"}, "at": "twice((0,), (256,), (x, y, cp.int32(1000)))", "launch": ["twice((0,), (256,), (x, y, cp.int32(1000)))", [0], [256]]}
import cupy as cp
from cupyx import jit

twice = cp.RawKernel(r'''extern "C" __global__ void twice(const float* x, float* y, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }''', 'twice')


@jit.rawkernel()
def halved(x, y, n):
    i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
    if i < n:
        y[i] = x[i] / 2


x, y = cp.ones(1000, dtype=cp.float32), cp.zeros(1000, dtype=cp.float32)
twice((3,), (256,), (x, y, cp.int32(1000)))
y[...] = 0
twice((4,), (256,), (x, y, cp.int32(1000)))
y[...] = 0
halved[3, 256](x, y, 1000)
twice((0,), (256,), (x, y, cp.int32(1000)))
