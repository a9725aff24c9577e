//! A look at every entry of a matrix, on the device where it is.

use arithmetic::survey::Found;
use cuda_std::Real;
use gpu_kernels::setup::survey::{compare_mirrored, count_indefinite_pairs, largest_of_rows, survey_rows};

use super::matrix::device::DeviceCsr;
use crate::analysis::Mirrored;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::{Buffer, download};
use crate::error::Result;
use crate::matrix::{Survey, check, usual_entries};

/// Blocks for each multiprocessor.
const BLOCKS: usize = 8;

impl<T: Real> DeviceCsr<T> {
    /// What [`Survey::of`] finds, its sums over all rows but for rounding. Waits for the device.
    pub(crate) fn survey(&self, gpu: &Gpu) -> Result<Survey> {
        Ok(Survey::made((self.size.n_rows, self.size.n_cols), &self.found(gpu, 0)?))
    }

    /// What is found in these rows, the first of which is row `first` of the matrix. Waits for the device.
    pub(crate) fn found(&self, gpu: &Gpu, first: usize) -> Result<Found> {
        const NUMBERS: usize = Found::SUMS + Found::MAXIMA;
        let n_rows = self.size.n_rows;
        let threads = n_rows << self.log2_lanes();
        let most = BLOCKS * gpu.device().info().multiprocessors as usize;
        let blocks = threads.div_ceil(gpu_kernels::BLOCK as usize).clamp(1, most.max(1));
        let found = Buffer::new(gpu.device(), NUMBERS * blocks * size_of::<f64>())?;
        let kernel = survey_rows {
            n: n_rows as u64,
            first: first as u32,
            log2_lanes: self.log2_lanes(),
            a: self.pattern(),
            values: self.values(),
            usual: usual_entries(self.size.n_cols),
            found: found.address as *mut f64,
        };
        // SAFETY: the matrix is valid, and the numbers of each block have room.
        unsafe { gpu.launch_blocks(blocks, &kernel) }?;
        let numbers = download(&found, NUMBERS * blocks, 0.0)?;
        let of_block = |b: usize| {
            let number = |k: usize| numbers[k * blocks + b];
            Found::of(std::array::from_fn(number), std::array::from_fn(|k| number(Found::SUMS + k)))
        };
        Ok((0..blocks).map(of_block).fold(Found::NONE, Found::with))
    }

    /// How the entries of this square matrix compare with their mirror images. Waits for the device.
    pub(crate) fn mirrored(&self, gpu: &Gpu) -> Result<Mirrored> {
        let (n, log2_lanes) = (self.size.n_rows as u64, self.log2_lanes());
        let mut largest = gpu.allocate::<T>(self.size.n_rows)?;
        let kernel = largest_of_rows {
            n,
            log2_lanes,
            a: self.pattern(),
            values: self.values(),
            largest: largest.ptr_mut(),
        };
        // SAFETY: the matrix is valid, and every row has a place.
        unsafe { gpu.launch_on_rows(self, &kernel) }?;
        let counts = Buffer::zeroed(gpu.device(), 2 * size_of::<u32>())?;
        let kernel = compare_mirrored {
            n,
            log2_lanes,
            a: self.rows(),
            largest: largest.ptr(),
            tolerance: T::from_f64(check::ROUNDING),
            counts: counts.address as *mut u32,
        };
        // SAFETY: the matrix is valid and square, and there are two counts.
        unsafe { gpu.launch_on_rows(self, &kernel) }?;
        match download(&counts, 2, 0u32)?[..] {
            [_, 0] => Ok(Mirrored::SYMMETRIC),
            [images, ..] => {
                let share = f64::from(images) / self.size.nnz.max(1) as f64;
                Ok(Mirrored { is_symmetric: false, share })
            }
            [] => unreachable!("two counts"),
        }
    }

