//! Exclusive prefix sums.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::scan::{TILE, span_scan, span_sums};

use super::matrix::Size;
use super::matrix::device::DeviceCsr;
use super::matrix::pattern::DevicePattern;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::{Buffer, check_reach};
use crate::backend::gpu::transfer;
use crate::error::Result;

/// Most spans, whose sums one block adds.
const MAX_SPANS: usize = 2048;

impl Gpu {
    /// Row pointers of row lengths: replaces the `n` numbers of 32 bits in `lengths`, which has room for one
    /// more, by their exclusive prefix sums, with the total at the end. Returns the total, which may exceed
    /// 32 bits (then the row pointers are not valid). Waits.
    pub(crate) fn row_pointers(&self, lengths: &Arc<Buffer>, n: usize) -> Result<u64> {
        let span = n.div_ceil(MAX_SPANS).next_multiple_of(TILE).max(TILE);
        let spans = n.div_ceil(span).max(1);
        // Memory of its own for partial sums: between two launches another rank may use the device.
        let partials = Buffer::new(self.device(), (MAX_SPANS + 1) * size_of::<u64>())?;
        let (sums, counter) = (partials.address as *mut u64, self.counter());
        let lengths = lengths.address as *mut u32;
        let (n, span) = (n as u64, span as u64);
        // SAFETY: the arrays were made for this many numbers.
        unsafe { self.launch_blocks(spans, &span_sums { n, span, lengths, sums, counter }) }?;
        // SAFETY: the arrays were made for this many numbers.
        unsafe { self.launch_blocks(spans, &span_scan { n, span, lengths, sums }) }?;
        let mut total = [0u64];
        let end = partials.address + (spans * size_of::<u64>()) as u64;
        // SAFETY: the partial sums have room for `MAX_SPANS + 1` numbers of 64 bits.
        unsafe { transfer::download(&**self.device(), &mut total, end)? };
        Ok(total[0])
    }

    /// A matrix of undefined entries with these row lengths, as many as rows and room for one more number.
    /// Waits.
    pub(crate) fn csr_of_lengths<T: Real>(
        &self,
        lengths: Arc<Buffer>,
        n_rows: usize,
        n_cols: usize,
    ) -> Result<DeviceCsr<T>> {
        self.pattern_of_lengths(lengths, n_rows, n_cols)?.with_values(self.device())
    }

    /// The same without values.
    pub(super) fn pattern_of_lengths(
        &self,
        lengths: Arc<Buffer>,
        n_rows: usize,
        n_cols: usize,
    ) -> Result<DevicePattern> {
        let nnz = self.row_pointers(&lengths, n_rows)?;
        check_reach(nnz)?;
        let nnz = nnz as usize;
        Ok(DevicePattern {
            size: Size { n_rows, n_cols, nnz },
            row_ptr: lengths,
            col_idx: Buffer::new(self.device(), nnz * size_of::<u32>())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::sim::Sim;

    #[test]
    fn prefix_sums_and_their_total() {
        for (n, factor) in [(0, 1), (1, 1), (31, 1), (257, 1), (2 * TILE + 77, 3), (700, u32::MAX / 100)] {
            let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
            let lengths: Vec<u32> = (0..n as u32).map(|i| i * i % 89 * factor).collect();
            let buffer = Buffer::new(gpu.device(), (n + 1) * 4).unwrap();
            // SAFETY: shorter than the buffer.
            unsafe { transfer::upload(&**gpu.device(), buffer.address, &lengths).unwrap() };
            let total = gpu.row_pointers(&buffer, n).unwrap();
            let mut found = vec![0u32; n + 1];
            // SAFETY: as long as the buffer.
            unsafe { transfer::download(&**gpu.device(), &mut found, buffer.address).unwrap() };
            let mut sum = 0u64;
            for (i, &length) in lengths.iter().enumerate() {
                assert_eq!(found[i], sum as u32, "{i} of {n}");
                sum += u64::from(length);
            }
            assert_eq!((found[n], total), (sum as u32, sum), "{n}");
            assert!(factor < 4 || total > u64::from(u32::MAX));
        }
    }
}
