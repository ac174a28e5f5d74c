// Each element takes its right neighbour's value in place. Inside a block a barrier keeps reading and writing apart; at
// the blocks' borders nothing does.
__global__ void shift(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int right = 0;
    if (i + 1 < n)
        right = data[i + 1];
    __syncthreads();
    if (i < n)
        data[i] = right;
}
