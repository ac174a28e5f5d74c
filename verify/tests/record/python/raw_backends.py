# record: memcheck
# A raw kernel without line information, an elementwise kernel, a failing launch.
import cupy

cupy.cuda.set_allocator(None)
plain = cupy.RawKernel(
    r"""
extern "C" __global__ void plain(float* out) {
    out[threadIdx.x + 100] = 1.0f;
}
""",
    "plain",
)
raw = cupy.ElementwiseKernel("raw T x", "T y", "y = x[i + 1000]", "far_gather")
out = cupy.zeros(32, dtype=cupy.float32)
for launch in (
    lambda: plain((1,), (2048,), (out,)),
    lambda: raw(out, size=32),
    lambda: plain((1,), (32,), (out,)),
):
    try:
        launch()
        cupy.cuda.runtime.deviceSynchronize()
    except Exception as error:
        print(type(error).__name__, error)
