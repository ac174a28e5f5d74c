# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "argument", "parameter": "x"}}, "at": "axpy((4,), (256,), (x, y, 0.5, cp.int32(1000)))", "flag": "0.5"}
# case: {"method": "output", "verdict": "not-observed", "shows": {"kind": "memory", "difference": {"kind": "argument", "parameter": "x"}}, "at": "axpy((4,), (256,), (x, y, cp.float32(0.5), 1000))", "flag": "1000)"}
# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "argument", "parameter": "x"}}, "at": "axpy((4,), (256,), (whole, y, cp.float32(1), cp.int32(1000)))", "flag": "whole"}
# case: {"method": "output", "verdict": "confirmed", "shows": {"kind": "memory", "difference": {"kind": "argument", "parameter": "m"}}, "at": "rowsum((1,), (128,), (m.T, sums, cp.int32(30), cp.int32(20)))", "flag": "m.T"}
# case: {"method": "output", "verdict": "not-observed", "shows": {"kind": "memory", "difference": {"kind": "argument", "parameter": "m"}}, "at": "rowsum((1,), (128,), (m, sums, cp.int32(20), cp.int32(30)))", "flag": "m,"}
# case: {"method": "api-error", "verdict": "confirmed", "shows": {"kind": "refused-launch", "of": "threads"}, "at": "axpy((1,), (2048,), (x, y, cp.float32(1), cp.int32(1000)))"}
import cupy as cp

axpy = cp.RawKernel(r'''extern "C" __global__ void axpy(const float* x, float* y, float a, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }''', 'axpy')
rowsum = cp.RawKernel(r'''extern "C" __global__ void rowsum(const double* a, double* out, int rows, int cols)
{ int r = blockIdx.x * blockDim.x + threadIdx.x; if (r < rows) { double t = 0; for (int c = 0; c < cols; ++c) t += a[r * cols + c]; out[r] = t; } }''', 'rowsum')
x, y = cp.arange(1000, dtype=cp.float32), cp.ones(1000, dtype=cp.float32)
whole = cp.arange(1000)
m, sums = cp.arange(600.0).reshape(20, 30), cp.zeros(30)
axpy((4,), (256,), (x, y, 0.5, cp.int32(1000)))
axpy((4,), (256,), (x, y, cp.float32(0.5), 1000))
axpy((4,), (256,), (whole, y, cp.float32(1), cp.int32(1000)))
rowsum((1,), (128,), (m.T, sums, cp.int32(30), cp.int32(20)))
rowsum((1,), (128,), (m, sums, cp.int32(20), cp.int32(30)))
axpy((1,), (2048,), (x, y, cp.float32(1), cp.int32(1000)))
