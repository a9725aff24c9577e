//! Matrices with few different values, as [`gpu_kernels::spmv::coded`] has them.

use std::any::TypeId;

use arithmetic::coding::{Coding, MOST_VALUES};
use cuda_std::Real;
use gpu_kernels::setup::convert::reach;
use gpu_kernels::setup::dictionary::{EMPTY, SLOTS, collect_values, encode};

use super::buffer::download;
use super::matrix::{DeviceMatrix, Layout, Slices};
use super::{Buffer, Gpu, Work};
use crate::backend::{Memory, Slot};
use crate::error::Result;

/// With fewer entries the launches that look for values cost more than an iteration reads.
const WORTHWHILE_ENTRIES: usize = 1 << 18;

impl Gpu {
    /// [`Gpu::encode`], where the matrix is large enough to gain by it.
    pub(crate) fn encode_large<T: Real>(&self, matrix: DeviceMatrix<T>) -> Result<DeviceMatrix<T>> {
        if matrix.nnz < WORTHWHILE_ENTRIES { Ok(matrix) } else { self.encode(matrix) }
    }

    /// `matrix` with the numbers of its values in place of them, if it is in reduced SELL and in f64, and has
    /// few different ones. Waits for how many it has.
    pub(crate) fn encode<T: Real>(&self, matrix: DeviceMatrix<T>) -> Result<DeviceMatrix<T>> {
        let Layout::Sell { slices, bases: None } = &matrix.layout else { return Ok(matrix) };
        if TypeId::of::<T>() != TypeId::of::<f64>() {
            return Ok(matrix);
        }
        let Some(values) = self.different_values(&matrix)? else { return Ok(matrix) };
        let Some(coding) = Coding::of(self.reach(&matrix, slices, std::ptr::null_mut())?, values.len())
        else {
            return Ok(matrix);
        };
        let table = Buffer::from_slice(self.device(), &values)?;
        let kernel = encode {
            n_rows: matrix.n_rows as u64,
            slice_ptr: slices.pointers(),
            permutation: slices.permutation(),
            coding,
            columns: matrix.col_idx.address as *mut u32,
            values: matrix.values.address as *const f64,
            table: table.address as *const u64,
            count: values.len() as u32,
        };
        let stored = matrix.col_idx.bytes() as usize / size_of::<u32>();
        let work = Work::moving(matrix.n_rows, (stored * (2 * size_of::<u32>() + size_of::<f64>())) as u64);
        // SAFETY: the matrix is valid, the table has its values, and nobody else has its columns.
        unsafe { self.launch(work, &kernel) }?;
        let layout = Layout::Coded { coding, slices: slices.clone() };
        let reason = matrix.reason.map(|reason| format!("{reason}, {} different values", values.len()));
        Ok(DeviceMatrix { layout, values: table, reason, ..matrix })
    }

    /// The bits of the different values, ascending; none where there are more than [`MOST_VALUES`].
    fn different_values<T: Real>(&self, matrix: &DeviceMatrix<T>) -> Result<Option<Vec<u64>>> {
        let slots = Buffer::from_slice(self.device(), &[EMPTY; SLOTS])?;
        let found = Buffer::zeroed(self.device(), size_of::<u32>())?;
        let n = matrix.values.bytes() / size_of::<f64>() as u64;
        let values = matrix.values.address as *const f64;
        let kernel =
            collect_values { n, values, slots: slots.address as *const _, found: found.address as *const _ };
        // SAFETY: the arrays were made for these sizes.
        unsafe { self.launch(Work::on::<f64>(n as usize, 1), &kernel) }?;
        if download(&found, 1, 0u32)?[0] as usize > MOST_VALUES {
            return Ok(None);
        }
        let mut values = download(&slots, SLOTS, EMPTY)?;
        values.retain(|&bits| bits != EMPTY);
        values.sort_unstable();
        Ok(Some(values))
    }

