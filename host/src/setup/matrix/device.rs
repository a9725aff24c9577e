//! [`Matrices`] in device memory: CRS with 32-bit row pointers.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use cuda_std::Real;
use cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};
use gpu_kernels::blas1::axpby;
use gpu_kernels::setup::blocks::{MAX_PLANES, Planes};
use gpu_kernels::setup::check::check_rows;
use gpu_kernels::setup::interpolate::Rows;
use gpu_kernels::setup::parts::narrow_pointers;
use gpu_kernels::setup::sub_warp::Pattern;

use super::indices::DeviceIndices;
use super::{Blocks, Matrices, Size};
use crate::backend::gpu::buffer::{Buffer, check_reach, download};
use crate::backend::gpu::matrix::log2_lanes;
use crate::backend::gpu::transfer;
use crate::backend::gpu::{Gpu, UNGUARDED, Work, check_memory, constant};
use crate::error::{Error, Result};
use crate::launch::Launch;
use crate::matrix::Csr;

/// A CRS matrix in device memory, columns ascending within a row.
#[derive(Clone)]
pub struct DeviceCsr<T> {
    pub(crate) size: Size,
    /// `n_rows + 1` of 32 bits.
    pub(crate) row_ptr: Arc<Buffer>,
    pub(crate) col_idx: Arc<Buffer>,
    pub(in crate::setup) values: Arc<Buffer>,
    pub(in crate::setup) element: PhantomData<T>,
}

impl<T: Real> DeviceCsr<T> {
    /// Whether a device has room for a copy of so many rows and entries.
    pub(crate) fn has_room(gpu: &Gpu, n_rows: usize, nnz: usize) -> bool {
        let bytes = Self::bytes_of(n_rows, nnz);
        check_reach(nnz as u64).is_ok() && check_memory(&**gpu.device(), &[("matrix", bytes)]).is_ok()
    }

    /// Bytes of so many rows and entries.
    pub(crate) fn bytes_of(n_rows: usize, nnz: usize) -> u64 {
        ((size_of::<u32>() + size_of::<T>()) * nnz + size_of::<u32>() * n_rows) as u64
    }

    /// Copies `a` to the device. [`Error::Matrix`](crate::Error::Matrix) where its entries are more than
    /// 32-bit row pointers reach.
    pub(crate) fn upload(gpu: &Gpu, a: &Csr<T>) -> Result<Self> {
        Self::upload_rows(gpu, a, 0..a.n_rows())
    }

    /// The same of some rows.
    pub(crate) fn upload_rows(gpu: &Gpu, a: &Csr<T>, rows: Range<usize>) -> Result<Self> {
        let copy = Self::with_room_for(gpu, a, rows.clone())?;
        copy.fill(gpu, a, rows)?;
        Ok(copy)
    }

    /// The matrix with these row pointers, columns and values.
    pub(crate) fn of_arrays(size: Size, [row_ptr, col_idx, values]: [&Arc<Buffer>; 3]) -> Self {
        let (row_ptr, col_idx, values) = (row_ptr.clone(), col_idx.clone(), values.clone());
        DeviceCsr { size, row_ptr, col_idx, values, element: PhantomData }
    }

    /// A matrix that is nothing yet, with room for some rows of `a`.
    pub(crate) fn with_room_for(gpu: &Gpu, a: &Csr<T>, rows: Range<usize>) -> Result<Self> {
        let (row_ptr, device) = (a.row_ptr(), gpu.device());
        let nnz = row_ptr[rows.end] - row_ptr[rows.start];
        check_reach(nnz as u64)?;
        Ok(DeviceCsr {
            size: Size { n_rows: rows.len(), n_cols: a.n_cols(), nnz },
            row_ptr: Buffer::new(device, (rows.len() + 1) * size_of::<u32>())?,
            col_idx: Buffer::new(device, nnz * size_of::<u32>())?,
            values: Buffer::new(device, nnz * size_of::<T>())?,
            element: PhantomData,
        })
    }

