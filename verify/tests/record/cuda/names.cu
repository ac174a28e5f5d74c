// record: memcheck memcheck-demangle-simple memcheck-no-demangle memcheck-kernel
// Kernels in namespaces, templates, with structs and function objects; operators whose names XML must escape.
#include <cuda_runtime.h>
#include <cstdint>
namespace geometry {
struct Size { int width, height; };
struct Less {
    __device__ bool operator<(const Less& other) const { return at[0] < other.at[0]; }
    const int* at;
};
template <typename T, int Width, bool Round = false>
struct Plane { T* data; };
inline namespace v2 {
template <typename T, int Width>
__global__ void blur(Plane<T, Width> plane, Size size, const T* __restrict__ in) {
    plane.data[threadIdx.x] = in[size.width * 1000 + threadIdx.x];
}
}
namespace {
__global__ void hidden(int* p) {
    p[threadIdx.x] = 1;
}
}
void run_hidden(int* p) { hidden<<<1, 64>>>(p); }
}
template <typename F>
__global__ void apply(F f, int n) {
    if (int(threadIdx.x) < n) f(threadIdx.x);
}
__global__ void compare(geometry::Less a, geometry::Less b, bool* out) {
    out[0] = a < b;
}
struct Box {
    template <int N>
    static __device__ void put(int* p) {
        p[N + threadIdx.x] = N;
    }
};
template <int... Ns>
__global__ void many(int* p) {
    (Box::put<Ns>(p), ...);
}
__global__ void overloaded(int* p) { p[threadIdx.x + 100] = 1; }
__global__ void overloaded(unsigned long long* p, char) { p[threadIdx.x + 100] = 2; }
extern "C" __global__ void plain(int* p) { p[threadIdx.x + 100] = 3; }
int main() {
    int* p;
    float *f;
    cudaMalloc(&p, 32 * sizeof(int));
    cudaMalloc(&f, 32 * sizeof(float));
    cudaMemset(f, 0, 32 * sizeof(float));
    geometry::blur<float, 16><<<1, 32>>>(geometry::Plane<float, 16>{f}, geometry::Size{1, 2}, f);
    geometry::run_hidden(p);
    apply<<<1, 64>>>([p] __device__(int i) { p[i * 3] = i; }, 64);
    compare<<<1, 1>>>(geometry::Less{p + 5000}, geometry::Less{p}, reinterpret_cast<bool*>(f));
    many<1, 64><<<1, 32>>>(p);
    overloaded<<<1, 32>>>(p);
    overloaded<<<1, 32>>>(reinterpret_cast<unsigned long long*>(p), 'c');
    plain<<<1, 32>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
