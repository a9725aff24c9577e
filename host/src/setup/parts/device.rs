//! [`Parts`] on a device: what is put together stays there, and what other ranks sent goes there.

use std::ops::Range;
use std::ptr::null;

use cuda_std::Real;
use gpu_kernels::setup::parts::{
    Choice, Numbers, entries_at, mark_counted, mark_own, numbers_of_marked, numbers_through,
    numbers_through_runs, part_elements, part_entries, part_lengths, put_numbers, rows_in_places,
    take_numbers,
};
use gpu_kernels::setup::transpose::count_rows;
use gpu_kernels::setup::twins::list_rows;

use super::Parts;
use crate::backend::Memory;
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::matrix::log2_lanes as lanes_of;
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::comm::{Block, Inside, NOWHERE, Numbering, Runs};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::indices::DeviceIndices;
use crate::setup::others::{OnDevice, Others, only_alone};

impl<T: Real> Parts<T> for Gpu {
    fn put_together(
        &self,
        source: &Runs,
        a: &DeviceCsr<T>,
        places: &Runs,
        below: &DeviceCsr<T>,
    ) -> Result<DeviceCsr<T>> {
        let [rows, places] = [self.numbers(source)?, self.numbers(places)?];
        let choice = Choice { source: rows.0, n_upper: a.size.n_rows as u64, places: places.0 };
        // SAFETY: the rows are those of both matrices, and there is a place for each column.
        unsafe { self.chosen(choice, source.len(), a, below) }
    }

