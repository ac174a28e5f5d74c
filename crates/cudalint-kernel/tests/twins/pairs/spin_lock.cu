__global__ void k(int* lock, float* total) {
    while (atomicCAS(&lock[0], 0, 1) != 0) {
    }
    __threadfence();
    total[0] += 1.0f;
    __threadfence();
    atomicExch(&lock[0], 0);
}