    /// Copies these rows of `a`, for which there is room. The host's row pointers go over as they are: to
    /// shorten them there takes longer than twice the bytes.
    pub(crate) fn fill(&self, gpu: &Gpu, a: &Csr<T>, rows: Range<usize>) -> Result<()> {
        let DeviceCsr { size, row_ptr, col_idx, values, .. } = self;
        let entries = a.row_ptr()[rows.start]..a.row_ptr()[rows.end];
        assert_eq!((rows.len(), entries.len()), (size.n_rows, size.nnz), "there is room for other rows");
        let pointers: &[u64] = bytemuck::cast_slice(&a.row_ptr()[rows.start..=rows.end]);
        let wide = Buffer::from_slice(gpu.device(), pointers)?;
        let n = pointers.len();
        let kernel = narrow_pointers {
            n: n as u64,
            wide: wide.address as *const u64,
            out: row_ptr.address as *mut u32,
        };
        // SAFETY: both have so many elements. There is room for the entries, as asserted above.
        unsafe {
            gpu.launch(n, &kernel)?;
            transfer::upload(&**gpu.device(), col_idx.address, &a.col_idx()[entries.clone()])?;
            transfer::upload(&**gpu.device(), values.address, &a.values()[entries])
        }
    }

    /// Makes buffers a matrix of `n_cols` columns: `row_ptr` with a number more than rows, and column and
    /// value of each entry. Nothing is copied. What was queued to write them must be complete, or be on the
    /// stream of `gpu`.
    ///
    /// # Errors
    /// [`Error::Matrix`] with the row where the arrays are no matrix, columns ascending strictly within a
    /// row; [`Error::Device`] where the buffers are of another context than that of `gpu`.
    pub fn adopt(
        gpu: &Gpu,
        n_cols: usize,
        row_ptr: DeviceBuffer<u32>,
        col_idx: DeviceBuffer<u32>,
        values: DeviceBuffer<T>,
    ) -> Result<Self>
    where
        T: DeviceCopy,
    {
        let (pointers, columns, nnz) = (row_ptr.len(), col_idx.len(), values.len());
        if pointers == 0 || columns != nnz || pointers == 1 && nnz > 0 {
            return Err(Error::Matrix(format!(
                "{pointers} row pointers, {columns} columns and {nnz} values are no matrix: there is one row \
                 pointer more than rows, and a column for each value"
            )));
        }
        check_reach(nnz as u64)?;
        let a = DeviceCsr {
            size: Size { n_rows: pointers - 1, n_cols, nnz },
            row_ptr: gpu.adopt_buffer(row_ptr)?,
            col_idx: gpu.adopt_buffer(col_idx)?,
            values: gpu.adopt_buffer(values)?,
            element: PhantomData,
        };
        a.check_rows(gpu)?;
        Ok(a)
    }

    /// A matrix in memory that stays its owner's, of `n_rows` rows, `n_cols` columns and `nnz` entries.
    ///
    /// # Safety
    /// The pointers are aligned, and so many elements of the context of `gpu` are there: `n_rows + 1` row
    /// pointers, `nnz` columns and values. They stay there until the matrix is gone, and what was made of it
    /// with them. Meanwhile nothing else writes them, but for work on the stream of `gpu`.
    ///
    /// # Errors
    /// [`Error::Matrix`] as for [`DeviceCsr::adopt`].
    pub unsafe fn borrow(
        gpu: &Gpu,
        (n_rows, n_cols, nnz): (usize, usize, usize),
        row_ptr: DevicePointer<u32>,
        col_idx: DevicePointer<u32>,
        values: DevicePointer<T>,
    ) -> Result<Self>
    where
        T: DeviceCopy,
    {
        check_reach(nnz as u64)?;
        let borrowed = |address, bytes| {
            // SAFETY: the caller's promise.
            unsafe { Buffer::owned_by(gpu.device(), address, bytes, Box::new(())) }
        };
        let a = DeviceCsr {
            size: Size { n_rows, n_cols, nnz },
            row_ptr: borrowed(row_ptr.as_raw(), (n_rows + 1) * size_of::<u32>()),
            col_idx: borrowed(col_idx.as_raw(), nnz * size_of::<u32>()),
            values: borrowed(values.as_raw(), nnz * size_of::<T>()),
            element: PhantomData,
        };
        a.check_rows(gpu)?;
        Ok(a)
    }

