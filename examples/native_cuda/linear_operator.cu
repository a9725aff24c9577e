// The product of a matrix in interleaved ELLPACK, v += A u, as the source documents have it in CUDA C++:
// S. Rosenberger, G. Haase: OpenACC and CUDA parallelization for the Elasticity Problem in CARP (2017),
// section 4, `_device_generic_parallel_loop`. There the blocks of the matrix have as many rows as a block of
// the grid has threads; here entry j of row i is at i + stride * j.
extern "C" __global__ void linear_operator_sr(unsigned int size, unsigned int stride, unsigned int max_length,
                                              const unsigned int *__restrict__ acol,
                                              const double *__restrict__ aele, const double *__restrict__ u,
                                              double *__restrict__ v)
{
    const unsigned int kk = blockDim.x * blockIdx.x + threadIdx.x;
    if (kk < size) {
        double s = 0.0;
        for (unsigned int jj = 0; jj < max_length; ++jj) {
            const unsigned long long at = kk + (unsigned long long)stride * jj;
            s += aele[at] * u[acol[at]];
        }
        v[kk] += s;
    }
}