    /// How far the columns of a matrix in these slices are from the pivots of their rows: from the diagonal
    /// where `pivots` is null, else from the columns of the largest entries in f32, which are put there.
    pub(crate) fn reach<T: Real>(
        &self,
        matrix: &DeviceMatrix<T>,
        slices: &Slices,
        pivots: *mut u32,
    ) -> Result<u32> {
        let s = Memory::<f64>::scalars(self, 1)?;
        let kernel = reach {
            n_rows: matrix.n_rows as u64,
            slice_ptr: slices.pointers(),
            permutation: slices.permutation(),
            columns: matrix.col_idx.address as *const u32,
            values: matrix.values.address as *const f32,
            pivots,
            reduction: self.reduction(&s, Slot(0)),
        };
        // SAFETY: the matrix is valid, and has a place for the pivot of each row; without pivots its values
        // are not read.
        unsafe { self.launch_resident(matrix.n_rows, &kernel) }?;
        Ok(Memory::<f64>::read(self, &s, Slot(0))? as u32)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::backend::{Column, Products, Then, Vectors};
    use crate::launch::sim::Sim;
    use crate::matrix::{AnyMatrix, Csr, Sell};
    use crate::problem::random::uniform;

    fn gpu() -> Gpu {
        Gpu::new(Arc::new(Sim::strict())).unwrap()
    }

    /// A matrix of `n` rows with up to 11 entries each, `apart` columns from the next, of so many different
    /// values, both zeros among them.
    fn with_values(n: usize, apart: usize, different: usize) -> Csr<f64> {
        let value = |k: usize| match k % different {
            0 => 0.0,
            1 => -0.0,
            k => (0.3 * k as f64).sin(),
        };
        let (mut row_ptr, mut columns, mut values) = (vec![0], vec![], vec![]);
        for i in 0..n {
            let row = (0..i % 12).map(|j| (i + (j * apart)) as u32).filter(|&j| (j as usize) < n);
            columns.extend(row);
            row_ptr.push(columns.len());
            values.extend((values.len()..columns.len()).map(value));
        }
        Csr::new(n, n, row_ptr, columns, values).unwrap()
    }

    /// In reduced SELL as it is, and encoded.
    fn both(gpu: &Gpu, a: &Csr<f64>, sigma: usize) -> [DeviceMatrix<f64>; 2] {
        let a = AnyMatrix::Sell(Sell::from_csr(a, sigma).unwrap());
        let plain = || DeviceMatrix::upload(gpu.device(), &a).unwrap();
        [plain(), gpu.encode(plain()).unwrap()]
    }

    fn is_coded<T>(matrix: &DeviceMatrix<T>) -> bool {
        matches!(matrix.layout, Layout::Coded { .. })
    }

    #[test]
    fn products_have_the_bits_of_plain_ones() {
        let gpu = gpu();
        for (n, sigma) in [(1, 1), (31, 1), (33, 32), (64, 1), (700, 64), (1030, 1)] {
            let matrices = both(&gpu, &with_values(n, 3, 700), sigma);
            assert_eq!(matrices.each_ref().map(is_coded), [false, true], "{n}");
            let vector = |seed| (0..n as u64).map(|i| uniform(seed, i) - 0.5).collect::<Vec<f64>>();
            let [x, b, d] = [1, 2, 3].map(|seed| gpu.vector(&vector(seed)).unwrap());
            let [plain, coded] = matrices.each_ref().map(|a| {
                let [mut y, mut r, mut swept] = [(); 3].map(|()| gpu.zeros(n).unwrap());
                for y in [&mut y, &mut r, &mut swept] {
                    gpu.fill(f64::NAN, y).unwrap();
                }
                gpu.multiply(a, &x, Then::Store { y: &mut y }).unwrap();
                gpu.multiply(a, &x, Then::Residual { b: &b, r: &mut r }).unwrap();
                gpu.multiply(a, &x, Then::Sweep { omega: 0.7, d: &d, b: &b, y: &mut swept }).unwrap();
                [y, r, swept].map(|v| v.to_host().unwrap().into_iter().map(f64::to_bits).collect::<Vec<_>>())
            });
            assert_eq!(plain, coded, "{n}");
        }
    }

    #[test]
    fn several_columns_have_the_bits_of_one() {
        let (gpu, n) = (gpu(), 333);
        let [plain, coded] = both(&gpu, &with_values(n, 5, 40), 1);
        for columns in [2, 4, 5, 8, 11] {
            let x: Vec<_> = (0..columns)
                .map(|c| gpu.vector(&(0..n as u64).map(|i| uniform(c, i)).collect::<Vec<f64>>()).unwrap())
                .collect();
            let mut together: Vec<_> = x.iter().map(|_| gpu.zeros(n).unwrap()).collect();
            let parts = x.iter().zip(&mut together);
            let parts = parts.map(|(x, y)| Column { backend: &gpu, x, then: Then::Store { y } }).collect();
            Gpu::multiply_columns(&coded, parts).unwrap();
            for (x, y) in x.iter().zip(together) {
                let mut expected = gpu.zeros(n).unwrap();
                gpu.multiply(&plain, x, Then::Store { y: &mut expected }).unwrap();
                assert_eq!(y.to_host().unwrap(), expected.to_host().unwrap());
            }
        }
    }

    #[test]
    fn many_values_stay_as_they_are() {
        let gpu = gpu();
        for (different, expected) in [(MOST_VALUES, true), (MOST_VALUES + 1, false), (20_000, false)] {
            let [_, matrix] = both(&gpu, &with_values(1500, 1, different), 1);
            assert_eq!(is_coded(&matrix), expected, "{different}");
        }
    }

    #[test]
    fn what_is_far_from_the_diagonal_leaves_no_bits_for_many_values() {
        let (gpu, n) = (gpu(), 1 << 22);
        for (different, expected) in [(3, true), (512, true), (513, false)] {
            let columns = (n - different..n).map(|j| j as u32).collect();
            let values = (0..different).map(|k| k as f64).collect();
            let a = Csr::new(1, n, vec![0, different], columns, values).unwrap();
            assert_eq!(is_coded(&both(&gpu, &a, 1)[1]), expected, "{different}");
        }
    }
}
