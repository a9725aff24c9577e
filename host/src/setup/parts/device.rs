//! [`Parts`] on a device: what is put together stays there, and what other ranks sent goes there.

use std::ptr::null;

use cuda_std::Real;
use gpu_kernels::setup::parts::{
    Choice, Numbers, entries_at, mark_own, numbers_of_marked, numbers_through, part_elements, part_entries,
    part_lengths, put_numbers, rows_in_places, take_numbers,
};
use gpu_kernels::setup::twins::list_rows;

use super::Parts;
use crate::backend::Memory;
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::matrix::log2_lanes as lanes_of;
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::comm::{Block, Inside, NOWHERE, Runs};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::Transposes;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::indices::DeviceIndices;

impl<T: Real> Parts<T> for Gpu {
    fn put_together(
        &self,
        source: &Runs,
        a: &DeviceCsr<T>,
        places: &Runs,
        below: &DeviceCsr<T>,
    ) -> Result<DeviceCsr<T>> {
        let rows = source.len();
        let ([source, places], log2_lanes) = ([self.numbers(source)?, self.numbers(places)?], a.log2_lanes());
        let choice = Choice { source: source.0, n_upper: a.size.n_rows as u64, places: places.0 };
        let lengths = Buffer::new(self.device(), (rows + 1) * size_of::<u32>())?;
        let kernel = part_lengths {
            n: rows as u64,
            log2_lanes,
            choice,
            upper: a.pattern(),
            lower: below.pattern(),
            lengths: lengths.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows << log2_lanes, &kernel) }?;
        let whole = self.csr_of_lengths::<T>(lengths, rows, below.size.n_cols)?;
        // Lanes go on together: a row is to take one step of theirs.
        let log2_lanes = lanes_of(a.size.n_rows, 4 * a.size.nnz);
        let kernel = part_entries::<T> {
            n: rows as u64,
            log2_lanes,
            choice,
            upper: a.rows(),
            lower: below.rows(),
            row_ptr: whole.row_ptr(),
            columns: whole.col_idx_mut(),
            values: whole.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows << log2_lanes, &kernel) }?;
        Ok(whole)
    }

    fn of_other_rank(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        a.copied_to(self)
    }

    /// Rows that are still in the whole matrix go to the device as they are, and are taken apart there.
    fn rows_inside(&self, rows: &Inside) -> Result<DeviceCsr<T>> {
        match (rows.block(), Parts::<T>::rows_there(self, rows)?) {
            (Some(Block { columns, .. }), Some(there)) => self.in_columns(&there, columns),
            _ => DeviceCsr::upload(self, &*Csr::in_type(rows.csr())),
        }
    }

    fn rows_there(&self, rows: &Inside) -> Result<Option<DeviceCsr<T>>> {
        let block = rows.block().and_then(|block| Some((block, block.a.of_type::<T>()?)));
        block.map(|(Block { rows, .. }, a)| DeviceCsr::upload_rows(self, a, rows.clone())).transpose()
    }

    /// The rows of the transpose that have entries.
    fn columns_with_entries(&self, a: &DeviceCsr<T>) -> Result<Vec<u32>> {
        self.rows_in_places(&self.transpose(a)?, &Runs::from(0..a.size.n_rows))
    }

    fn entries_at(&self, a: &DeviceCsr<T>, rows: &Runs, columns: &Runs) -> Result<Vec<T>> {
        let n = rows.len();
        let (rows, columns) = (self.numbers_of_runs(rows)?, self.numbers_of_runs(columns)?);
        let mut found = self.zeros(n)?;
        let kernel = entries_at::<T> {
            n: n as u64,
            a: a.rows(),
            rows: rows.ptr(),
            columns: columns.ptr(),
            out: found.ptr_mut(),
        };
        // SAFETY: the matrix has those rows, and there is a column beside each.
        unsafe { self.launch(n, &kernel) }?;
        self.to_host(&found)
    }

    fn entries_of_rows(&self, a: &DeviceCsr<T>, rows: &Runs) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        // Where each run begins, and where what is behind it does.
        let ends = rows.iter_runs().flat_map(|(first, count)| [first, first + count as u32]);
        let ends = DeviceIndices::from_slice(self.device(), &ends.collect::<Vec<u32>>())?;
        // SAFETY: the matrix has those rows.
        let found = unsafe { self.numbers_at(a.row_ptr(), &ends) }?.to_host()?;
        Ok(found.chunks(2).map(|ends| u64::from(ends[1] - ends[0])).sum())
    }

    fn rows_in_places(&self, a: &DeviceCsr<T>, places: &Runs) -> Result<Vec<u32>> {
        let (places, rows) = (self.numbers_of_runs(places)?, a.size.n_rows);
        let before = self.room_for_one_more(rows)?;
        let n = rows as u64;
        let kernel = rows_in_places {
            n,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            places: places.ptr(),
            marks: before.ptr_mut(),
        };
        // SAFETY: the matrix is valid, and the arrays were made for its size.
        unsafe { self.launch_on_rows(a, &kernel) }?;
        let count = self.row_pointers(&before.buffer, rows)? as usize;
        let found = self.room_for_one_more(count)?;
        let kernel = list_rows { n, numbers: before.ptr(), rows: found.ptr_mut() };
        // SAFETY: there is room for all that are marked, and one more.
        unsafe { self.launch(rows, &kernel) }?;
        found.to_host()
    }

    fn elements(
        &self,
        source: &Runs,
        per_row: usize,
        v: &DeviceVector<T>,
        below: &[T],
    ) -> Result<DeviceVector<T>> {
        let lower = self.vector(below)?;
        let sources = self.numbers_of_runs(source)?;
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

    fn picked(&self, all: &DeviceIndices, source: &Runs) -> Result<DeviceIndices> {
        // SAFETY: these are places of all.
        unsafe { self.numbers_at(all.ptr(), &self.numbers_of_runs(source)?) }
    }

    fn put_at(&self, all: &mut DeviceIndices, places: &Runs, numbers: &[u32]) -> Result<()> {
        let places = self.numbers_of_runs(places)?;
        // SAFETY: these are places of all, and none is there twice.
        unsafe { self.put_numbers_at(all.ptr_mut(), &places, numbers) }
    }

    fn marked_before(&self, marks: &DeviceIndices, own: &Runs) -> Result<DeviceIndices> {
        let n = marks.len;
        let own = self.numbers_of_runs(&own.inverse(n))?;
        let before = self.room_for_one_more(n)?;
        let kernel = mark_own { n: n as u64, own: own.ptr(), marks: marks.ptr(), out: before.ptr_mut() };
        // SAFETY: the arrays were made for so many.
        unsafe { self.launch(n, &kernel) }?;
        self.row_pointers(&before.buffer, n)?;
        Ok(DeviceIndices { len: n + 1, ..before })
    }

    fn of_marked(&self, before: &DeviceIndices, numbers: &Runs) -> Result<DeviceIndices> {
        let n = before.len - 1;
        let (numbers, out) = (self.numbers_of_runs(numbers)?, DeviceIndices::new(self.device(), n)?);
        let kernel = numbers_of_marked {
            n: n as u64,
            before: before.ptr(),
            numbers: numbers.ptr(),
            out: out.ptr_mut(),
        };
        // SAFETY: the arrays were made for so many, and there is a number for each that is marked.
        unsafe { self.launch(n, &kernel) }?;
        Ok(out)
    }

    fn through(&self, first: &DeviceIndices, second: &DeviceIndices) -> Result<DeviceIndices> {
        let (n, out) = (first.len, DeviceIndices::new(self.device(), first.len)?);
        let kernel =
            numbers_through { n: n as u64, first: first.ptr(), second: second.ptr(), out: out.ptr_mut() };
        // SAFETY: the arrays were made for so many, and the first has places of the second.
        unsafe { self.launch(n, &kernel) }?;
        Ok(out)
    }

    fn noise_of(&self, numbers: &Runs, d: &DeviceVector<T>, n: usize) -> Result<DeviceVector<T>> {
        self.noise_at(Some(&self.numbers_of_runs(numbers)?), d, n)
    }
}

