//! [`Parts`] on a device: what is put together stays there, and what other ranks sent goes there.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::parts::{
    Choice, part_elements, part_entries, part_lengths, rows_in_places, take_numbers,
};

use super::Parts;
use crate::backend::Memory;
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::error::Result;
use crate::matrix::Csr;
use crate::parallel::*;
use crate::setup::matrix::device::{DeviceCsr, DeviceIndices};

impl<T: Real> Parts<T> for Gpu {
    fn put_together(
        &self,
        source: &[u32],
        a: &DeviceCsr<T>,
        places: &[u32],
        below: &Arc<Csr<T>>,
    ) -> Result<DeviceCsr<T>> {
        self.chosen(source, a, Some(places), below)
    }

    fn rows_to_host(&self, a: &DeviceCsr<T>, rows: &[u32]) -> Result<Arc<Csr<T>>> {
        let none = Csr::from_rows(0, a.size.n_cols, |_| 0, |_, _, _| ());
        self.chosen(rows, a, None, &none)?.to_host().map(Arc::new)
    }

    fn entries_of_rows(&self, a: &DeviceCsr<T>, rows: &[u32]) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        // Where each row begins, and where the next one does.
        let ends: Vec<u32> = rows.iter().flat_map(|&row| [row, row + 1]).collect();
        let places = DeviceIndices::from_slice(self.device(), &ends)?;
        let found = DeviceIndices::new(self.device(), ends.len())?;
        let kernel = take_numbers {
            n: ends.len() as u64,
            places: places.ptr(),
            all: a.row_ptr(),
            some: found.ptr_mut(),
        };
        // SAFETY: the matrix has those rows.
        unsafe { self.launch(ends.len(), &kernel) }?;
        Ok(found.to_host()?.chunks(2).map(|ends| u64::from(ends[1] - ends[0])).sum())
    }

    fn rows_in_places(&self, a: &DeviceCsr<T>, places: &[u32]) -> Result<Vec<u32>> {
        let places = DeviceIndices::from_slice(self.device(), places)?;
        let marks = DeviceIndices::new(self.device(), a.size.n_rows)?;
        let kernel = rows_in_places {
            n: a.size.n_rows as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            places: places.ptr(),
            marks: marks.ptr_mut(),
        };
        // SAFETY: the matrix is valid, and the arrays were made for its size.
        unsafe { self.launch_on_rows(a, &kernel) }?;
        let marks = marks.to_host()?;
        let rows = (0..marks.len() as u32).into_par_iter().with_min_len(MANY);
        Ok(rows.filter_collect(|&row| marks[row as usize] == 1))
    }

    fn elements(
        &self,
        source: &[u32],
        per_row: usize,
        v: &DeviceVector<T>,
        below: &[T],
    ) -> Result<DeviceVector<T>> {
        let lower = self.vector(below)?;
        let sources = DeviceIndices::from_slice(self.device(), source)?;
        let mut out = self.zeros(per_row * source.len())?;
        let kernel = part_elements {
            n: out.len() as u64,
            per_row: per_row as u64,
            source: sources.ptr(),
            n_upper: (v.len() / per_row) as u64,
            upper: v.ptr(),
            lower: lower.ptr(),
            out: out.ptr_mut(),
        };
        // SAFETY: the rows are those of v and of what is below.
        unsafe { self.launch(out.len(), &kernel) }?;
        Ok(out)
    }
}

impl Gpu {
    /// [`Parts::put_together`]; without places columns stay where they are.
    fn chosen<T: Real>(
        &self,
        source: &[u32],
        a: &DeviceCsr<T>,
        places: Option<&[u32]>,
        below: &Csr<T>,
    ) -> Result<DeviceCsr<T>> {
        let lower = DeviceCsr::upload(self.device(), below)?;
        let upload = |numbers: &[u32]| DeviceIndices::from_slice(self.device(), numbers);
        let (sources, places) = (upload(source)?, places.map(upload).transpose()?);
        let places = places.as_ref().map_or(std::ptr::null(), DeviceIndices::ptr);
        let choice = Choice { source: sources.ptr(), n_upper: a.size.n_rows as u64, places };
        let (rows, log2_lanes) = (source.len(), a.log2_lanes());
        let lengths = Buffer::new(self.device(), (rows + 1) * size_of::<u32>())?;
        let kernel = part_lengths {
            n: rows as u64,
            log2_lanes,
            choice,
            upper: a.pattern(),
            lower: lower.pattern(),
            lengths: lengths.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows << log2_lanes, &kernel) }?;
        let whole = self.csr_of_lengths::<T>(lengths, rows, below.n_cols())?;
        let kernel = part_entries::<T> {
            n: rows as u64,
            log2_lanes,
            choice,
            upper: a.rows(),
            lower: lower.rows(),
            row_ptr: whole.row_ptr(),
            columns: whole.col_idx_mut(),
            values: whole.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows << log2_lanes, &kernel) }?;
        Ok(whole)
    }
}