    /// What [`Closer::has_indefinite_pair`](crate::analysis::Closer) says of this square matrix. Waits for
    /// the device.
    pub(crate) fn has_indefinite_pair(&self, gpu: &Gpu) -> Result<bool> {
        let diagonal = gpu.diagonal(self)?;
        let count = Buffer::zeroed(gpu.device(), size_of::<u32>())?;
        let kernel = count_indefinite_pairs {
            n: self.size.n_rows as u64,
            log2_lanes: self.log2_lanes(),
            a: self.pattern(),
            values: self.values(),
            diagonal: diagonal.ptr(),
            count: count.address as *mut u32,
        };
        // SAFETY: the matrix is valid and square, and the diagonal has an element for each row.
        unsafe { gpu.launch_on_rows(self, &kernel) }?;
        Ok(download(&count, 1, 0u32)?[0] > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Closer;
    use crate::matrix::Csr;
    use crate::setup::testing::{all_samples, strict};

    /// Symmetric matrices to the last bit, to rounding, and not, with a dense row; definite and not.
    #[test]
    fn a_device_looks_as_close_as_the_host() {
        let gpu = strict();
        let n = 70;
        for (rounding, other, coupling) in
            [(0.0, 0.0, 1.0), (1e-14, 0.0, 1.0), (0.0, 1e-3, 1.0), (0.0, 0.0, 900.0)]
        {
            let entries = (1..n).flat_map(|i| {
                let v = 0.1 * coupling + i as f64 * 1e-3;
                let upper = v * (1.0 + rounding) + if i == 33 { other } else { 0.0 };
                let diagonal = [(i, i, 4.0 + i as f64)];
                let far = (i % 9 == 4 && other > 0.0).then_some((i, (i * i) % n, 0.25));
                diagonal.into_iter().chain([(0, i, upper), (i, 0, v)]).chain(far)
            });
            let a = Csr::from_triplets(n, n, entries.chain([(0, 0, 300.0)])).unwrap();
            let copy = DeviceCsr::upload(&gpu, &a).unwrap();
            let Ok(expected) = a.mirrored();
            assert_eq!(copy.mirrored(&gpu).unwrap(), expected);
            assert_eq!((expected.is_symmetric, expected.share < 1.0), (other == 0.0, other > 0.0));
            let Ok(has_pair) = a.has_indefinite_pair();
            assert_eq!(copy.has_indefinite_pair(&gpu).unwrap(), has_pair);
            assert_eq!(has_pair, coupling > 1.0);
        }
    }

    fn agrees<T: Real>() {
        let gpu = strict();
        for a in all_samples::<T>() {
            let found = DeviceCsr::upload(&gpu, &a).unwrap().survey(&gpu).unwrap();
            let expected = Survey::of(&a);
            let near = |x: f64, y: f64| (x - y).abs() <= 1e-12 * expected.sum_of_magnitudes;
            assert!(near(found.sum, expected.sum), "{found:?} {expected:?}");
            assert!(near(found.sum_of_magnitudes, expected.sum_of_magnitudes), "{found:?} {expected:?}");
            let Survey { sum, sum_of_magnitudes, .. } = expected;
            assert_eq!(Survey { sum, sum_of_magnitudes, ..found }, expected, "{} rows", a.n_rows());
        }
    }

    #[test]
    fn a_device_finds_what_the_host_does() {
        agrees::<f64>();
        agrees::<f32>();
    }

    #[test]
    fn a_device_sees_what_is_not_finite_and_what_is_empty() {
        let gpu = strict();
        for v in [f64::NAN, f64::INFINITY, 1.0] {
            let entries = [(0, 0, 2.0), (0, 2, v), (2, 0, v), (3, 3, -1e-300), (4, 3, 0.0)];
            let a = Csr::from_triplets(5, 5, entries).unwrap();
            let found = DeviceCsr::upload(&gpu, &a).unwrap().survey(&gpu).unwrap();
            let expected = Survey::of(&a);
            assert_eq!((found.is_finite, found.empty_row), (v == 1.0, Some(1)));
            assert_eq!((found.is_mirrored, found.diagonal), (expected.is_mirrored, expected.diagonal));
            assert_eq!(found.diagonal_magnitudes, expected.diagonal_magnitudes);
        }
        // A row of zeros is empty too.
        let zeros = Csr::from_triplets(4, 4, [(0, 0, 2.0), (1, 2, 0.0), (2, 1, 1.0), (3, 3, 1.0)]).unwrap();
        let found = DeviceCsr::upload(&gpu, &zeros).unwrap().survey(&gpu).unwrap();
        assert_eq!((found.empty_row, Survey::of(&zeros).empty_row), (Some(1), Some(1)));
    }
}
