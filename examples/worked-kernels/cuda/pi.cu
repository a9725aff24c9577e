// pi, by points in a square that fall into a circle

// Philox4x32-10: the four numbers of a counter under a key.
// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC 2011, section 4.3.
__device__ uint4 philox(uint4 x, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        unsigned low_0 = 0xD2511F53u * x.x, high_0 = __umulhi(0xD2511F53u, x.x);
        unsigned low_1 = 0xCD9E8D57u * x.z, high_1 = __umulhi(0xCD9E8D57u, x.z);
        x = make_uint4(high_1 ^ x.y ^ key.x, low_1, high_0 ^ x.w ^ key.y, low_0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return x;
}

__device__ bool is_hit(unsigned x_bits, unsigned y_bits)
{
    // The upper 24 bits, which float has room for, as a number below 1.
    float x = (x_bits >> 8) * (1.0f / 16777216.0f), y = (y_bits >> 8) * (1.0f / 16777216.0f);
    return fmaf(x, x, __fmul_rn(y, y)) < 1.0f;
}

// Adds to hits the points with x^2 + y^2 < 1, of 2 draws in each thread; they are uniform in the unit
// square. A thread has a stream of random numbers of its own: the same points, however many run at a time.
extern "C" __global__ void pi(unsigned long long seed, unsigned draws, unsigned long long *hits)
{
    size_t thread = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint2 key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    unsigned hit = 0;
    for (unsigned draw = 0; draw < draws; ++draw) {
        uint4 random = philox(make_uint4(draw, 0, (unsigned)thread, (unsigned)(thread >> 32)), key);
        hit += is_hit(random.x, random.y) + is_hit(random.z, random.w);
    }
    for (unsigned delta = 1; delta < 32; delta *= 2)
        hit += __shfl_down_sync(0xffffffffu, hit, delta);
    if (threadIdx.x % 32 == 0)
        atomicAdd(hits, (unsigned long long)hit);
}
