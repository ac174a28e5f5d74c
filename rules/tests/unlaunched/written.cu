//// column_of_a_flat_block_in_a_branch: clean
struct Geo { int nx, ny, nz; };
const int PER = 8;
__global__ void column(const Geo g, float *image) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z0 = blockIdx.z * PER + threadIdx.z;
    if (x >= g.nx || y >= g.ny || z0 >= g.nz) return;
    float mine[PER];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) mine[k] = image[((size_t)(z0 + k) * g.ny + y) * g.nx + x];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) image[((size_t)(z0 + k) * g.ny + y) * g.nx + x] = mine[k] + 1;
}
#ifdef SLICES
void run(Geo geo, float *image, int width) {
    dim3 grid(geo.nx / width, geo.ny / 8, geo.nz / PER), block(width, 8, 1);
    column<<<grid, block>>>(geo, image);
}
#endif

//// column_of_a_deep_block_in_a_branch: global-memory-race
struct Geo { int nx, ny, nz; };
const int PER = 8;
__global__ void column(const Geo g, float *image) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z0 = blockIdx.z * PER + threadIdx.z;
    if (x >= g.nx || y >= g.ny || z0 >= g.nz) return;
    float mine[PER];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) mine[k] = image[((size_t)(z0 + k) * g.ny + y) * g.nx + x];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) image[((size_t)(z0 + k) * g.ny + y) * g.nx + x] = mine[k] + 1;
}
#ifdef SLICES
void run(Geo geo, float *image, int width) {
    dim3 grid(geo.nx / width, geo.ny / 8, geo.nz / PER), block(16, 8, 2);
    column<<<grid, block>>>(geo, image);
}
#endif

//// column_of_a_flat_block_in_loops: clean
struct Geo { int nx, ny, nz; };
const int PER = 8;
__global__ void column(const Geo g, float *image) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z0 = blockIdx.z * PER + threadIdx.z;
    if (x >= g.nx || y >= g.ny || z0 >= g.nz) return;
    float mine[PER];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) mine[k] = image[((size_t)(z0 + k) * g.ny + y) * g.nx + x];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) image[((size_t)(z0 + k) * g.ny + y) * g.nx + x] = mine[k] + 1;
}
void run(Geo geo, Geo *parts, float **images, cudaStream_t *streams, const int *widths, int devices, int slices) {
    for (int s = 0; s < slices; ++s)
        for (int d = 0; d < devices; ++d) {
            int bx, by, bz; bx = widths[d]; by = 32; bz = PER;
            dim3 grid((geo.nx + bx - 1) / bx, (geo.ny + by - 1) / by, (parts[s * devices + d].nz + bz - 1) / bz);
            dim3 block(bx, by, 1);
            column<<<grid, block, 0, streams[d]>>>(parts[s * devices + d], images[d]);
            if (cudaGetLastError() != cudaSuccess) return;
        }
}

//// column_that_nobody_launches: global-memory-race
struct Geo { int nx, ny, nz; };
const int PER = 8;
__global__ void column(const Geo g, float *image) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z0 = blockIdx.z * PER + threadIdx.z;
    if (x >= g.nx || y >= g.ny || z0 >= g.nz) return;
    float mine[PER];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) mine[k] = image[((size_t)(z0 + k) * g.ny + y) * g.nx + x];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) image[((size_t)(z0 + k) * g.ny + y) * g.nx + x] = mine[k] + 1;
}

//// rows_of_a_flat_block: clean
__global__ void turn(float *v, int n) {
    __shared__ float s[64];
    int lane = threadIdx.x;
    s[lane] = v[blockIdx.x * 64 + lane];
    if (threadIdx.y > 0) s[lane] += 1;
    v[blockIdx.x * 64 + lane] = s[lane];
}
#if 0
void run(float *v, int n) { turn<<<n / 64, dim3(64)>>>(v, n); }
#endif

//// rows_of_a_block_of_two: shared-memory-race global-memory-race
__global__ void turn(float *v, int n) {
    __shared__ float s[64];
    int lane = threadIdx.x;
    s[lane] = v[blockIdx.x * 64 + lane];
    if (threadIdx.y > 0) s[lane] += 1;
    v[blockIdx.x * 64 + lane] = s[lane];
}
#if 0
#define ROWS 2
void run(float *v, int n) { turn<<<n / 64, dim3(64, ROWS)>>>(v, n); }
#endif

