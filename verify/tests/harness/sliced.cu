#include "sliced.h"
#include <absent/matrix.h>
#include <vector>

using namespace absent;

namespace shapes {
#define SCALE 2
enum Kind { ROUND, FLAT };
struct Point { float x, y; };
__device__ Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
__device__ float unused(Point a) { return a.x; }
Matrix of_host(std::vector<Point> &all) { return Matrix(all.size() * SCALE); }
}

__constant__ float weights[WEIGHTS];
Matrix everything;

template <typename T>
__global__ void shift(T *out, const shapes::Point *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;
    shapes::Point sum = in[i] + in[0];
    out[i] = twice(sum.x) * weights[0] + shapes::FLAT;
}

void run(float *out, shapes::Point *in, int n) {
    everything.resize(n);
    shift<<<1, 128>>>(out, in, n);
}