impl Gpu {
    /// Numbers for kernels, and the table that they may be in.
    fn numbers(&self, runs: &Runs) -> Result<(Numbers, Option<DeviceIndices>)> {
        let mut first = 0;
        let mut some = runs.iter_runs().filter_map(|(number, count)| {
            first += count as u32;
            (number != NOWHERE).then_some((first - count as u32, count as u32, number))
        });
        let (one, more) = (some.next().unwrap_or_default(), some.next());
        if more.is_none() {
            let (first, count, number) = one;
            return Ok((Numbers { table: null(), first, count, number }, None));
        }
        let table = self.numbers_of_runs(runs)?;
        Ok((Numbers { table: table.ptr(), first: 0, count: 0, number: 0 }, Some(table)))
    }

    /// So many numbers, undefined, with room for one more behind them.
    fn room_for_one_more(&self, n: usize) -> Result<DeviceIndices> {
        Ok(DeviceIndices { len: n, ..DeviceIndices::new(self.device(), n + 1)? })
    }

    /// The numbers of `all` at these places.
    ///
    /// # Safety
    /// There are such places in `all`, which are in memory of this device.
    pub(in crate::setup) unsafe fn numbers_at(
        &self,
        all: *const u32,
        places: &DeviceIndices,
    ) -> Result<DeviceIndices> {
        let (n, some) = (places.len, DeviceIndices::new(self.device(), places.len)?);
        let kernel = take_numbers { n: n as u64, places: places.ptr(), all, some: some.ptr_mut() };
        // SAFETY: the caller's promise.
        unsafe { self.launch(n, &kernel) }?;
        Ok(some)
    }

    /// Replaces the numbers of `all` at these places by as many others.
    ///
    /// # Safety
    /// As of [`Gpu::numbers_at`], and no place is there twice.
    pub(in crate::setup) unsafe fn put_numbers_at(
        &self,
        all: *mut u32,
        places: &DeviceIndices,
        numbers: &[u32],
    ) -> Result<()> {
        debug_assert_eq!(places.len, numbers.len());
        let (n, some) = (places.len, DeviceIndices::from_slice(self.device(), numbers)?);
        let kernel = put_numbers { n: n as u64, places: places.ptr(), some: some.ptr(), all };
        // SAFETY: the caller's promise.
        unsafe { self.launch(n, &kernel) }
    }
}