    /// Refuses what is no matrix, of arrays of the right lengths.
    fn check_rows(&self, gpu: &Gpu) -> Result<()> {
        let Size { n_rows, n_cols, nnz } = self.size;
        let faults = Buffer::zeroed(gpu.device(), size_of::<u32>())?;
        let kernel = check_rows {
            n: n_rows as u64,
            log2_lanes: self.log2_lanes(),
            n_cols: n_cols as u64,
            nnz: nnz as u64,
            a: self.pattern(),
            faults: faults.address as *mut u32,
        };
        // SAFETY: the arrays have the lengths that the kernel is told, and it trusts nothing that is in them.
        unsafe { gpu.launch_on_rows(self, &kernel) }?;
        match download(&faults, 1, 0u32)?[0] {
            0 => Ok(()),
            // The host says which row it is, and what is wrong there.
            count => {
                let unknown = || Err(Error::Matrix(format!("{count} rows break the rules of CRS")));
                let (row_ptr, col_idx, values) = self.arrays()?;
                Csr::new(self.size.n_rows, n_cols, row_ptr, col_idx, values).and_then(|_| unknown())
            }
        }
    }

    /// It in memory that other devices can use too, where it is so large that copies which other devices make
    /// would take longer than that.
    pub(in crate::setup) fn shared(&self) -> Result<Self> {
        const LARGE: u64 = 16 << 20;
        if self.bytes() < LARGE {
            return Ok(self.clone());
        }
        let DeviceCsr { row_ptr, col_idx, values, .. } = self;
        let [row_ptr, col_idx, values] = [row_ptr, col_idx, values].map(|buffer| buffer.shared_copy());
        Ok(DeviceCsr::of_arrays(self.size, [&row_ptr?, &col_idx?, &values?]))
    }

    /// It in memory of the device of `gpu`, if it is on another one, which has finished it.
    pub(in crate::setup) fn copied_to(&self, gpu: &Gpu) -> Result<Self> {
        let DeviceCsr { row_ptr, col_idx, values, .. } = self;
        if row_ptr.device().identity() == gpu.device().identity() {
            return Ok(self.clone());
        }
        let [row_ptr, col_idx, values] =
            [row_ptr, col_idx, values].map(|buffer| Buffer::copied(gpu.device(), buffer));
        // What is copied may be given back then, also where one of them was not.
        gpu.device().synchronize()?;
        Ok(DeviceCsr::of_arrays(self.size, [&row_ptr?, &col_idx?, &values?]))
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        [&self.row_ptr, &self.col_idx, &self.values].iter().map(|buffer| buffer.bytes()).sum()
    }

    /// A matrix of this pattern with undefined values.
    pub(in crate::setup) fn with_new_values(&self, device: &Arc<dyn Launch>) -> Result<Self> {
        Ok(DeviceCsr { values: Buffer::new(device, self.size.nnz * size_of::<T>())?, ..self.clone() })
    }

    pub(in crate::setup) fn to_host(&self) -> Result<Csr<T>> {
        let (row_ptr, col_idx, values) = self.arrays()?;
        // What others gave was checked where it was adopted.
        Ok(Csr::from_valid_parts(self.size.n_rows, self.size.n_cols, row_ptr, col_idx, values))
    }

