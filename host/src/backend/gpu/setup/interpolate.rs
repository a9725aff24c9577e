//! Interpolation from coarse unknowns.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::interpolate::{
    LANES, Rows, extended_divisors, extended_shares, extended_weights, restricted, restricted_lengths,
    row_means, subtract_scaled, truncated, truncated_lengths,
};

use super::super::memory::Buffer;
use super::super::{DeviceCsr, DeviceIndices, DeviceVector, Gpu};
use crate::backend::algebra::{RowWeight, Truncation};
use crate::error::Result;

/// The numbers of coarse unknowns, in ascending order, and how many there are.
struct Numbers {
    buffer: Arc<Buffer>,
    count: usize,
}

/// Which columns of a matrix [`Gpu::restriction`] keeps.
enum Columns<'a> {
    Fine,
    Coarse(&'a Numbers),
}

impl Gpu {
    /// See [`crate::backend::Algebra::averaging`].
    pub(in super::super) fn average_of_coarse<T: Real>(
        &self,
        s: &DeviceCsr<T>,
        coarse: &DeviceIndices,
    ) -> Result<DeviceCsr<T>> {
        let numbers = self.coarse_numbers(coarse)?;
        let p = self.restriction(s, coarse, Columns::Coarse(&numbers))?;
        let n = p.size.n_rows;
        self.launch(n, &row_means::<T> { n: n as u64, row_ptr: p.row_ptr(), values: p.values_mut() })?;
        Ok(p)
    }

    /// See [`crate::backend::Algebra::subtract_scaled`].
    pub(in super::super) fn without_scaled<T: Real>(
        &self,
        c: &DeviceCsr<T>,
        p: &DeviceCsr<T>,
        omega: T,
        d: &DeviceVector<T>,
    ) -> Result<()> {
        let n = c.size.n_rows;
        let (c, values) = (c.pattern(), c.values_mut());
        self.launch(n * LANES, &subtract_scaled { n: n as u64, p: rows(p), omega, d: d.ptr(), c, values })
    }

    /// See [`crate::backend::Algebra::extended_i`], and [`gpu_kernels::setup::interpolate`] for L, R and B.
    pub(in super::super) fn extended_plus_i<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        s: &DeviceCsr<T>,
        coarse: &DeviceIndices,
        truncation: Truncation,
    ) -> Result<DeviceCsr<T>> {
        let n = a.size.n_rows;
        let numbers = self.coarse_numbers(coarse)?;
        let l = self.restriction(s, coarse, Columns::Fine)?;
        let r = self.restriction(s, coarse, Columns::Coarse(&numbers))?;
        let p = self.product_pattern(&l, &r)?;
        drop(r);
        let b = self.restriction(a, coarse, Columns::Coarse(&numbers))?;
        // Only the signs are wanted.
        let diagonal = self.weights_of_rows(a, RowWeight::InverseDiagonal)?;
        let shares = l.with_new_values(&self.device)?;
        let to_diagonal = l.with_new_values(&self.device)?;
        let kernel = extended_shares {
            n: n as u64,
            a: rows(a),
            b: rows(&b),
            l: rows(&l),
            p: rows(&p),
            diagonal: diagonal.ptr(),
            shares: shares.values_mut(),
            to_diagonal: to_diagonal.values_mut(),
        };
        self.launch(n * LANES, &kernel)?;
        let divisors = Buffer::new(&self.device, n * size_of::<T>())?;
        let kernel = extended_divisors {
            n: n as u64,
            a: rows(a),
            s: rows(s),
            l: rows(&l),
            p: rows(&p),
            coarse: coarse.ptr(),
            numbers: numbers.buffer.address as *const u32,
            to_diagonal: to_diagonal.values(),
            divisors: divisors.address as *mut T,
        };
        self.launch(n, &kernel)?;
        let kernel = extended_weights {
            n: n as u64,
            b: rows(&b),
            l: rows(&shares),
            p: rows(&p),
            diagonal: diagonal.ptr(),
            coarse: coarse.ptr(),
            divisors: divisors.address as *const T,
            values: p.values_mut(),
        };
        self.launch(n * LANES, &kernel)?;
        self.truncated(&p, truncation)
    }

    fn coarse_numbers(&self, coarse: &DeviceIndices) -> Result<Numbers> {
        let bytes = coarse.len * size_of::<u32>();
        let buffer = Buffer::new(&self.device, bytes + size_of::<u32>())?;
        // SAFETY: both have so many bytes, and one was just allocated.
        unsafe { self.device.copy(buffer.address, coarse.buffer.address, bytes)? };
        let count = self.row_pointers(&buffer, coarse.len)? as usize;
        Ok(Numbers { buffer, count })
    }

    /// `a` without the other columns, a coarse row as one entry 1 in the column of its unknown.
    fn restriction<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        coarse: &DeviceIndices,
        columns: Columns,
    ) -> Result<DeviceCsr<T>> {
        let n = a.size.n_rows;
        let (wanted, n_cols, numbers) = match columns {
            Columns::Fine => (0, n, std::ptr::null()),
            Columns::Coarse(numbers) => (1, numbers.count, numbers.buffer.address as *const u32),
        };
        let lengths = Buffer::new(&self.device, (n + 1) * size_of::<u32>())?;
        let kernel = restricted_lengths {
            n: n as u64,
            a: a.pattern(),
            coarse: coarse.ptr(),
            wanted,
            lengths: lengths.address as *mut u32,
        };
        self.launch(n, &kernel)?;
        let to = self.of_lengths(lengths, n, n_cols)?;
        let kernel = restricted {
            n: n as u64,
            a: rows(a),
            coarse: coarse.ptr(),
            wanted,
            numbers,
            row_ptr: to.row_ptr(),
            col_idx: to.col_idx_mut(),
            values: to.values_mut(),
        };
        self.launch(n, &kernel)?;
        Ok(to)
    }

    fn truncated<T: Real>(&self, p: &DeviceCsr<T>, truncation: Truncation) -> Result<DeviceCsr<T>> {
        let n = p.size.n_rows;
        let lengths = Buffer::new(&self.device, (n + 1) * size_of::<u32>())?;
        let kernel = truncated_lengths {
            n: n as u64,
            p: rows(p),
            max_entries: truncation.max_entries.try_into().unwrap_or(u32::MAX),
            factor: T::from_f64(truncation.factor),
            lengths: lengths.address as *mut u32,
        };
        self.launch(n, &kernel)?;
        let to = self.of_lengths(lengths, n, p.size.n_cols)?;
        let kernel = truncated {
            n: n as u64,
            p: rows(p),
            row_ptr: to.row_ptr(),
            col_idx: to.col_idx_mut(),
            values: to.values_mut(),
        };
        self.launch(n, &kernel)?;
        Ok(to)
    }
}

