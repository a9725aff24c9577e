// c = a + b

// c_i = a_i + b_i for i below n
extern "C" __global__ void vadd(unsigned n, const float *__restrict__ a, const float *__restrict__ b,
                                float *__restrict__ c)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
