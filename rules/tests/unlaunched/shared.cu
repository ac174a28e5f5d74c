//// neighbour_without_barrier: shared-memory-race
__global__ void shift(int *out, const int *in) {
    __shared__ int tile[256];
    int t = threadIdx.x;
    tile[t] = in[t];
    out[t] = tile[(t + 1) % 256];
}

//// neighbour_behind_barrier: clean
__global__ void shift(int *out, const int *in) {
    __shared__ int tile[256];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[(t + 1) % 256];
}

//// reduction_without_barrier_in_loop: shared-memory-race
__global__ void total(const float *in, float *out, int n) {
    extern __shared__ float part[];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    part[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) part[tid] += part[tid + s];
    }
    if (tid == 0) out[blockIdx.x] = part[0];
}

//// reduction_with_barrier_in_loop: clean
__global__ void total(const float *in, float *out, int n) {
    extern __shared__ float part[];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    part[tid] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) part[tid] += part[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = part[0];
}

//// reduction_without_first_barrier: shared-memory-race
__global__ void total(const float *in, float *out, int n) {
    extern __shared__ float part[];
    unsigned tid = threadIdx.x;
    part[tid] = tid < n ? in[tid] : 0.0f;
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) part[tid] += part[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[0] = part[0];
}

//// interleaved_reduction: clean
__global__ void total(const int *in, int *out) {
    __shared__ int part[128];
    int tid = threadIdx.x;
    part[tid] = in[blockIdx.x * 128 + tid];
    __syncthreads();
    for (int s = 1; s < 128; s *= 2) {
        if (tid % (2 * s) == 0) part[tid] += part[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = part[0];
}

//// scan_in_place: shared-memory-race
__global__ void scan(int *data) {
    __shared__ int temp[512];
    int tid = threadIdx.x;
    temp[tid] = data[tid];
    __syncthreads();
    for (int d = 1; d < 512; d *= 2) {
        if (tid >= d) temp[tid] += temp[tid - d];
        __syncthreads();
    }
    data[tid] = temp[tid];
}

//// scan_in_place_with_register: clean
__global__ void scan(int *data) {
    __shared__ int temp[512];
    int tid = threadIdx.x;
    temp[tid] = data[tid];
    __syncthreads();
    for (int d = 1; d < 512; d *= 2) {
        int left = 0;
        if (tid >= d) left = temp[tid - d];
        __syncthreads();
        temp[tid] += left;
        __syncthreads();
    }
    data[tid] = temp[tid];
}

//// scan_double_buffer: clean
__global__ void scan(float *out, const float *in, int n) {
    extern __shared__ float temp[];
    int tid = threadIdx.x;
    int pout = 0, pin = 1;
    temp[pout * n + tid] = tid > 0 ? in[tid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (tid >= offset) temp[pout * n + tid] = temp[pin * n + tid] + temp[pin * n + tid - offset];
        else temp[pout * n + tid] = temp[pin * n + tid];
        __syncthreads();
    }
    out[tid] = temp[pout * n + tid];
}

//// transpose_without_barrier: shared-memory-race
#define TILE 16
__global__ void transpose(float *out, const float *in, int width, int height) {
    __shared__ float block[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) block[threadIdx.y][threadIdx.x] = in[y * width + x];
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = block[threadIdx.x][threadIdx.y];
}

//// transpose_with_barrier: clean
#define TILE 16
__global__ void transpose(float *out, const float *in, int width, int height) {
    __shared__ float block[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) block[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = block[threadIdx.x][threadIdx.y];
}

//// matmul_without_second_barrier: shared-memory-race-across-iterations
#define T 16
__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float sa[T][T], sb[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int m = 0; m < n / T; m++) {
        sa[threadIdx.y][threadIdx.x] = a[row * n + m * T + threadIdx.x];
        sb[threadIdx.y][threadIdx.x] = b[(m * T + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++) sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
    }
    c[row * n + col] = sum;
}

//// matmul_without_first_barrier: shared-memory-race implicit-warp-sync
#define T 16
__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float sa[T][T], sb[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int m = 0; m < n / T; m++) {
        sa[threadIdx.y][threadIdx.x] = a[row * n + m * T + threadIdx.x];
        sb[threadIdx.y][threadIdx.x] = b[(m * T + threadIdx.y) * n + col];
        for (int k = 0; k < T; k++) sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

//// matmul_with_both_barriers: clean
#define T 16
__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float sa[T][T], sb[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;
    for (int m = 0; m < n / T; m++) {
        sa[threadIdx.y][threadIdx.x] = a[row * n + m * T + threadIdx.x];
        sb[threadIdx.y][threadIdx.x] = b[(m * T + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++) sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

//// stencil_halo_without_barrier: shared-memory-race
#define R 3
#define B 128
__global__ void stencil(const int *in, int *out) {
    __shared__ int temp[B + 2 * R];
    int g = threadIdx.x + blockIdx.x * blockDim.x, l = threadIdx.x + R;
    temp[l] = in[g];
    if (threadIdx.x < R) {
        temp[l - R] = in[g - R];
        temp[l + B] = in[g + B];
    }
    int result = 0;
    for (int o = -R; o <= R; o++) result += temp[l + o];
    out[g] = result;
}

//// stencil_halo_with_barrier: clean
#define R 3
#define B 128
__global__ void stencil(const int *in, int *out) {
    __shared__ int temp[B + 2 * R];
    int g = threadIdx.x + blockIdx.x * blockDim.x, l = threadIdx.x + R;
    temp[l] = in[g];
    if (threadIdx.x < R) {
        temp[l - R] = in[g - R];
        temp[l + B] = in[g + B];
    }
    __syncthreads();
    int result = 0;
    for (int o = -R; o <= R; o++) result += temp[l + o];
    out[g] = result;
}

//// histogram_in_shared_not_atomic_of_unknown_data: clean
__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) local[data[i]]++;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

//// histogram_in_shared_atomic: clean
__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[data[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

//// histogram_without_barrier_before_merge: shared-memory-race
__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[data[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

//// broadcast_without_barrier: shared-memory-race
__global__ void scale(float *values, const float *factor, int n) {
    __shared__ float f;
    if (threadIdx.x == 0) f = factor[blockIdx.x];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= f;
}

//// broadcast_with_barrier: clean
__global__ void scale(float *values, const float *factor, int n) {
    __shared__ float f;
    if (threadIdx.x == 0) f = factor[blockIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= f;
}

//// broadcast_in_loop_without_second_barrier: shared-memory-race-across-iterations
__global__ void rows(float *values, const float *factor, int count, int width) {
    __shared__ float f;
    for (int row = 0; row < count; row++) {
        if (threadIdx.x == 0) f = factor[row];
        __syncthreads();
        values[row * width + threadIdx.x] *= f;
    }
}

//// broadcast_in_loop_with_second_barrier: clean
__global__ void rows(float *values, const float *factor, int count, int width) {
    __shared__ float f;
    for (int row = 0; row < count; row++) {
        if (threadIdx.x == 0) f = factor[row];
        __syncthreads();
        values[row * width + threadIdx.x] *= f;
        __syncthreads();
    }
}

//// all_write_one_shared: shared-memory-race
__global__ void pick(int *out) {
    __shared__ int chosen;
    chosen = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = chosen;
}

//// counter_not_atomic: non-atomic-read-modify-write
__global__ void count(const int *flags, int *out, int n) {
    __shared__ int counter;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i]) counter++;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = counter;
}

//// counter_atomic: clean
__global__ void count(const int *flags, int *out, int n) {
    __shared__ int counter;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i]) atomicAdd(&counter, 1);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = counter;
}

//// counter_read_too_early: shared-memory-race
__global__ void count(const int *flags, int *out, int n) {
    __shared__ int counter;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i]) atomicAdd(&counter, 1);
    if (threadIdx.x == 0) out[blockIdx.x] = counter;
}

//// odd_even_sort_one_barrier: shared-memory-race implicit-warp-sync
__global__ void sort(int *data, int n) {
    __shared__ int a[256];
    int t = threadIdx.x;
    a[t] = data[t];
    __syncthreads();
    for (int pass = 0; pass < n; pass++) {
        if ((t & 1) == 0 && t + 1 < 256 && a[t] > a[t + 1]) { int x = a[t]; a[t] = a[t + 1]; a[t + 1] = x; }
        if ((t & 1) == 1 && t + 1 < 256 && a[t] > a[t + 1]) { int x = a[t]; a[t] = a[t + 1]; a[t + 1] = x; }
        __syncthreads();
    }
    data[t] = a[t];
}

//// odd_even_sort_two_barriers: clean
__global__ void sort(int *data, int n) {
    __shared__ int a[256];
    int t = threadIdx.x;
    a[t] = data[t];
    __syncthreads();
    for (int pass = 0; pass < n; pass++) {
        if ((t & 1) == 0 && t + 1 < 256 && a[t] > a[t + 1]) { int x = a[t]; a[t] = a[t + 1]; a[t + 1] = x; }
        __syncthreads();
        if ((t & 1) == 1 && t + 1 < 256 && a[t] > a[t + 1]) { int x = a[t]; a[t] = a[t + 1]; a[t + 1] = x; }
        __syncthreads();
    }
    data[t] = a[t];
}

//// bitonic_sort: clean
#define N 256
__global__ void sort(int *values) {
    __shared__ int s[N];
    unsigned t = threadIdx.x;
    s[t] = values[t];
    __syncthreads();
    for (unsigned k = 2; k <= N; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned o = t ^ j;
            if (o > t) {
                if ((t & k) == 0) {
                    if (s[t] > s[o]) { int x = s[t]; s[t] = s[o]; s[o] = x; }
                } else if (s[t] < s[o]) { int x = s[t]; s[t] = s[o]; s[o] = x; }
            }
            __syncthreads();
        }
    values[t] = s[t];
}

//// bitonic_sort_without_barrier: shared-memory-race implicit-warp-sync
#define N 256
__global__ void sort(int *values) {
    __shared__ int s[N];
    unsigned t = threadIdx.x;
    s[t] = values[t];
    __syncthreads();
    for (unsigned k = 2; k <= N; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned o = t ^ j;
            if (o > t) {
                if ((t & k) == 0) {
                    if (s[t] > s[o]) { int x = s[t]; s[t] = s[o]; s[o] = x; }
                } else if (s[t] < s[o]) { int x = s[t]; s[t] = s[o]; s[o] = x; }
            }
        }
    __syncthreads();
    values[t] = s[t];
}

//// tile_of_parameter_width: shared-memory-race
__global__ void rows(const float *in, float *out, int width) {
    extern __shared__ float row[];
    for (int i = threadIdx.x; i < width; i += blockDim.x) row[i] = in[blockIdx.x * width + i];
    for (int i = threadIdx.x; i < width; i += blockDim.x) out[blockIdx.x * width + i] = row[width - 1 - i];
}

//// tile_of_parameter_width_with_barrier: clean
__global__ void rows(const float *in, float *out, int width) {
    extern __shared__ float row[];
    for (int i = threadIdx.x; i < width; i += blockDim.x) row[i] = in[blockIdx.x * width + i];
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += blockDim.x) out[blockIdx.x * width + i] = row[width - 1 - i];
}

//// last_element_of_guarded_tile: shared-memory-race
__global__ void last(const int *in, int *out, unsigned n) {
    __shared__ int s[64];
    if (threadIdx.x < n) s[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x == 0) out[0] = s[n - 1];
}

//// helper_function_with_missing_barrier: shared-memory-race
__device__ void load(float *to, const float *from, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
}
__device__ float all(const float *s, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += s[i];
    return sum;
}
__global__ void sums(const float *from, float *out) {
    __shared__ float s[128];
    load(s, from, 128);
    out[threadIdx.x] = all(s, 128);
}

//// helper_function_with_barrier: clean
__device__ void load(float *to, const float *from, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) to[i] = from[i];
    __syncthreads();
}
__device__ float all(const float *s, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += s[i];
    return sum;
}
__global__ void sums(const float *from, float *out) {
    __shared__ float s[128];
    load(s, from, 128);
    out[threadIdx.x] = all(s, 128);
}

//// template_tile: shared-memory-race
template <typename T, int N>
__global__ void reverse(T *d) {
    __shared__ T s[N];
    int t = threadIdx.x;
    s[t] = d[t];
    d[t] = s[N - t - 1];
}
template __global__ void reverse<float, 128>(float *);

//// template_without_instance: shared-memory-race
template <typename T>
__global__ void reverse(T *d) {
    __shared__ T s[128];
    int t = threadIdx.x;
    s[t] = d[t];
    d[t] = s[127 - t];
}

//// three_dimensions: shared-memory-race
__global__ void smooth(const float *in, float *out) {
    __shared__ float s[4][8][8];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    s[z][y][x] = in[(z * 8 + y) * 8 + x];
    out[(z * 8 + y) * 8 + x] = s[z][y][(x + 1) % 8] + s[(z + 1) % 4][y][x];
}

//// bound_of_three_axes_says_not_how_the_threads_lie: clean
__global__ void __launch_bounds__(128) largest(const double *in, double *out) {
    __shared__ double s[128];
    const int t = threadIdx.x * 64 + threadIdx.y * 8 + threadIdx.z;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half && s[t + half] > s[t]) s[t] = s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

//// bound_of_one_axis_that_is_too_large: shared-index-out-of-range
__global__ void __launch_bounds__(256) largest(const double *in, double *out) {
    __shared__ double s[128];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}