//// sums_of_a_block_that_fits: shared-memory-race
__global__ void norm(float *to, int n) {
    __shared__ float part[128], sums[4];
    int i = threadIdx.y * 16 + threadIdx.x;
    for (int b = blockIdx.x; b < n; b += gridDim.x) {
        part[i] = to[b * 128 + i];
        __syncthreads();
        if ((i & 31) == 0) sums[i / 32] = part[i];
        __syncthreads();
        float one = sums[0] + sums[1] + sums[2] + sums[3];
        if ((i & 31) == 0) sums[i / 32] = one;
        __syncthreads();
        to[b * 128 + i] = sums[0] + sums[1] + sums[2] + sums[3];
        __syncthreads();
    }
}

//// upper_half_of_a_block_that_does_not_fit: clean
__global__ void norm(float *to, int n) {
    __shared__ float part[128];
    int i = threadIdx.y * 16 + threadIdx.x;
    for (int b = blockIdx.x; b < n; b += gridDim.x) {
        part[i] = to[b * 128 + i];
        if (threadIdx.y > 7) part[i - 128] += 1;
        to[b * 128 + i] = part[i];
    }
}

//// upper_half_of_a_narrower_block: shared-memory-race
__global__ void norm(float *to, int n) {
    __shared__ float part[128];
    int i = threadIdx.y * 16 + threadIdx.x;
    for (int b = blockIdx.x; b < n; b += gridDim.x) {
        part[i] = to[b * 128 + i];
        if (threadIdx.y > 3) part[i - 64] += 1;
        to[b * 128 + i] = part[i];
    }
}

//// halves_of_one_warp_in_a_branch: clean
__global__ void norm(float *to, int n) {
    __shared__ float part[128];
    int i = threadIdx.y * 16 + threadIdx.x;
    for (int b = blockIdx.x; b < n; b += gridDim.x) {
        part[i] = to[b * 128 + i];
        __syncwarp();
        to[b * 128 + i] = part[i ^ 16];
        __syncthreads();
    }
}
void run(float *to, int n) {
    dim3 blocks(512), threads(16, 2);
#ifdef MANAGED
    norm<<<blocks, threads>>>(to, n);
#endif
}

//// halves_of_two_warps_in_a_branch: shared-memory-race
__global__ void norm(float *to, int n) {
    __shared__ float part[128];
    int i = threadIdx.y * 16 + threadIdx.x;
    for (int b = blockIdx.x; b < n; b += gridDim.x) {
        part[i] = to[b * 128 + i];
        __syncwarp();
        to[b * 128 + i] = part[i ^ 32];
        __syncthreads();
    }
}
void run(float *to, int n) {
    dim3 blocks(512), threads(16, 4);
#ifdef MANAGED
    norm<<<blocks, threads>>>(to, n);
#endif
}

//// column_of_a_flat_block_that_is_not_reached: clean
struct Geo { int nx, ny, nz; };
const int PER = 8;
__global__ void column(const Geo g, float *image) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z0 = blockIdx.z * PER + threadIdx.z;
    if (x >= g.nx || y >= g.ny || z0 >= g.nz) return;
    float mine[PER];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) mine[k] = image[((size_t)(z0 + k) * g.ny + y) * g.nx + x];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) image[((size_t)(z0 + k) * g.ny + y) * g.nx + x] = mine[k] + 1;
}
void run(Geo geo, float *image) {
    return;
    int width, depth = 1;
    width = 16;
    dim3 block(width, 8, depth);
    column<<<dim3(geo.nx / 16, geo.ny / 8, geo.nz / PER), block>>>(geo, image);
}

//// column_of_a_deep_block_that_is_not_reached: global-memory-race
struct Geo { int nx, ny, nz; };
const int PER = 8;
__global__ void column(const Geo g, float *image) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z0 = blockIdx.z * PER + threadIdx.z;
    if (x >= g.nx || y >= g.ny || z0 >= g.nz) return;
    float mine[PER];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) mine[k] = image[((size_t)(z0 + k) * g.ny + y) * g.nx + x];
    for (int k = 0; k < PER && z0 + k < g.nz; k++) image[((size_t)(z0 + k) * g.ny + y) * g.nx + x] = mine[k] + 1;
}
void run(Geo geo, float *image) {
    return;
    int width, depth = 2;
    width = 16;
    dim3 block(width, 8, depth);
    column<<<dim3(geo.nx / 16, geo.ny / 8, geo.nz / PER), block>>>(geo, image);
}
