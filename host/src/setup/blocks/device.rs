//! [`BlockMatrices`] on a device.

use std::sync::Arc;

use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::setup::blocks::{block_norms, count_singular_blocks, damp_blocks};
use gpu_kernels::setup::planes::{block_entries, block_lengths};

use super::BlockMatrices;
use crate::backend::gpu::buffer::{Buffer, download};
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::error::Result;
use crate::matrix::block::check_sizes;
use crate::setup::launch::{log2_lanes_for, mean};
use crate::setup::matrix::Blocks;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::pattern::DevicePattern;

impl<T: Real> BlockMatrices<T> for Gpu {
    fn count_blocks(&self, a: &DeviceCsr<T>, block: usize) -> Result<usize> {
        let lengths = self.block_lengths(a, block)?;
        Ok(self.row_pointers(&lengths, a.size.n_rows / block)? as usize)
    }

    fn merged(&self, a: &DeviceCsr<T>, block: usize) -> Result<Blocks<DeviceCsr<T>>> {
        let lengths = self.block_lengths(a, block)?;
        let pattern = self.pattern_of_lengths(lengths, a.size.n_rows / block, a.size.n_cols / block)?;
        match block {
            2 => self.merged_of::<T, 2>(a, &pattern),
            _ => self.merged_of::<T, 3>(a, &pattern),
        }
    }

    fn singular_blocks(&self, a: &Blocks<DeviceCsr<T>>) -> Result<usize> {
        match a.block() {
            2 => self.singular_blocks_of::<T, 2>(a),
            _ => self.singular_blocks_of::<T, 3>(a),
        }
    }

    fn norms(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceCsr<T>> {
        let first = a.first();
        let norms = first.with_new_values(self.device())?;
        let kernel = block_norms {
            n: first.size.n_rows as u64,
            log2_lanes: first.log2_lanes(),
            planes: a.planes().len() as u32,
            a: first.pattern(),
            values: a.values(),
            norms: norms.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(first, &kernel) }?;
        Ok(norms)
    }

    fn damp_blocks(&self, s: &mut Blocks<DeviceCsr<T>>, d: &DeviceVector<T>, omega: T) -> Result<()> {
        match s.block() {
            2 => self.damp_blocks_of::<T, 2>(s, d, omega),
            _ => self.damp_blocks_of::<T, 3>(s, d, omega),
        }
    }
}

/// Logarithm of the number of lanes that merge the rows of a node: one for each block of a full row.
fn lanes_of_nodes<T>(a: &DeviceCsr<T>, block: usize) -> u32 {
    log2_lanes_for(mean(a.size), block)
}

impl Gpu {
    /// How many blocks each node has, with room for one more number.
    fn block_lengths<T: Real>(&self, a: &DeviceCsr<T>, block: usize) -> Result<Arc<Buffer>> {
        check_sizes((a.size.n_rows, a.size.n_cols), block)?;
        let (nodes, log2_lanes) = (a.size.n_rows / block, lanes_of_nodes(a, block));
        let buffer = Buffer::new(self.device(), (nodes + 1) * size_of::<u32>())?;
        let (n, a, lengths) = (nodes as u64, a.pattern(), buffer.address as *mut u32);
        let kernel: &dyn Kernel = match block {
            2 => &block_lengths::<2> { n, log2_lanes, a, lengths },
            _ => &block_lengths::<3> { n, log2_lanes, a, lengths },
        };
        // SAFETY: the matrix is valid, of whole blocks, and there is a length for each node.
        unsafe { self.launch(nodes << log2_lanes, kernel) }?;
        Ok(buffer)
    }

    /// The blocks of `a` in planes of their pattern, whose columns are not there yet.
    fn merged_of<T: Real, const B: usize>(
        &self,
        a: &DeviceCsr<T>,
        pattern: &DevicePattern,
    ) -> Result<Blocks<DeviceCsr<T>>> {
        let plane = |_| pattern.clone().with_values(self.device());
        let blocks = Blocks::from_planes((0..B * B).map(plane).collect::<Result<_>>()?);
        let (nodes, log2_lanes) = (pattern.size.n_rows, lanes_of_nodes(a, B));
        let kernel = block_entries::<T, B> {
            n: nodes as u64,
            log2_lanes,
            a: a.rows(),
            row_ptr: pattern.pattern().row_ptr,
            columns: pattern.columns(),
            values: blocks.values(),
        };
        // SAFETY: the matrix is valid, of whole blocks, and the planes were made for so many.
        unsafe { self.launch(nodes << log2_lanes, &kernel) }?;
        Ok(blocks)
    }

    fn singular_blocks_of<T: Real, const B: usize>(&self, a: &Blocks<DeviceCsr<T>>) -> Result<usize> {
        let first = a.first();
        let count = Buffer::zeroed(self.device(), size_of::<u32>())?;
        let kernel = count_singular_blocks::<T, B> {
            n: first.size.n_rows as u64,
            log2_lanes: first.log2_lanes(),
            a: first.pattern(),
            values: a.values(),
            singular: count.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the count is one number.
        unsafe { self.launch_on_rows(first, &kernel) }?;
        Ok(download(&count, 1, 0u32)?[0] as usize)
    }

    fn damp_blocks_of<T: Real, const B: usize>(
        &self,
        s: &mut Blocks<DeviceCsr<T>>,
        d: &DeviceVector<T>,
        omega: T,
    ) -> Result<()> {
        let first = s.first();
        let kernel = damp_blocks::<T, B> {
            n: first.size.n_rows as u64,
            log2_lanes: first.log2_lanes(),
            s: first.pattern(),
            values: s.values(),
            d: d.ptr(),
            omega,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(first, &kernel) }
    }
}
