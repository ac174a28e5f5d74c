__global__ void k(float* a, int size, int stride) {
    int i = threadIdx.x;
    int other = i ^ stride;
    if (other > i) {
        if ((i & size) == 0) {
            if (a[i] > a[other]) { float v = a[i]; a[i] = a[other]; a[other] = v; }
        } else {
            if (a[i] < a[other]) { float v = a[i]; a[i] = a[other]; a[other] = v; }
        }
    }
}
