__global__ void k(int* a) {
    int t = threadIdx.x;
    unsigned m = __ballot_sync(0xffffffffu, t < 7);
    if (__any_sync(0xffffffffu, t > 3)) a[t] = __popc(m);
}
