# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 768, "elements": 1000}}, "needs": "pycuda", "at": "kernel(drv.In(x), drv.Out(y), np.int32(1000), block=(256, 1, 1), grid=(3, 1))"}
# case: {"method": "output", "verdict": "not-observed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 1024, "elements": 1000}}, "needs": "pycuda", "at": "kernel(drv.In(x), drv.Out(y), np.int32(1000), block=(256, 1, 1), grid=(4, 1))"}
# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "coverage", "threads": 768, "elements": 1000}}, "needs": "pycuda", "at": "prepared.prepared_call((3, 1), (256, 1, 1), a, b, 1000)"}
# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "argument", "parameter": "x"}}, "needs": "pycuda", "at": "kernel(drv.In(wide), drv.Out(y), np.int32(1000), block=(256, 1, 1), grid=(4, 1))", "flag": "drv.In(wide)"}
# case: {"method": "watchpoint", "verdict": "confirmed", "needs": "pycuda", "at": "y[0] += 1;", "flag": "y[0]", "function": "count", "accesses": [["read", 0, 1000, [0], [0]], ["write", 0, 1000, [0], [1]]]}
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule('''
__global__ void twice(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}

__global__ void count(float* y)
{
    y[0] += 1;
}
''')
kernel = module.get_function("twice")
prepared = module.get_function("twice")
prepared.prepare("PPi")
x, y, wide = np.ones(1000, np.float32), np.zeros(1000, np.float32), np.arange(1000, dtype=np.float64)
a, b = drv.mem_alloc(x.nbytes), drv.mem_alloc(y.nbytes)
drv.memcpy_htod(a, x)
drv.memcpy_htod(b, y)
kernel(drv.In(x), drv.Out(y), np.int32(1000), block=(256, 1, 1), grid=(3, 1))
kernel(drv.In(x), drv.Out(y), np.int32(1000), block=(256, 1, 1), grid=(4, 1))
prepared.prepared_call((3, 1), (256, 1, 1), a, b, 1000)
kernel(drv.In(wide), drv.Out(y), np.int32(1000), block=(256, 1, 1), grid=(4, 1))
module.get_function("count")(drv.InOut(y), block=(64, 1, 1))
