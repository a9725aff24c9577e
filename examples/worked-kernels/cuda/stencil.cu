// A step of the heat equation on a grid of three dimensions

__device__ bool inside(unsigned k, unsigned n)
{
    return k > 0 && k + 1 < n;
}

// v = u + c (sum of the six neighbours - 6 u) inside; at the boundary v = u. x runs fastest.
extern "C" __global__ void heat_step(unsigned nx, unsigned ny, unsigned nz, float c, const float *__restrict__ u,
                                     float *__restrict__ v)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    size_t row = nx, plane = (size_t)nx * ny;
    size_t i = z * plane + y * row + x;
    float middle = u[i];
    if (inside(x, nx) && inside(y, ny) && inside(z, nz)) {
        float along_x = u[i - 1] + u[i + 1];
        float along_y = u[i - row] + u[i + row];
        float along_z = u[i - plane] + u[i + plane];
        v[i] = fmaf(c, fmaf(-6.0f, middle, along_x + along_y + along_z), middle);
    } else {
        v[i] = middle;
    }
}