    /// Some of the rows, in groups that are far apart, with all values 0, on the host.
    pub(crate) fn pattern_of_some(&self) -> Result<Csr<T>> {
        const GROUPS: usize = 16;
        const ROWS: usize = 512;
        let (n, n_cols) = (self.size.n_rows, self.size.n_cols);
        let (mut ends, mut columns) = (vec![0], Vec::new());
        let groups = n.div_ceil(ROWS).min(GROUPS);
        for group in 0..groups {
            let first = if n <= GROUPS * ROWS { group * ROWS } else { group * (n / GROUPS) };
            let count = ROWS.min(n - first);
            let mut pointers = vec![0u32; count + 1];
            let device = self.row_ptr.device();
            let word = size_of::<u32>() as u64;
            // SAFETY: the matrix has these rows, and so many entries.
            let those = unsafe {
                transfer::download(&**device, &mut pointers, self.row_ptr.address + word * first as u64)?;
                let mut those = vec![0u32; (pointers[count] - pointers[0]) as usize];
                let from = self.col_idx.address + word * u64::from(pointers[0]);
                transfer::download(&**device, &mut those, from)?;
                those
            };
            let before = columns.len();
            ends.extend(pointers[1..].iter().map(|end| before + (end - pointers[0]) as usize));
            columns.extend(those);
        }
        let values = vec![T::ZERO; columns.len()];
        Ok(Csr::from_valid_parts(ends.len() - 1, n_cols, ends, columns, values))
    }

    /// Row pointers, columns and values, on the host.
    fn arrays(&self) -> Result<(Vec<usize>, Vec<u32>, Vec<T>)> {
        let row_ptr = download(&self.row_ptr, self.size.n_rows + 1, 0u32)?;
        let row_ptr = row_ptr.into_iter().map(|p| p as usize).collect();
        let col_idx = download(&self.col_idx, self.size.nnz, 0u32)?;
        Ok((row_ptr, col_idx, download(&self.values, self.size.nnz, T::ZERO)?))
    }

    pub(crate) fn row_ptr(&self) -> *const u32 {
        self.row_ptr.address as *const u32
    }
    pub(in crate::setup) fn col_idx(&self) -> *const u32 {
        self.col_idx.address as *const u32
    }
    pub(crate) fn col_idx_mut(&self) -> *mut u32 {
        self.col_idx.address as *mut u32
    }
    pub(crate) fn values(&self) -> *const T {
        self.values.address as *const T
    }
    pub(crate) fn values_mut(&self) -> *mut T {
        self.values.address as *mut T
    }
}

impl<T: Real> DeviceCsr<T> {
    /// The pattern, for kernels.
    pub(crate) fn pattern(&self) -> Pattern {
        Pattern { row_ptr: self.row_ptr(), col_idx: self.col_idx() }
    }

    /// Pattern and values, for kernels.
    pub(in crate::setup) fn rows(&self) -> Rows<T> {
        Rows { pattern: self.pattern(), values: self.values() }
    }

    /// Logarithm of the number of lanes that share a row.
    pub(crate) fn log2_lanes(&self) -> u32 {
        log2_lanes(self.size.n_rows, self.size.nnz)
    }
}

impl<T: Real> Blocks<DeviceCsr<T>> {
    /// The values of all planes, for kernels.
    pub(in crate::setup) fn values(&self) -> Planes<T> {
        let mut values = [std::ptr::null_mut(); MAX_PLANES];
        for (to, plane) in values.iter_mut().zip(self.planes()) {
            *to = plane.values_mut();
        }
        Planes { values }
    }
}

impl<T: Real> Matrices<T> for Gpu {
    type Csr = DeviceCsr<T>;
    type Indices = DeviceIndices;