    fn for_other_ranks(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        a.shared()
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

    fn columns_with_entries(&self, a: &DeviceCsr<T>) -> Result<Vec<u32>> {
        let (nnz, columns) = (a.size.nnz, a.size.n_cols);
        let marks = Buffer::zeroed(self.device(), (columns + 1) * size_of::<u32>())?;
        let counts = marks.address as *mut u32;
        let count = count_rows { nnz: nnz as u64, columns: a.col_idx(), lengths: counts };
        // SAFETY: the matrix is valid, and there is a count for each column.
        unsafe {
            self.launch(nnz, &count)?;
            self.launch(columns, &mark_counted { n: columns as u64, counts })?;
        }
        self.listed(DeviceIndices { len: columns, buffer: marks })?.to_host()
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

    fn rows_in_places(&self, a: &DeviceCsr<T>, rows: &Runs, places: &Runs) -> Result<DeviceIndices> {
        self.rows_by_places(a, rows, places, false)
    }

    fn rows_outside(
        &self,
        a: &DeviceCsr<T>,
        rows: &Runs,
        inside: &Runs,
    ) -> Result<(DeviceIndices, DeviceCsr<T>)> {
        let columns = a.size.n_cols;
        let found = self.rows_by_places(a, rows, &inside.inverse(columns), true)?;
        let chosen = match rows.as_range() {
            Some(Range { start: 0, .. }) => found.clone(),
            // SAFETY: these are some of the rows.
            _ => unsafe { self.numbers_at(self.numbers_of_runs(rows)?.ptr(), &found)? },
        };
        let outside = inside.complement(columns);
        let (places, below) = (outside.inverse(columns), self.without_rows(outside.len())?);
        let (source, places) = (Numbers::of_table(chosen.ptr()), self.numbers(&places)?);
        let choice = Choice { source, n_upper: a.size.n_rows as u64, places: places.0 };
        // SAFETY: the matrix has these rows, and there is a place for each column.
        Ok((found.clone(), unsafe { self.chosen(choice, found.len, a, &below) }?))
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

    fn update_numbers(&self, numbers: &mut DeviceIndices, others: &Others) -> Result<()> {
        // SAFETY: there is a number for each unknown.
        unsafe { OnDevice::of(self, others)?.update(self, numbers.ptr_mut()) }
    }

    fn update_elements(&self, v: &mut DeviceVector<T>, others: &Others) -> Result<()> {
        let neighbours = others.neighbours(self)?.ok_or_else(|| only_alone("vectors through the host"))?;
        // SAFETY: there is an element for each unknown.
        unsafe { neighbours.update(self, v.ptr_mut()) }
    }

    fn owners(&self, unknowns: &Numbering) -> Result<DeviceIndices> {
        self.numbers_in_runs(unknowns.len(), &unknowns.owners(), 0)
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

    fn through_runs(&self, first: &DeviceIndices, second: &Runs) -> Result<DeviceIndices> {
        let (n, out) = (first.len, DeviceIndices::new(self.device(), first.len)?);
        let pairs = Buffer::from_slice(self.device(), second.runs().as_flattened())?;
        let kernel = numbers_through_runs {
            n: n as u64,
            first: first.ptr(),
            runs: second.runs().len() as u64,
            pairs: pairs.address as *const u32,
            out: out.ptr_mut(),
        };
        // SAFETY: the arrays were made for so many, and the first has indices of the second.
        unsafe { self.launch(n, &kernel) }?;
        Ok(out)
    }

    fn noise_of(&self, numbers: &Runs, d: &DeviceVector<T>, n: usize) -> Result<DeviceVector<T>> {
        self.noise_at(Some(&self.numbers_of_runs(numbers)?), d, n)
    }
}

impl Gpu {
    /// `n` rows that are chosen of two matrices.
    ///
    /// # Safety
    /// The rows are those of the matrices, `a` above, and there is a place for each column of `a`.
    unsafe fn chosen<T: Real>(
        &self,
        choice: Choice,
        n: usize,
        a: &DeviceCsr<T>,
        below: &DeviceCsr<T>,
    ) -> Result<DeviceCsr<T>> {
        let (lengths, log2_lanes) = (Buffer::new(self.device(), (n + 1) * size_of::<u32>())?, a.log2_lanes());
        let kernel = part_lengths {
            n: n as u64,
            log2_lanes,
            choice,
            upper: a.pattern(),
            lower: below.pattern(),
            lengths: lengths.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and there is room for so many lengths; and the caller's promise.
        unsafe { self.launch(n << log2_lanes, &kernel) }?;
        let whole = self.csr_of_lengths::<T>(lengths, n, below.size.n_cols)?;
        // Lanes go on together: a row is to take one step of theirs.
        let log2_lanes = lanes_of(a.size.n_rows, 4 * a.size.nnz);
        let kernel = part_entries::<T> {
            n: n as u64,
            log2_lanes,
            choice,
            upper: a.rows(),
            lower: below.rows(),
            row_ptr: whole.row_ptr(),
            columns: whole.col_idx_mut(),
            values: whole.values_mut(),
        };
        // SAFETY: as above, and there is room for the entries.
        unsafe { self.launch(n << log2_lanes, &kernel) }?;
        Ok(whole)
    }

    /// Which of these rows have an entry in a column with a place, or, `without` one, in one that has none.
    fn rows_by_places<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        rows: &Runs,
        places: &Runs,
        without: bool,
    ) -> Result<DeviceIndices> {
        let n = rows.len();
        let (marks, log2_lanes) = (self.room_for_one_more(n)?, a.log2_lanes());
        let [rows, places] = [self.numbers(rows)?, self.numbers(places)?];
        let kernel = rows_in_places {
            n: n as u64,
            log2_lanes,
            a: a.pattern(),
            rows: rows.0,
            places: places.0,
            without: without.into(),
            marks: marks.ptr_mut(),
        };
        // SAFETY: the matrix is valid and has these rows, and the arrays were made for their number.
        unsafe { self.launch(n << log2_lanes, &kernel) }?;
        self.listed(marks)
    }

    /// The places that are marked with 1, where there is room for one more mark; the marks are lost.
    fn listed(&self, marks: DeviceIndices) -> Result<DeviceIndices> {
        let n = marks.len;
        let count = self.row_pointers(&marks.buffer, n)? as usize;
        let found = self.room_for_one_more(count)?;
        let kernel = list_rows { n: n as u64, numbers: marks.ptr(), rows: found.ptr_mut() };
        // SAFETY: there is room for all that are marked, and one more.
        unsafe { self.launch(n, &kernel) }?;
        Ok(found)
    }

    /// Numbers for kernels, and the table that they may be in.
    pub(in crate::setup) fn numbers(&self, runs: &Runs) -> Result<(Numbers, Option<DeviceIndices>)> {
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
        Ok((Numbers::of_table(table.ptr()), Some(table)))
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

    /// Replaces the numbers of `all` at these places by what `change` makes of them on the host.
    ///
    /// # Safety
    /// As of [`Gpu::put_numbers_at`].
    pub(in crate::setup) unsafe fn change_numbers_at(
        &self,
        all: *mut u32,
        places: &DeviceIndices,
        change: impl FnOnce(&mut [u32]) -> Result<()>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            let mut on_host = self.numbers_at(all, places)?.to_host()?;
            change(&mut on_host)?;
            self.put_numbers_at(all, places, &on_host)
        }
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