pub(super) fn rows<T: Real>(a: &DeviceCsr<T>) -> Rows<T> {
    Rows { pattern: a.pattern(), values: a.values() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Memory;
    use crate::backend::algebra::{Algebra, Strength};
    use crate::backend::cpu::Cpu;
    use crate::backend::host_algebra::tests::samples;
    use crate::launch::sim::Sim;
    use crate::matrix::Csr;

    /// The patterns and bits of the host, for matrices of all kinds.
    fn matches_the_host<T: Real>() {
        let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
        let cpu = Cpu::new(1).unwrap();
        for a in samples() {
            let a = Arc::new(a.cast::<T>());
            let s = cpu.strength(&a, Strength::Classical { theta: 0.25 }).unwrap();
            let st = cpu.transpose(&s).unwrap();
            let coarse = cpu.independent_set(&s, Some(&st), 1, false, None).unwrap();
            let on_device = (gpu.csr(&a).unwrap(), gpu.csr(&s).unwrap());
            let coarse_there = Algebra::<T>::indices(&gpu, &coarse).unwrap();

            let expected = cpu.averaging(&s, &coarse).unwrap();
            let found = gpu.averaging(&on_device.1, &coarse_there).unwrap();
            assert_same(&found.to_host().unwrap(), &expected);
            for (max_entries, factor) in [(usize::MAX, 0.0), (1, 0.0), (4, 0.0), (3, 0.3), (usize::MAX, 0.2)]
            {
                let truncation = Truncation { max_entries, factor };
                let expected = cpu.extended_i(&a, &s, &coarse, truncation).unwrap();
                let found = gpu.extended_i(&on_device.0, &on_device.1, &coarse_there, truncation).unwrap();
                assert_same(&found.to_host().unwrap(), &expected);
            }
        }
    }

    #[test]
    fn scaled_matrices_are_subtracted_as_on_the_host() {
        let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
        let cpu = Cpu::new(1).unwrap();
        for a in samples() {
            let a = Arc::new(a);
            let n = a.n_rows();
            let aggregates: Vec<u32> = (0..n as u32).map(|i| i / 3).collect();
            let p = cpu.tentative(&aggregates, n.div_ceil(3)).unwrap();
            let mut expected = cpu.product(&a, &p).unwrap();
            let mut found = gpu.csr(&expected).unwrap();
            let mut d: Vec<f64> = (0..n).map(|i| 0.3 + 0.1 * (i as f64).sin()).collect();
            if let Some(d) = d.get_mut(n / 2) {
                *d = 0.0;
            }
            cpu.subtract_scaled(&mut expected, &p, 0.7, &d).unwrap();
            gpu.subtract_scaled(&mut found, &gpu.csr(&p).unwrap(), 0.7, &gpu.vector(&d).unwrap()).unwrap();
            assert_same(&found.to_host().unwrap(), &expected);
            // All of P is in the pattern of A P where A has its diagonal.
            let ap = cpu.product(&a, &p).unwrap();
            for i in (0..n).filter(|&i| i != n / 2 && a.row(i).0.contains(&(i as u32))) {
                let sum = |m: &Csr<f64>| m.row(i).1.iter().sum::<f64>();
                let difference = sum(&ap) - sum(&expected) - 1.0 / (0.7 * d[i]);
                assert!(difference.abs() < 1e-9 * (1.0 + sum(&ap).abs()), "row {i}: {difference}");
            }
        }
    }

    fn assert_same<T: Real>(found: &Csr<T>, expected: &Csr<T>) {
        assert_eq!(found.n_cols(), expected.n_cols());
        assert_eq!(found.row_ptr(), expected.row_ptr());
        assert_eq!(found.col_idx(), expected.col_idx());
        let bits = |a: &Csr<T>| a.values().iter().map(|v| v.to_f64().to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(found), bits(expected));
    }

    #[test]
    fn interpolations_match_the_host() {
        matches_the_host::<f32>();
        matches_the_host::<f64>();
    }
}
