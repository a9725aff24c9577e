// How many numbers fall into each of 256 bins

// As many as threads in a block.
#define BINS 256

// Adds to each bin its numbers, by their highest byte. A block counts in shared memory first, where atomics
// are cheap.
extern "C" __global__ void histogram(const unsigned *numbers, size_t n, unsigned *bins)
{
    __shared__ unsigned own[BINS];
    unsigned t = threadIdx.x;
    own[t] = 0;
    __syncthreads();
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + t; i < n; i += stride)
        atomicAdd_block(&own[numbers[i] >> 24], 1u);
    __syncthreads();
    atomicAdd(&bins[t], own[t]);
}
