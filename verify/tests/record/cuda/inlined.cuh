#pragma once
__device__ inline float take(const float* p, int i) {
    return p[i];
}
__device__ __noinline__ void put(float* p, int i) {
    p[i] = 1.0f;
}
__device__ inline void inner(float* p, int i) {
    p[i] = 2.0f;
}
__device__ inline void outer(float* p, int i) {
    inner(p,
          i + 1);
}
