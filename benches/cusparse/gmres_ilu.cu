// GMRES(30) with ILU(0) on a GPU by cuSPARSE and cuBLAS: csrilu02 for the factors, SpSV for their solutions,
// SpMV for products, two passes of classical Gram-Schmidt by gemv. It is what one writes with NVIDIA's
// libraries, and what `warpsolve solve --solver gmres --precond ilu` is compared with.
//
//     nvcc -O3 -arch=native gmres_ilu.cu -o gmres_ilu -lcusparse -lcublas
//     ./gmres_ilu A.wsm        A.wsm of `warpsolve gen` or `warpsolve convert`; b = 1, x = 0, 1e-8
//
// The analyses are not counted. scripts/cusparse.sh runs both.

#include <cublas_v2.h>
#include <cusparse.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                       \
    do {                                                                  \
        auto status = (call);                                             \
        if (static_cast<int>(status) != 0) {                              \
            fprintf(stderr, "%s: status %d\n", #call, (int)status);       \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

const int RESTART = 30, MOST = 5000;
const double RTOL = 1e-8, ONE = 1.0, ZERO = 0.0, MINUS = -1.0;

template <typename T> T* on_device(const std::vector<T>& host) {
    T* device;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

struct Matrix {
    int n, nnz;
    std::vector<int> rows, columns;
    std::vector<double> values;
};

Matrix read(const char* path) {
    FILE* file = fopen(path, "rb");
    if (!file) { perror(path); exit(1); }
    uint64_t head[16];
    if (fread(head, 8, 16, file) != 16) { fprintf(stderr, "%s: no header\n", path); exit(1); }
    uint64_t n = head[2], nnz = head[4];
    Matrix a{(int)n, (int)nnz, std::vector<int>(n + 1), std::vector<int>(nnz), std::vector<double>(nnz)};
    std::vector<uint64_t> rows(n + 1);
    auto part = [&](uint64_t offset, void* to, size_t size, size_t count) {
        fseek(file, (long)offset, SEEK_SET);
        if (fread(to, size, count, file) != count) { fprintf(stderr, "%s: too short\n", path); exit(1); }
    };
    part(head[5], rows.data(), 8, n + 1);
    part(head[6], a.columns.data(), 4, nnz);
    part(head[7], a.values.data(), 8, nnz);
    std::copy(rows.begin(), rows.end(), a.rows.begin());
    fclose(file);
    return a;
}

struct Clock {
    cudaEvent_t start, end;
    Clock() { cudaEventCreate(&start); cudaEventCreate(&end); cudaEventRecord(start); }
    double ms() {
        float ms;
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&ms, start, end);
        return ms;
    }
};

struct Solver {
    cusparseHandle_t sparse;
    cublasHandle_t blas;
    int n, nnz, *rows, *columns;
    double *values, *factors, *basis, *t, *w, *coefficients, *again;
    cusparseSpMatDescr_t a, lower, upper;
    cusparseSpSVDescr_t solve_lower, solve_upper;
    void *product_buffer, *buffers[2];

    cusparseDnVecDescr_t vector(double* x) {
        cusparseDnVecDescr_t v;
        CHECK(cusparseCreateDnVec(&v, n, x, CUDA_R_64F));
        return v;
    }
    cusparseSpMatDescr_t matrix(double* v) {
        cusparseSpMatDescr_t m;
        CHECK(cusparseCreateCsr(&m, n, n, nnz, rows, columns, v, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
        return m;
    }
    void multiply(double* x, double* y) {
        auto vx = vector(x), vy = vector(y);
        CHECK(cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, a, vx, &ZERO, vy, CUDA_R_64F,
                           CUSPARSE_SPMV_CSR_ALG2, product_buffer));
        cusparseDestroyDnVec(vx);
        cusparseDestroyDnVec(vy);
    }
    void triangle(cusparseSpMatDescr_t m, cusparseSpSVDescr_t d, double* x, double* y) {
        auto vx = vector(x), vy = vector(y);
        CHECK(cusparseSpSV_solve(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, m, vx, vy, CUDA_R_64F,
                                 CUSPARSE_SPSV_ALG_DEFAULT, d));
        cusparseDestroyDnVec(vx);
        cusparseDestroyDnVec(vy);
    }
    void precondition(double* r, double* z) {
        triangle(lower, solve_lower, r, t);
        triangle(upper, solve_upper, t, z);
    }

    explicit Solver(const Matrix& host) : n(host.n), nnz(host.nnz) {
        CHECK(cusparseCreate(&sparse));
        CHECK(cublasCreate(&blas));
        rows = on_device(host.rows);
        columns = on_device(host.columns);
        values = on_device(host.values);
        factors = on_device(host.values);
        for (double** v : {&t, &w}) CHECK(cudaMalloc(v, n * sizeof(double)));
        CHECK(cudaMalloc(&basis, (size_t)n * (RESTART + 1) * sizeof(double)));
        CHECK(cudaMalloc(&coefficients, (RESTART + 1) * sizeof(double)));
        CHECK(cudaMalloc(&again, (RESTART + 1) * sizeof(double)));
        a = matrix(values);
        size_t size;
        auto vx = vector(t), vy = vector(w);
        CHECK(cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, a, vx, &ZERO, vy,
                                      CUDA_R_64F, CUSPARSE_SPMV_CSR_ALG2, &size));
        CHECK(cudaMalloc(&product_buffer, size));
        lower = triangular(CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT);
        upper = triangular(CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT);
    }
    cusparseSpMatDescr_t triangular(cusparseFillMode_t fill, cusparseDiagType_t diagonal) {
        auto m = matrix(factors);
        CHECK(cusparseSpMatSetAttribute(m, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
        CHECK(cusparseSpMatSetAttribute(m, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
        return m;
    }

    // The numbers of the factors; returns milliseconds, without csrilu02's analysis.
    double factorise() {
        cusparseMatDescr_t d;
        csrilu02Info_t info;
        CHECK(cusparseCreateMatDescr(&d));
        CHECK(cusparseCreateCsrilu02Info(&info));
        int size;
        CHECK(cusparseDcsrilu02_bufferSize(sparse, n, nnz, d, factors, rows, columns, info, &size));
        void* buffer;
        CHECK(cudaMalloc(&buffer, size));
        CHECK(cusparseDcsrilu02_analysis(sparse, n, nnz, d, factors, rows, columns, info,
                                         CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer));
        CHECK(cudaDeviceSynchronize());
        Clock clock;
        CHECK(cusparseDcsrilu02(sparse, n, nnz, d, factors, rows, columns, info,
                                CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer));
        double ms = clock.ms();
        CHECK(cudaFree(buffer));
        return ms;
    }
    // SpSV's analyses; returns milliseconds.
    double analyse() {
        Clock clock;
        auto vx = vector(t), vy = vector(w);
        cusparseSpMatDescr_t m[] = {lower, upper};
        cusparseSpSVDescr_t* d[] = {&solve_lower, &solve_upper};
        for (int k = 0; k < 2; k++) {
            size_t size;
            CHECK(cusparseSpSV_createDescr(d[k]));
            CHECK(cusparseSpSV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, m[k], vx, vy, CUDA_R_64F,
                                          CUSPARSE_SPSV_ALG_DEFAULT, *d[k], &size));
            CHECK(cudaMalloc(&buffers[k], size));
            CHECK(cusparseSpSV_analysis(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &ONE, m[k], vx, vy, CUDA_R_64F,
                                        CUSPARSE_SPSV_ALG_DEFAULT, *d[k], buffers[k]));
        }
        return clock.ms();
    }

    double norm(double* x) {
        double value;
        CHECK(cublasDnrm2(blas, n, x, 1, &value));
        return value;
    }

    // Solves A x = b; returns the iterations.
    int solve(double* b, double* x) {
        double target = RTOL * norm(b);
        int done = 0;
        std::vector<double> h((RESTART + 1) * RESTART), c(RESTART), s(RESTART), g(RESTART + 1), first(RESTART + 1),
            second(RESTART + 1);
        while (done < MOST) {
            multiply(x, basis);
            CHECK(cublasDscal(blas, n, &MINUS, basis, 1));
            CHECK(cublasDaxpy(blas, n, &ONE, b, 1, basis, 1));
            double beta = norm(basis);
            if (beta <= target) return done;
            double inverse = 1.0 / beta;
            CHECK(cublasDscal(blas, n, &inverse, basis, 1));
            std::fill(g.begin(), g.end(), 0.0);
            g[0] = beta;
            int j = 0;
            while (j < RESTART && done < MOST && std::fabs(g[j]) > target) {
                double* next = basis + (size_t)n * (j + 1);
                precondition(basis + (size_t)n * j, w);
                multiply(w, next);
                for (auto* to : {&first, &second}) {
                    double* d = to == &first ? coefficients : again;
                    CHECK(cublasDgemv(blas, CUBLAS_OP_T, n, j + 1, &ONE, basis, n, next, 1, &ZERO, d, 1));
                    CHECK(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST));
                    CHECK(cublasDgemv(blas, CUBLAS_OP_N, n, j + 1, &MINUS, basis, n, d, 1, &ONE, next, 1));
                }
                double length = norm(next);
                CHECK(cudaMemcpy(first.data(), coefficients, (j + 1) * 8, cudaMemcpyDeviceToHost));
                CHECK(cudaMemcpy(second.data(), again, (j + 1) * 8, cudaMemcpyDeviceToHost));
                inverse = 1.0 / length;
                CHECK(cublasDscal(blas, n, &inverse, next, 1));
                double* column = &h[j * (RESTART + 1)];
                for (int i = 0; i <= j; i++) column[i] = first[i] + second[i];
                column[j + 1] = length;
                for (int i = 0; i < j; i++) {
                    double above = column[i];
                    column[i] = c[i] * above + s[i] * column[i + 1];
                    column[i + 1] = -s[i] * above + c[i] * column[i + 1];
                }
                double r = std::hypot(column[j], column[j + 1]);
                c[j] = column[j] / r;
                s[j] = column[j + 1] / r;
                column[j] = r;
                g[j + 1] = -s[j] * g[j];
                g[j] *= c[j];
                j++;
                done++;
            }
            for (int i = j - 1; i >= 0; i--) {
                for (int k = i + 1; k < j; k++) g[i] -= h[k * (RESTART + 1) + i] * g[k];
                g[i] /= h[i * (RESTART + 1) + i];
            }
            CHECK(cudaMemcpy(coefficients, g.data(), j * 8, cudaMemcpyHostToDevice));
            double* sum = basis + (size_t)n * RESTART;
            CHECK(cublasDgemv(blas, CUBLAS_OP_N, n, j, &ONE, basis, n, coefficients, 1, &ZERO, sum, 1));
            precondition(sum, w);
            CHECK(cublasDaxpy(blas, n, &ONE, w, 1, x, 1));
        }
        return done;
    }
};

int main(int count, char** arguments) {
    if (count != 2) { fprintf(stderr, "gmres_ilu A.wsm\n"); return 1; }
    Matrix host = read(arguments[1]);
    Solver solver(host);
    double factors = solver.factorise(), analyses = solver.analyse();
    double *b = on_device(std::vector<double>(host.n, 1.0)), *x = on_device(std::vector<double>(host.n, 0.0));
    std::vector<double> times;
    int iterations = 0;
    for (int run = 0; run < 4; run++) {
        CHECK(cudaMemset(x, 0, host.n * sizeof(double)));
        CHECK(cudaDeviceSynchronize());
        Clock clock;
        iterations = solver.solve(b, x);
        if (run > 0) times.push_back(clock.ms());
    }
    std::sort(times.begin(), times.end());
    std::vector<double> solution(host.n);
    CHECK(cudaMemcpy(solution.data(), x, host.n * sizeof(double), cudaMemcpyDeviceToHost));
    double square = 0;
    for (int i = 0; i < host.n; i++) {
        double r = 1.0;
        for (int k = host.rows[i]; k < host.rows[i + 1]; k++) r -= host.values[k] * solution[host.columns[k]];
        square += r * r;
    }
    printf("{\"iterations\": %d, \"residual\": %.2e, \"factors_ms\": %.2f, \"analyses_ms\": %.2f, \"solve_ms\": %.2f}\n",
           iterations, std::sqrt(square / host.n), factors, analyses, times[times.size() / 2]);
}
