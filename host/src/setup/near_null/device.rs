//! [`NearNullSpaces`] on a device.

use std::marker::PhantomData;
use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::near_null::{
    coarse_vector, gather, magnitudes, orthonormal, orthonormal_lengths, orthonormal_rows, put_vector,
};

use super::{NearNullSpaces, Orthonormal, OrthonormalOf, dependent};
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::error::Result;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::indices::DeviceIndices;
use crate::setup::{Size, Transposes};

impl<T: Real> NearNullSpaces<T> for Gpu {
    fn magnitudes(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        let result = a.with_new_values(self.device())?;
        let nnz = a.size.nnz;
        // SAFETY: both have that many values.
        unsafe {
            self.launch(nnz, &magnitudes::<T> { n: nnz as u64, x: a.values(), y: result.values_mut() })
        }?;
        Ok(result)
    }

    fn gather(&self, x: &DeviceIndices, at: &DeviceIndices) -> Result<DeviceIndices> {
        let y = DeviceIndices::new(self.device(), at.len)?;
        // SAFETY: the callers' indices are within x.
        unsafe {
            self.launch(at.len, &gather { n: at.len as u64, x: x.ptr(), at: at.ptr(), y: y.ptr_mut() })
        }?;
        Ok(y)
    }

    fn orthonormal(
        &self,
        tentative: &DeviceCsr<T>,
        vectors: &[DeviceVector<T>],
    ) -> Result<OrthonormalOf<T, Self>> {
        let count = tentative.size.n_cols;
        let factors = self.decomposed(&self.transpose(tentative)?, vectors)?;
        let n_coarse = self.row_pointers(&factors.first, count)? as usize;
        let p = self.orthonormal_p(tentative, &factors, vectors.len(), n_coarse)?;
        let (n, k) = (count as u64, vectors.len() as u32);
        let of_unknowns = DeviceIndices::new(self.device(), n_coarse)?;
        let coarse = |number: u32| {
            let mut x = self.allocate::<T>(n_coarse)?;
            let kernel = coarse_vector::<T> {
                aggregates: n,
                vectors: k,
                k: number,
                first: factors.first.address as *const u32,
                r: factors.r.address as *const f64,
                x: x.ptr_mut(),
                aggregate_of: of_unknowns.ptr_mut(),
            };
            // SAFETY: the arrays were made for these sizes.
            unsafe { self.launch(count, &kernel) }?;
            Ok(x)
        };
        let vectors = (0..k).map(coarse).collect::<Result<_>>()?;
        Ok(Orthonormal { p, vectors, aggregates: of_unknowns })
    }
}

/// Q and R of all aggregates.
struct Factors {
    q: Arc<Buffer>,
    r: Arc<Buffer>,
    /// The columns of each aggregate's Q, of which the first columns are made.
    first: Arc<Buffer>,
}

impl Gpu {
    fn decomposed<T: Real>(&self, members: &DeviceCsr<T>, vectors: &[DeviceVector<T>]) -> Result<Factors> {
        let (Size { n_rows: count, n_cols: rows, .. }, k) = (members.size, vectors.len());
        let f64s = |len: usize| Buffer::new(self.device(), len * size_of::<f64>());
        let (q, r) = (f64s(rows * k)?, f64s(count * k * k)?);
        let first = Buffer::new(self.device(), (count + 1) * size_of::<u32>())?;
        for (number, x) in (0..).zip(vectors) {
            let (n, q) = (rows as u64, q.address as *mut f64);
            let kernel = put_vector::<T> { n, vectors: k as u32, k: number, x: x.ptr(), q };
            // SAFETY: the vectors have an element for each row.
            unsafe { self.launch(rows, &kernel) }?;
        }
        let kernel = orthonormal {
            aggregates: count as u64,
            members: members.pattern(),
            vectors: k as u32,
            dependent: dependent::<T>(),
            q: q.address as *mut f64,
            r: r.address as *mut f64,
            ranks: first.address as *mut u32,
        };
        // SAFETY: each unknown is in one row of `members` at most, and the arrays were made for these sizes.
        unsafe { self.launch(count, &kernel) }?;
        Ok(Factors { q, r, first })
    }

    fn orthonormal_p<T: Real>(
        &self,
        tentative: &DeviceCsr<T>,
        factors: &Factors,
        vectors: usize,
        n_coarse: usize,
    ) -> Result<DeviceCsr<T>> {
        let rows = tentative.size.n_rows;
        let (tentative, n, vectors) = (tentative.pattern(), rows as u64, vectors as u32);
        let (first, q) = (factors.first.address as *const u32, factors.q.address as *const f64);
        let row_ptr = Buffer::new(self.device(), (rows + 1) * size_of::<u32>())?;
        let lengths = row_ptr.address as *mut u32;
        let instance = PhantomData::<(T,)>;
        let kernel = orthonormal_lengths { n, vectors, tentative, first, q, lengths, instance };
        // SAFETY: the arrays were made for these sizes.
        unsafe { self.launch(rows, &kernel) }?;
        let p: DeviceCsr<T> = self.csr_of_lengths(row_ptr, rows, n_coarse)?;
        let (row_ptr, col_idx, values) = (p.row_ptr(), p.col_idx_mut(), p.values_mut());
        let kernel = orthonormal_rows::<T> { n, vectors, tentative, first, q, row_ptr, col_idx, values };
        // SAFETY: the arrays were made for these sizes.
        unsafe { self.launch(rows, &kernel) }?;
        Ok(p)
    }
}
