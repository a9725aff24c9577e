// C = A B, by tiles

#define TILE 16

// C = A B: A has m rows and k columns, B has k rows and n columns, row by row. x counts columns.
extern "C" __global__ void matmul(unsigned m, unsigned n, unsigned k, const float *__restrict__ a,
                                  const float *__restrict__ b, float *__restrict__ c)
{
    extern __shared__ float tiles[];
    float *tile_a = tiles, *tile_b = tiles + TILE * TILE;
    size_t tx = threadIdx.x, ty = threadIdx.y;
    size_t col = (size_t)blockIdx.x * TILE + tx, row = (size_t)blockIdx.y * TILE + ty;
    float sum = 0.0f;
    for (size_t first = 0; first < k; first += TILE) {
        bool in_a = row < m && first + tx < k;
        bool in_b = col < n && first + ty < k;
        tile_a[ty * TILE + tx] = in_a ? a[row * k + first + tx] : 0.0f;
        tile_b[ty * TILE + tx] = in_b ? b[(first + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int l = 0; l < TILE; ++l)
            sum = fmaf(tile_a[ty * TILE + l], tile_b[l * TILE + tx], sum);
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
