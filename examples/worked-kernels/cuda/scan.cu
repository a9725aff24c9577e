// Prefix sums

#define BLOCK 1024
#define WARPS (BLOCK / 32)
#define FULL_MASK 0xffffffffu

// The sum of the values of this lane and those below.
__device__ unsigned over_warp(unsigned value)
{
    unsigned sum = value;
    for (unsigned delta = 1; delta < 32; delta *= 2) {
        unsigned below = __shfl_up_sync(FULL_MASK, sum, delta);
        if (threadIdx.x % 32 >= delta)
            sum += below;
    }
    return sum;
}

// The sum of the values of this thread and those before it in the block. All threads of the block come.
__device__ unsigned over_block(unsigned value)
{
    __shared__ unsigned sums[WARPS];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned sum = over_warp(value);
    if (lane == 31)
        sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        unsigned of_warps = over_warp(lane < WARPS ? sums[lane] : 0);
        if (lane < WARPS)
            sums[lane] = of_warps;
    }
    __syncthreads();
    return warp == 0 ? sum : sum + sums[warp - 1];
}

// y_i = x_0 + .. + x_i within each block, and the sum of each block
extern "C" __global__ void scan_blocks(unsigned n, const unsigned *__restrict__ x, unsigned *__restrict__ y,
                                       unsigned *__restrict__ totals)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = over_block(i < n ? x[i] : 0);
    if (i < n)
        y[i] = sum;
    if (threadIdx.x == BLOCK - 1)
        totals[blockIdx.x] = sum;
}

// x_i = x_0 + .. + x_i, by one block
extern "C" __global__ void scan_totals(unsigned n, unsigned *x)
{
    __shared__ unsigned last;
    unsigned before = 0;
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t i = first + threadIdx.x;
        unsigned sum = before + over_block(i < n ? x[i] : 0);
        if (i < n)
            x[i] = sum;
        if (threadIdx.x == BLOCK - 1)
            last = sum;
        __syncthreads();
        before = last;
        __syncthreads();
    }
}

// Adds to each block the sum of those before it.
extern "C" __global__ void add_totals(unsigned n, const unsigned *__restrict__ totals, unsigned *__restrict__ y)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        y[i] += totals[blockIdx.x - 1];
}
