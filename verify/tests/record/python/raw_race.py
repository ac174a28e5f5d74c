# record: racecheck
import cupy

source = r"""
extern "C" __global__ void turn(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    out[t] = s[63 - t];
}
"""
turn = cupy.RawKernel(source, "turn")
out = cupy.zeros(64, dtype=cupy.int32)
turn((1,), (64,), (out,))
cupy.cuda.runtime.deviceSynchronize()
print("end")
