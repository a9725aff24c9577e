// y = a x + y

// y_i = a x_i + y_i for i below n
extern "C" __global__ void saxpy(float a, const float *x, size_t n, float *y)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = fmaf(a, x[i], y[i]);
}
