//// neighbour_in_place: global-memory-race
__global__ void shift(int *a, int n) {
    int i = threadIdx.x;
    if (i + 1 < n) a[i] = a[i + 1];
}

//// neighbour_out_of_place: clean
__global__ void shift(int *b, const int *a, int n) {
    int i = threadIdx.x;
    if (i + 1 < n) b[i] = a[i + 1];
}

//// stencil_in_place_over_grid: global-memory-race cross-block-dependency
__global__ void blur(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
}

//// two_stage_in_one_kernel: cross-block-dependency global-memory-race
__global__ void stages(const float *in, float *mid, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) mid[i] = in[i] * 2;
    __syncthreads();
    if (i < n - 1) out[i] = mid[i + 1] - mid[i];
}

//// one_stage: clean
__global__ void stages(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) out[i] = in[i + 1] - in[i];
}

//// sum_not_atomic: non-atomic-read-modify-write
__global__ void sum(const int *a, int *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) *total += a[i];
}

//// sum_atomic: clean
__global__ void sum(const int *a, int *total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, a[i]);
}

//// sum_of_blocks_not_atomic: non-atomic-read-modify-write
__global__ void sum(const float *a, float *total, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) *total += s[0];
}

//// sum_of_blocks_atomic: clean
__global__ void sum(const float *a, float *total, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, s[0]);
}

//// device_counter: non-atomic-read-modify-write
__device__ int hits;
__global__ void mark(const int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 0) hits = hits + 1;
}

//// device_counter_atomic: clean
__device__ int hits;
__global__ void mark(const int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 0) atomicAdd(&hits, 1);
}

//// histogram_not_atomic: open non-atomic-read-modify-write
__global__ void histogram(const int *data, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bins[data[i] % 16]++;
}

//// histogram_atomic: clean
__global__ void histogram(const int *data, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i] % 16], 1);
}

//// pairs_overlap: global-memory-race
__global__ void pairs(int *a) {
    int t = threadIdx.x;
    a[t] = t;
    a[t + 1] = -t;
}

//// pairs_apart: clean
__global__ void pairs(int *a) {
    int t = threadIdx.x;
    a[2 * t] = t;
    a[2 * t + 1] = -t;
}

//// wrong_row_stride: global-memory-race
__global__ void fill(float *a) {
    int x = threadIdx.x, y = threadIdx.y;
    a[y * 4 + x] = x - y;
}

//// block_index_forgotten_by_who_may_be_alone: clean
__global__ void square(const float *in, float *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = in[blockIdx.x * blockDim.x + i] * blockIdx.x;
}

//// result_of_each_block: clean
__global__ void square(const float *in, float *out, int n) {
    if (threadIdx.x == 0) out[blockIdx.x] = in[blockIdx.x * blockDim.x];
}

//// max_without_atomic: non-atomic-read-modify-write global-memory-race
__global__ void largest(const int *a, int *most, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > *most) *most = a[i];
}

//// max_with_atomic: clean
__global__ void largest(const int *a, int *most, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(most, a[i]);
}

//// append_not_atomic: non-atomic-read-modify-write global-memory-race
__global__ void compact(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] != 0) {
        int at = *count;
        *count = at + 1;
        out[at] = in[i];
    }
}

//// append_atomic: clean
__global__ void compact(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] != 0) {
        int at = atomicAdd(count, 1);
        out[at] = in[i];
    }
}

//// atomic_and_plain_read: global-memory-race
__global__ void tally(int *count, int *seen) {
    atomicAdd(count, 1);
    seen[threadIdx.x] = *count;
}

//// atomic_and_its_result: clean
__global__ void tally(int *count, int *seen) {
    seen[threadIdx.x] = atomicAdd(count, 1);
}

//// wave_in_place: global-memory-race
__global__ void wave(float *u, int nx, int steps) {
    int i = threadIdx.x + 1;
    for (int s = 0; s < steps; s++) {
        if (i < nx) u[i] = 0.5f * (u[i - 1] + u[i + 1]);
        __syncthreads();
    }
}

//// wave_two_buffers: clean
__global__ void wave(float *u, float *v, int nx, int steps) {
    int i = threadIdx.x + 1;
    for (int s = 0; s < steps; s++) {
        if (i < nx) v[i] = 0.5f * (u[i - 1] + u[i + 1]);
        __syncthreads();
        if (i < nx) u[i] = v[i];
        __syncthreads();
    }
}

//// column_sums_by_rows: non-atomic-read-modify-write
__global__ void columns(const float *m, float *sums, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows)
        for (int c = 0; c < cols; c++) sums[c] += m[r * cols + c];
}

//// column_sums_by_columns: clean
__global__ void columns(const float *m, float *sums, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cols)
        for (int r = 0; r < rows; r++) sums[c] += m[r * cols + c];
}

//// one_thread_kernel: clean
__global__ void setup(int *a, int n) {
    for (int i = 0; i < n; i++) a[i] = i;
    a[0] += 1;
}

//// grid_stride_clean: clean
__global__ void axpy(float *y, const float *x, float a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}

//// grid_stride_wrong_start: global-memory-race non-atomic-read-modify-write cross-block-dependency
__global__ void axpy(float *y, const float *x, float a, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] += a * x[blockIdx.x * n + i];
}
