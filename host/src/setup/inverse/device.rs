//! [`Inverses`] on a device: Gauss and Jordan's method in tiles.

use std::marker::PhantomData;

use cuda_std::Real;
use cuda_std::warp::WARP_SIZE;
use gpu_kernels::setup::inverse::{TILE, dense_entries, dense_rows, dense_symmetry, gauss_jordan};

use super::Inverses;
use crate::backend::gpu::buffer::{Buffer, check_reach};
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::backend::{Memory, Slot};
use crate::error::Result;
use crate::setup::matrix::Size;
use crate::setup::matrix::device::DeviceCsr;

impl<T: Real> Inverses<T> for Gpu {
    /// Waits for the sizes of entries and pivots.
    fn inverse(&self, a: &DeviceCsr<T>, negligible: &dyn Fn(f64) -> f64) -> Result<Option<DeviceCsr<T>>> {
        let n = a.size.n_rows;
        let (n_rows, entries) = (n as u64, n * n);
        if n == 0 || check_reach(entries as u64).is_err() {
            return Ok(None);
        }
        let m = n.next_multiple_of(TILE);
        let (padded, tiles) = (m as u64, m / TILE);
        let mut from: DeviceVector<f64> = self.zeros(m * m)?;
        let mut to: DeviceVector<f64> = self.zeros(m * m)?;
        let dense = from.ptr_mut();
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe {
            self.launch(m * WARP_SIZE as usize, &dense_rows { n: n_rows, m: padded, a: a.rows(), dense })
        }?;

        let s = Memory::<f64>::scalars(self, 2)?;
        let reduction = self.reduction(&s, Slot(0));
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_resident(entries, &dense_symmetry { n: n_rows, m: padded, dense, reduction }) }?;
        let zero = negligible(Memory::<f64>::read(self, &s, Slot(0))?);
        let asymmetry: f64 = Memory::<f64>::read(self, &s, Slot(1))?;
        if asymmetry.is_nan() || asymmetry > zero {
            return Ok(None);
        }

        let mut pivots: DeviceVector<f64> = self.zeros(tiles)?;
        for step in 0..tiles as u64 {
            let pivots = pivots.ptr_mut();
            let kernel =
                gauss_jordan { n: n_rows, m: padded, step, from: from.ptr(), to: to.ptr_mut(), pivots };
            // SAFETY: the matrices are valid, and the arrays were made for their sizes.
            unsafe { self.launch_in_blocks_of((TILE * TILE) as u32, m * m, &kernel) }?;
            std::mem::swap(&mut from, &mut to);
        }
        if !pivots.to_host()?.iter().all(|&pivot| pivot > zero) {
            return Ok(None);
        }

        let inverse = DeviceCsr {
            size: Size { nnz: entries, ..a.size },
            row_ptr: Buffer::new(self.device(), (n + 1) * size_of::<u32>())?,
            col_idx: Buffer::new(self.device(), entries * size_of::<u32>())?,
            values: Buffer::new(self.device(), entries * size_of::<T>())?,
            element: PhantomData,
        };
        let kernel = dense_entries {
            n: n_rows,
            m: padded,
            dense: from.ptr(),
            row_ptr: inverse.row_ptr.address as *mut u32,
            col_idx: inverse.col_idx_mut(),
            values: inverse.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(entries + 1, &kernel) }?;
        Ok(Some(inverse))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::launch::sim::Sim;
    use crate::matrix::Csr;
    use crate::problem::generate;
    use crate::setup::matrix::Matrices;

    fn inverse<T: Real>(a: &Csr<f64>) -> Option<Csr<T>> {
        let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
        let a = gpu.csr(&Arc::new(a.cast::<T>())).unwrap();
        let inverse = gpu.inverse(&a, &|largest| 1e-6 * largest).unwrap();
        inverse.map(|inverse| inverse.to_host().unwrap())
    }

    /// `A A^-1 = I` for sizes below, at and beyond a tile's and a warp's.
    #[test]
    fn definite_matrices() {
        for problem in ["tet:3", "poisson2d:4", "poisson2d:7", "anisotropic:9:0.1"] {
            let a: Csr<f64> = generate(&problem.parse().unwrap(), 1).unwrap();
            let n = a.n_rows();
            let x = inverse::<f64>(&a).unwrap();
            let in_f32 = inverse::<f32>(&a).unwrap();
            assert_eq!((x.n_rows(), x.n_cols(), x.nnz()), (n, n, n * n));
            for j in 0..n {
                let column: Vec<f64> = (0..n).map(|i| x.row(i).1[j]).collect();
                for (i, product) in a.mul_vec(&column).into_iter().enumerate() {
                    let expected = f64::from(u8::from(i == j));
                    assert!((product - expected).abs() < 1e-10, "{problem}: {product} in {i}, {j}");
                    assert!((x.row(i).1[j] - f64::from(in_f32.row(i).1[j])).abs() < 1e-4);
                }
            }
        }
    }

    #[test]
    fn the_size_of_the_entries_does_not_matter() {
        let a: Csr<f64> = generate(&"tet:4".parse().unwrap(), 1).unwrap();
        for scale in [1e-12, 1e12] {
            let scaled = Csr::from_rows(
                a.n_rows(),
                a.n_cols(),
                |i| a.row_len(i),
                |i, columns, values| {
                    columns.copy_from_slice(a.row(i).0);
                    values.iter_mut().zip(a.row(i).1).for_each(|(value, v)| *value = scale * v);
                },
            );
            let found = inverse::<f64>(&scaled).unwrap();
            let expected = inverse::<f64>(&a).unwrap();
            for (found, expected) in found.values().iter().zip(expected.values()) {
                assert!((scale * found - expected).abs() < 1e-9, "{found} is not {expected} / {scale}");
            }
        }
    }

    #[test]
    fn others_are_left_to_the_host() {
        let of = |values: [f64; 4]| Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], values.to_vec()).unwrap();
        assert!(inverse::<f64>(&of([2.0, 1.0, 1.0, 2.0])).is_some());
        // Singular, indefinite, with a first pivot of 0, not symmetric, negative definite.
        for values in [
            [1.0, 1.0, 1.0, 1.0],
            [1.0, 2.0, 2.0, 1.0],
            [0.0, 1.0, 1.0, 1.0],
            [2.0, 1.0, 0.5, 2.0],
            [-2.0, 1.0, 1.0, -2.0],
        ] {
            assert!(inverse::<f64>(&of(values)).is_none(), "{values:?}");
        }
        assert!(inverse::<f64>(&Csr::new(0, 0, vec![0], vec![], vec![]).unwrap()).is_none());
    }
}