    fn csr(&self, a: &Arc<Csr<T>>) -> Result<DeviceCsr<T>> {
        DeviceCsr::upload(self, a)
    }
    fn csr_to_host(&self, a: &DeviceCsr<T>) -> Result<Arc<Csr<T>>> {
        a.to_host().map(Arc::new)
    }
    fn indices(&self, values: &[u32]) -> Result<DeviceIndices> {
        DeviceIndices::from_slice(self.device(), values)
    }
    fn indices_to_host(&self, indices: &DeviceIndices) -> Result<Vec<u32>> {
        indices.to_host()
    }
    fn size(&self, a: &DeviceCsr<T>) -> Size {
        a.size
    }
    fn take_values(&self, a: &mut DeviceCsr<T>, from: &DeviceCsr<T>) {
        assert_eq!(a.size, from.size);
        a.values = from.values.clone();
    }
    fn scale_values(&self, a: &mut DeviceCsr<T>, factor: T) -> Result<()> {
        let (n, x, z) = (a.size.nnz as u64, a.values(), a.values_mut());
        let (a, b, guard) = (constant(factor.to_f64()), constant(0.0), UNGUARDED);
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(Work::on::<T>(n as usize, 2), &axpby { n, a, x, b, y: x, z, guard }) }
    }
    fn zeros_like(&self, a: &DeviceCsr<T>) -> Result<DeviceCsr<T>> {
        Ok(DeviceCsr { values: Buffer::zeroed(self.device(), a.size.nnz * size_of::<T>())?, ..a.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::generate;

    /// A matrix of what may be none, on the simulator.
    fn unchecked(gpu: &Gpu, n_cols: usize, row_ptr: &[u32], col_idx: &[u32]) -> DeviceCsr<f64> {
        let device = gpu.device();
        DeviceCsr {
            size: Size { n_rows: row_ptr.len() - 1, n_cols, nnz: col_idx.len() },
            row_ptr: Buffer::from_slice(device, row_ptr).unwrap(),
            col_idx: Buffer::from_slice(device, col_idx).unwrap(),
            values: Buffer::from_slice(device, &vec![1.5; col_idx.len()]).unwrap(),
            element: PhantomData,
        }
    }

    #[test]
    fn arrays_that_are_no_matrix_are_refused_with_the_row() {
        let gpu = Gpu::simulated().unwrap();
        let long: Vec<u32> = (0..77).collect();
        let (mut doubled, mut beyond) = (long.clone(), long.clone());
        doubled[33] = 32;
        beyond[76] = 90;
        let cases: [(&[u32], &[u32], Option<&str>); 12] = [
            (&[0, 2, 2, 3], &[0, 3, 89], None),
            (&[0, 0], &[], None),
            (&[0, 77], &long, None),
            (&[1, 2, 2, 3], &[0, 3, 89], Some("start with 0")),
            (&[0, 2, 1, 3], &[0, 3, 89], Some("row 2: row_ptr decreases")),
            (&[0, 9, 9, 3], &[0, 3, 89], Some("row 1: row_ptr decreases")),
            (&[0, 2, 2, 2], &[0, 3, 89], Some("row_ptr ends at 2")),
            (&[0, 2, 2, 4], &[0, 3, 89], Some("row_ptr ends at 4")),
            (&[0, 2, 2, 3], &[3, 3, 89], Some("row 1: columns do not ascend")),
            (&[0, 2, 2, 3], &[0, 3, 90], Some("row 3: column 91 of 90")),
            (&[0, 77], &doubled, Some("row 1: columns do not ascend")),
            (&[0, 77], &beyond, Some("row 1: column 91 of 90")),
        ];
        for (row_ptr, col_idx, fault) in cases {
            let checked = unchecked(&gpu, 90, row_ptr, col_idx).check_rows(&gpu);
            let found = checked.err().map(|error| error.to_string());
            match (&found, fault) {
                (None, None) => {}
                (Some(found), Some(fault)) => assert!(found.contains(fault), "{found}, not {fault}"),
                _ => panic!("{row_ptr:?} {col_idx:?}: {found:?}, not {fault:?}"),
            }
        }
    }

    #[test]
    fn some_rows_are_those_of_the_matrix() {
        for (problem, rows) in [("poisson2d:9", 81), ("poisson2d:70", 4900), ("poisson2d:100", 16 * 512)] {
            let a = generate(&problem.parse().unwrap(), 1).unwrap();
            let gpu = Gpu::simulated().unwrap();
            let some = DeviceCsr::upload(&gpu, &a).unwrap().pattern_of_some().unwrap();
            assert_eq!((some.n_rows(), some.n_cols()), (rows, a.n_cols()), "{problem}");
            let first = |group: usize| if rows < 16 * 512 { group * 512 } else { group * (a.n_rows() / 16) };
            for k in 0..rows {
                assert_eq!(some.row(k).0, a.row(first(k / 512) + k % 512).0, "{problem}: row {k}");
            }
        }
    }
}
