#include <cstdlib>

#include <cuda_runtime.h>

struct Grid {
    float *cells;
    int width, height;
};

struct Node {
    Grid grid;
    float *values;
};

__global__ void sum(Node *nodes, int count) {
    if (threadIdx.x < count) nodes[threadIdx.x].values[0] += nodes[0].grid.cells[threadIdx.x];
}

void walk(Node *nodes, int count) { sum<<<1, 32>>>(nodes, count); }

class Owner {
public:
    explicit Owner(size_t bytes) { cudaMalloc(&memory, bytes); }
    ~Owner() { cudaFree(memory); }
    void clear(size_t bytes) const { cudaMemset(memory, 0, bytes); }

private:
    void *memory = nullptr;
};

__constant__ float weights[16];
static float *shared_rows;
static int row_count;

template <typename T, int THREADS> __global__ void scale(T *values, Grid grid, T *const *rows, int n) {
    __shared__ T staged[THREADS];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    staged[threadIdx.x] = values[i];
    if (i < n) rows[0][i] = staged[threadIdx.x] * weights[i % 16] + grid.cells[0];
}

void upload(const double *values, int n, bool careful) {
    if (n < 16 || !careful) return;
    double *device;
    cudaMalloc(&device, n * sizeof(float));
    cudaMemcpy(device, values, n * sizeof(double), cudaMemcpyHostToDevice);
    cudaFree(device);
}

void both(float *values, Grid grid, int n) {
    values[0] = 1;
    float **rows = nullptr;
    scale<float, 128><<<(n + 127) / 128, 128>>>(values, grid, rows, n);
}

void rows() { cudaMemset(shared_rows, 0, row_count * sizeof(float)); }

void out(float **data, const char *file_name, size_t bytes) { cudaMalloc(data, bytes); }

void choose(int wide, int mode, bool quiet) {
    if (mode == 3) {
        if (quiet) return;
        for (int i = 0; i < wide; ++i) cudaSetDevice(wide);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 1;
    int n = atoi(argv[1]);
    upload(nullptr, n, true);
    return 0;
}
