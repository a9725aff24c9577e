//! [`StrengthOfConnection`] on a device.

use cuda_std::Real;
use gpu_kernels::setup::strength::{
    Classical, Criterion, Given, Symmetric, extract_diagonal, strong_entries, strong_lengths,
};

use super::{Strength, StrengthOfConnection};
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::error::Result;
use crate::setup::launch::{log2_lanes_for, mean};
use crate::setup::matrix::device::DeviceCsr;

impl<T: Real> StrengthOfConnection<T> for Gpu {
    fn strength(&self, a: &DeviceCsr<T>, strength: Strength) -> Result<DeviceCsr<T>> {
        let diagonal = self.diagonal(a)?;
        let diagonal = diagonal.ptr();
        match strength {
            Strength::Symmetric { epsilon, lumped } => {
                self.kept_entries(a, Symmetric { epsilon: T::from_f64(epsilon), diagonal }, lumped)
            }
            Strength::Classical { theta } => {
                self.kept_entries(a, Classical { theta: T::from_f64(theta), diagonal }, false)
            }
        }
    }

    fn strength_values(&self, a: &DeviceCsr<T>, lumped: bool, s: &mut DeviceCsr<T>) -> Result<()> {
        let diagonal = self.diagonal(a)?;
        let given = Given { col_idx: s.col_idx(), diagonal: diagonal.ptr() };
        self.keep(a, given, lumped, s, std::ptr::null_mut())
    }
}

impl Gpu {
    /// The diagonal, 0 where it is not stored.
    pub(in crate::setup) fn diagonal<T: Real>(&self, a: &DeviceCsr<T>) -> Result<DeviceVector<T>> {
        let mut diagonal = self.allocate(a.size.n_rows)?;
        let kernel = extract_diagonal {
            n: a.size.n_rows as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            values: a.values(),
            diagonal: diagonal.ptr_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(a, &kernel) }?;
        Ok(diagonal)
    }

    /// The matrix of the entries of `a` that `criterion` keeps.
    fn kept_entries<T: Real, C: Criterion<T>>(
        &self,
        a: &DeviceCsr<T>,
        criterion: C,
        lumped: bool,
    ) -> Result<DeviceCsr<T>> {
        let n = a.size.n_rows;
        let row_ptr = Buffer::new(self.device(), (n + 1) * size_of::<u32>())?;
        let lengths = strong_lengths {
            n: n as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            values: a.values(),
            criterion,
            lengths: row_ptr.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(a, &lengths) }?;
        let s = self.csr_of_lengths(row_ptr, n, a.size.n_cols)?;
        self.keep(a, criterion, lumped, &s, s.col_idx_mut())?;
        Ok(s)
    }

    /// Fills the values of `s`, and its columns where they are not null.
    fn keep<T: Real, C: Criterion<T>>(
        &self,
        a: &DeviceCsr<T>,
        criterion: C,
        lumped: bool,
        s: &DeviceCsr<T>,
        col_idx: *mut u32,
    ) -> Result<()> {
        /// Entries of a lane.
        const ENTRIES: f64 = 2.5;
        let log2_lanes = log2_lanes_for(mean(a.size) / ENTRIES, 1);
        let kernel = strong_entries {
            n: a.size.n_rows as u64,
            log2_lanes,
            a: a.pattern(),
            values: a.values(),
            criterion,
            lumped: lumped as u32,
            row_ptr: s.row_ptr(),
            col_idx,
            strong: s.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(a.size.n_rows << log2_lanes, &kernel) }
    }
}
