//! [`Algebra`] on a device: each operation is in the file of its concept in `setup`.

use std::sync::Arc;

use arithmetic::smoothing::Limits;
use cuda_std::Real;
use gpu_kernels::blas1::axpby;
use gpu_kernels::krylov::{self, Entry};
use gpu_kernels::reduce;
use gpu_kernels::setup::convert::round_scaled;

use super::csr::{DeviceCsr, DeviceIndices};
use super::memory::{Buffer, DeviceVector, bytes_of};
use super::{
    DeviceMatrix, DeviceScalars, Gpu, UNGUARDED, Work, block_of, coefficient, constant, pointer_or_null,
};
use crate::backend::algebra::{Algebra, Blocks, Mixed, RowWeight, Size, Strength, Truncation};
use crate::backend::{Coef, Memory, Slot, Vectors};
use crate::error::Result;
use crate::matrix::rounding::Pivot;
use crate::matrix::{BlockCsr, Choice, Csr};
use crate::solver::cg::CgStep;

impl<T: Real> Algebra<T> for Gpu {
    type Csr = DeviceCsr<T>;
    type Indices = DeviceIndices;

    fn csr(&self, a: &Arc<Csr<T>>) -> Result<DeviceCsr<T>> {
        DeviceCsr::upload(&self.device, a)
    }
    fn csr_to_host(&self, a: &DeviceCsr<T>) -> Result<Arc<Csr<T>>> {
        a.to_host().map(Arc::new)
    }
    fn indices_to_host(&self, indices: &DeviceIndices) -> Result<Vec<u32>> {
        indices.to_host()
    }
    fn indices(&self, values: &[u32]) -> Result<DeviceIndices> {
        DeviceIndices::from_slice(&self.device, values)
    }
    fn size(&self, a: &DeviceCsr<T>) -> Size {
        a.size
    }
    fn set_values(&self, a: &mut DeviceCsr<T>, values: &Csr<T>) -> Result<()> {
        assert_eq!(a.size.nnz, values.nnz());
        // SAFETY: the buffer has as many elements.
        unsafe { self.device.upload(a.values.address, bytes_of(values.values())) }
    }

    fn strength(&self, a: &DeviceCsr<T>, strength: Strength) -> Result<DeviceCsr<T>> {
        self.strong_entries(a, strength)
    }
    fn strength_values(&self, a: &DeviceCsr<T>, lumped: bool, s: &mut DeviceCsr<T>) -> Result<()> {
        self.strong_values(a, lumped, s)
    }
    fn independent_set(
        &self,
        s: &DeviceCsr<T>,
        st: Option<&DeviceCsr<T>>,
        distance: u32,
        isolated: bool,
        outlying: Option<&DeviceVector<T>>,
    ) -> Result<DeviceIndices> {
        self.independent(s, st, distance, isolated, outlying)
    }
    fn aggregate(&self, s: &DeviceCsr<T>, roots: &DeviceIndices) -> Result<(DeviceIndices, usize)> {
        self.aggregates(s, roots)
    }
    fn tentative(&self, aggregates: &DeviceIndices, n_aggregates: usize) -> Result<DeviceCsr<T>> {
        self.piecewise_constant(aggregates, n_aggregates)
    }
    fn aggregated(
        &self,
        s: &DeviceCsr<T>,
        aggregates: &DeviceIndices,
        n_aggregates: usize,
    ) -> Result<DeviceCsr<T>> {
        match self.aggregated_rows(s, aggregates, n_aggregates)? {
            Some(p) => Ok(p),
            None => Algebra::product(self, s, &self.piecewise_constant(aggregates, n_aggregates)?),
        }
    }
    fn damp(&self, s: &mut DeviceCsr<T>, omega: T, outlying: Option<&DeviceVector<T>>) -> Result<()> {
        self.damped(s, omega, outlying)
    }
    fn subtract_scaled(
        &self,
        c: &mut DeviceCsr<T>,
        p: &DeviceCsr<T>,
        omega: T,
        d: &DeviceVector<T>,
    ) -> Result<()> {
        self.without_scaled(c, p, omega, d)
    }
    fn averaging(&self, s: &DeviceCsr<T>, coarse: &DeviceIndices) -> Result<DeviceCsr<T>> {
        self.average_of_coarse(s, coarse)
    }
    fn extended_i(
        &self,
        a: &DeviceCsr<T>,
        s: &DeviceCsr<T>,
        coarse: &DeviceIndices,
        truncation: Truncation,
    ) -> Result<DeviceCsr<T>> {
        self.extended_plus_i(a, s, coarse, truncation)
    }

    fn product(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let mut c = self.product_pattern(a, b)?;
        Algebra::product_values(self, a, b, &mut c)?;
        Ok(c)
    }
    fn product_values(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>, c: &mut DeviceCsr<T>) -> Result<()> {
        self.product_values(a, b, c, false)
    }
    fn add_product(&self, a: &DeviceCsr<T>, b: &DeviceCsr<T>, c: &mut DeviceCsr<T>) -> Result<()> {
        self.product_values(a, b, c, true)
    }
    fn scale_values(&self, a: &mut DeviceCsr<T>, factor: T) -> Result<()> {
        let (n, x, z) = (a.size.nnz as u64, a.values(), a.values_mut());
        let (a, b, guard) = (constant(factor.to_f64()), constant(0.0), UNGUARDED);
        self.launch(Work::on::<T>(n as usize, 2), &axpby { n, a, x, b, y: x, z, guard })
    }
    fn zeros_like(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        Ok(DeviceCsr { values: Buffer::zeroed(&self.device, a.size.nnz * size_of::<T>())?, ..a.clone() })
    }
    fn transpose(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let mut at = self.transposed_pattern(a)?;
        self.transpose_values(a, &mut at)?;
        Ok(at)
    }
    fn transpose_values(&self, a: &DeviceCsr<T>, at: &mut DeviceCsr<T>) -> Result<()> {
        self.transposed_values(a, at)
    }

