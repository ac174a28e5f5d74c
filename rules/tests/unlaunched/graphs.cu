//// bfs_level_flags: clean
__global__ void bfs(const int *rows, const int *cols, int *level, int depth, int n, int *changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && level[v] == depth)
        for (int e = rows[v]; e < rows[v + 1]; e++)
            if (atomicCAS(&level[cols[e]], -1, depth + 1) == -1) atomicExch(changed, 1);
}

//// degree_counts_at_places_that_may_all_be_different: clean
__global__ void degrees(const int *rows, const int *cols, int *degree, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        for (int e = rows[v]; e < rows[v + 1]; e++) degree[cols[e]]++;
}

//// degree_counts_atomic: clean
__global__ void degrees(const int *rows, const int *cols, int *degree, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        for (int e = rows[v]; e < rows[v + 1]; e++) atomicAdd(&degree[cols[e]], 1);
}

//// edges_counted_in_one_number: non-atomic-read-modify-write
__global__ void edges(const int *rows, const int *cols, const int *value, int *count, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        for (int e = rows[v]; e < rows[v + 1]; e++) {
            int nei = cols[e];
            if (value[nei] > value[v]) *count += 1;
        }
}

//// edges_counted_atomically: clean
__global__ void edges(const int *rows, const int *cols, const int *value, int *count, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        for (int e = rows[v]; e < rows[v + 1]; e++) {
            int nei = cols[e];
            if (v < nei) atomicAdd(count, 1);
        }
}

//// edges_with_order_counted: non-atomic-read-modify-write
__global__ void edges(const int *rows, const int *cols, int *count, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        for (int e = rows[v]; e < rows[v + 1]; e++) {
            int nei = cols[e];
            if (v < nei) (*count)++;
        }
}

//// pull_own_sum: clean
__global__ void pull(const int *rows, const int *cols, const float *rank, float *next, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n) {
        float sum = 0;
        for (int e = rows[v]; e < rows[v + 1]; e++) sum += rank[cols[e]];
        next[v] = sum;
    }
}

//// max_over_edges: non-atomic-read-modify-write global-memory-race
__global__ void longest(const int *rows, int *most, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    int d = rows[v + 1] - rows[v];
    if (*most < d) *most = d;
}

//// worklist_not_atomic: non-atomic-read-modify-write global-memory-race
__global__ void push(const int *rows, const int *cols, int *list, int *size, const int *dist, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        for (int e = rows[v]; e < rows[v + 1]; e++)
            if (dist[cols[e]] > dist[v] + 1) list[(*size)++] = cols[e];
}

//// worklist_atomic: clean
__global__ void push(const int *rows, const int *cols, int *list, int *size, const int *dist, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        for (int e = rows[v]; e < rows[v + 1]; e++)
            if (dist[cols[e]] > dist[v] + 1) list[atomicAdd(size, 1)] = cols[e];
}

//// shared_sum_of_edges: non-atomic-read-modify-write
__global__ void local(const int *rows, const int *cols, const int *w, int *out, int n) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        for (int e = rows[v]; e < rows[v + 1]; e++) sum += w[cols[e]];
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

//// flag_of_same_value: clean
__global__ void any(const int *rows, const int *cols, const int *mark, int *found, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        for (int e = rows[v]; e < rows[v + 1]; e++)
            if (mark[cols[e]]) *found = 1;
}

//// read_far_before_barrier: shared-memory-race
__global__ void labels(const int *parent, int *out) {
    __shared__ int p[256];
    int t = threadIdx.x;
    p[t] = parent[t];
    int up = p[p[t] & 255];
    out[t] = up;
}

//// pointer_jumping_in_place: open shared-memory-race shared-memory-race-across-iterations
__global__ void jump(int *parent) {
    __shared__ int p[256];
    int t = threadIdx.x;
    p[t] = parent[t];
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        p[t] = p[p[t] & 255];
        __syncthreads();
    }
    parent[t] = p[t];
}
