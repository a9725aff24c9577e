// The gravity of bodies on one another

#define BLOCK 256
// Added to squares of distances, so that near bodies do not fly apart.
#define SOFTENING 1e-4f

// The sum with what other does to body.
__device__ float4 add_pull(float4 sum, float4 body, float4 other)
{
    float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
    float near = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, SOFTENING))));
    float pull = other.w * near * near * near;
    return make_float4(fmaf(pull, dx, sum.x), fmaf(pull, dy, sum.y), fmaf(pull, dz, sum.z), 0.0f);
}

// The acceleration of each body: the sum over all bodies j of m_j d / (d^2 + softening)^(3/2), where d leads
// to body j. A block loads as many bodies as it has threads at a time.
extern "C" __global__ void nbody(const float4 *bodies, size_t n, float4 *accelerations)
{
    __shared__ float4 tile[BLOCK];
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    float4 nothing = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 body = i < n ? bodies[i] : nothing;
    float4 sum = nothing;
    for (size_t first = 0; first < n; first += BLOCK) {
        tile[t] = first + t < n ? bodies[first + t] : nothing;
        __syncthreads();
        for (int j = 0; j < BLOCK; ++j)
            sum = add_pull(sum, body, tile[j]);
        __syncthreads();
    }
    if (i < n)
        accelerations[i] = sum;
}