    fn row_weights(&self, a: &DeviceCsr<T>, weight: RowWeight) -> Result<DeviceVector<T>> {
        self.weights_of_rows(a, weight)
    }
    fn inverse(&self, a: &DeviceCsr<T>, negligible: &dyn Fn(f64) -> f64) -> Result<Option<DeviceCsr<T>>> {
        self.inverse_of_definite(a, negligible)
    }
    fn limit(
        &self,
        a: &DeviceCsr<T>,
        g: &DeviceVector<T>,
        d: &DeviceVector<T>,
        limits: Limits<T>,
    ) -> Result<(DeviceVector<T>, DeviceVector<T>, usize)> {
        self.limited(a, g, d, limits)
    }
    fn noise(&self, d: &DeviceVector<T>, n: usize) -> Result<DeviceVector<T>> {
        let mut x = self.zeros(n)?;
        let block = block_of(d, &x) as u32;
        self.launch(n, &gpu_kernels::setup::noisy { n: n as u64, block, d: d.ptr(), x: x.ptr_mut() })?;
        Ok(x)
    }

    fn blocks(&self, a: &BlockCsr<T>) -> Result<Blocks<DeviceCsr<T>>> {
        self.upload_blocks(a)
    }
    fn norms(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceCsr<T>> {
        self.norms_of_blocks(a)
    }
    fn invert_diagonal(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceVector<T>> {
        match a.block() {
            1 => self.weights_of_rows(a.first(), RowWeight::InverseDiagonal),
            2 => self.inverted_blocks::<T, 2>(a),
            _ => self.inverted_blocks::<T, 3>(a),
        }
    }
    fn damp_blocks(&self, s: &mut Blocks<DeviceCsr<T>>, d: &DeviceVector<T>, omega: T) -> Result<()> {
        match s.block() {
            2 => self.damped_blocks::<T, 2>(s, d, omega),
            _ => self.damped_blocks::<T, 3>(s, d, omega),
        }
    }
    fn in_crs(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceMatrix<T>> {
        self.crs(a)
    }
}

impl<T: Real, S: Real> Mixed<T, S> for Gpu {
    fn operator(&self, a: &Blocks<DeviceCsr<T>>) -> Result<(DeviceMatrix<S>, Choice)> {
        self.in_chosen_format(a)
    }
    fn smoothing_operator(
        &self,
        a: &Blocks<DeviceCsr<T>>,
        pivot: Pivot,
    ) -> Result<(DeviceMatrix<S>, Choice, bool)> {
        let (matrix, choice) = self.in_chosen_format(a)?;
        let (matrix, packed) = self.packed(matrix, pivot)?;
        Ok((matrix, choice, packed))
    }
    fn cast(&self, x: &DeviceVector<T>, y: &mut DeviceVector<S>) -> Result<()> {
        self.rounded(x, y)
    }
    fn cast_scaled(
        &self,
        x: &DeviceVector<T>,
        omega: S,
        d: &DeviceVector<S>,
        y: &mut DeviceVector<S>,
        z: &mut DeviceVector<S>,
    ) -> Result<()> {
        if d.len > x.len {
            self.rounded(x, y)?;
            return self.scale_rows(omega, d, y, z);
        }
        let (n, guard) = (x.len as u64, self.guard());
        let (y, z) = (y.ptr_mut(), z.ptr_mut());
        let work = Work::on_both::<T, S>(x.len, 1, 3);
        self.launch(work, &round_scaled { n, x: x.ptr(), omega, d: d.ptr(), y, z, guard })
    }
    fn cg_step_and_cast(
        &self,
        step: &mut CgStep<T, Gpu>,
        scale: Option<(S, &DeviceVector<S>)>,
        y: &mut DeviceVector<S>,
        z: &mut DeviceVector<S>,
    ) -> Result<()> {
        let n = step.x.len;
        // Blocks on the diagonal take a pass of their own.
        let diagonal = scale.filter(|(_, d)| d.len == n);
        let entry = Entry {
            omega: diagonal.map_or(S::ZERO, |(omega, _)| omega),
            d: pointer_or_null(diagonal.map(|(_, d)| d)),
            y: y.ptr_mut(),
            z: z.ptr_mut(),
        };
        let bytes = size_of::<S>() * n * if diagonal.is_some() { 3 } else { 1 };
        self.cg_step_into(step, None, entry, bytes)?;
        match scale {
            Some((omega, d)) if diagonal.is_none() => self.scale_rows(omega, d, y, z),
            _ => Ok(()),
        }
    }
    fn cast_dot(
        &self,
        r: &DeviceVector<S>,
        z: &DeviceVector<T>,
        s: &DeviceScalars<S>,
        out: Slot,
    ) -> Result<()> {
        let (n, reduction, guard) = (r.len as u64, self.reduction(s, out), self.guard());
        let kernel = reduce::dot { n, x: r.ptr(), y: z.ptr(), reduction, guard };
        self.launch_reduction(Work::on_both::<T, S>(r.len, 1, 1), &kernel)
    }
    fn cast_direction(
        &self,
        s: &DeviceScalars<S>,
        z: &DeviceVector<T>,
        beta: Coef,
        p: &mut DeviceVector<S>,
    ) -> Result<()> {
        let (d, beta, guard) = (std::ptr::null(), coefficient(s, beta)?, self.guard());
        let kernel = krylov::direction { n: p.len as u64, d, z: z.ptr(), beta, p: p.ptr_mut(), guard };
        self.launch(Work::on_both::<T, S>(p.len, 1, 2), &kernel)
    }
}
