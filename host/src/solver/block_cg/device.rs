//! The steps of block CG on a device.

use arithmetic::block_cg::MOST;
use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::BLOCK;
use gpu_kernels::block_cg::{
    Block, Watch, block_cg_lengths, block_cg_residuals, block_combination, block_products,
};

use super::steps::{
    BlockCgSteps, C, D_AD, OF_Q, OF_X, Q_MQ, R_INVERSE, R_TRANSPOSED, Watched, check_blocks, check_small,
    check_watched,
};
use crate::backend::Slot;
use crate::backend::gpu::{
    DeviceMonitor, DeviceScalars, DeviceVector, Gpu, MAX_SUM_BLOCKS, MAX_SUMS, Work, pointer_or_null, slot,
};
use crate::error::Result;

/// Up to so many columns take a kernel with fewer registers.
const FEW: usize = 4;
const _: () = assert!(MOST * (MOST + 1) / 2 <= MAX_SUMS as usize);

/// Does this with `K`, which is enough for so many columns.
macro_rules! by_columns {
    ($count:expr, $K:ident, $body:expr) => {
        if $count <= FEW {
            const $K: usize = FEW;
            $body
        } else {
            const $K: usize = MOST;
            $body
        }
    };
}

impl<T: Real> BlockCgSteps<T> for Gpu {
    fn block_products(
        &self,
        x: &[DeviceVector<T>],
        d: Option<&DeviceVector<T>>,
        y: &[DeviceVector<T>],
        s: &DeviceScalars<T>,
        out: Slot,
    ) -> Result<()> {
        check_small(s, &[Some(out)])?;
        check_blocks(d, &[x, y])?;
        let is_same = x.iter().zip(y).all(|(x, y)| x.address() == y.address());
        let n = length(x);
        let passes = x.len() * if is_same { 1 } else { 2 } + usize::from(d.is_some());
        by_columns!(x.len(), K, {
            let kernel = block_products::<T, K> {
                n: n as u64,
                x: block(x),
                d: pointer_or_null(d),
                y: block(y),
                out: slot(s, out),
                partials: self.partials(),
                counter: self.counter(),
                guard: self.guard(),
            };
            let resident = self.device().resident_blocks(kernel.name(), BLOCK)?;
            let blocks = n.div_ceil(BLOCK as usize).max(1) as u32;
            // SAFETY: the lengths and the slot are checked above, and there is room for so many sums.
            unsafe {
                let blocks = blocks.min(resident).min(MAX_SUM_BLOCKS);
                self.queue(Work::on::<T>(n, passes).bytes, [blocks, BLOCK], &kernel)
            }
        })
    }
    fn block_combination(
        &self,
        s: &DeviceScalars<T>,
        d: Option<&DeviceVector<T>>,
        x: Option<(&[DeviceVector<T>], Slot)>,
        y: &mut [DeviceVector<T>],
        b: Option<Slot>,
    ) -> Result<()> {
        check_small(s, &[x.map(|(_, a)| a), b])?;
        check_blocks(d, &[y, x.map_or(&*y, |(x, _)| x)])?;
        let n = length(y);
        let passes = y.len() * if x.is_some() { 3 } else { 2 } + usize::from(d.is_some());
        let work = Work::on::<T>(n, passes);
        let pointer = |at: Option<Slot>| at.map_or(std::ptr::null(), |at| slot(s, at).cast_const());
        by_columns!(y.len(), K, {
            let kernel = block_combination::<T, K> {
                n: n as u64,
                d: pointer_or_null(d),
                x: x.map_or(block(&[]), |(x, _)| block(x)),
                a: pointer(x.map(|(_, a)| a)),
                y: block(y),
                b: pointer(b),
                guard: self.guard(),
            };
            // SAFETY: the lengths and slots are checked above.
            unsafe { self.launch(work, &kernel) }
        })
    }
    fn block_cg_lengths(&self, s: &DeviceScalars<T>, watched: &Watched<DeviceMonitor>) -> Result<()> {
        check_watched(s, watched)?;
        by_columns!(watched.columns.len(), K, {
            let kernel = block_cg_lengths::<T, K> {
                d_ad: slot(s, D_AD),
                c: slot(s, C),
                of_x: slot(s, OF_X),
                of_r: slot(s, OF_Q),
                watch: watch(watched),
            };
            // SAFETY: the slots are checked above, and each monitor has room for a norm of each iteration.
            unsafe { self.launch_block(&kernel) }
        })
    }
    fn block_cg_residuals(
        &self,
        s: &DeviceScalars<T>,
        q_q: Slot,
        watched: &Watched<DeviceMonitor>,
    ) -> Result<()> {
        check_watched(s, watched)?;
        check_small(s, &[Some(q_q)])?;
        by_columns!(watched.columns.len(), K, {
            let kernel = block_cg_residuals::<T, K> {
                q_mq: slot(s, Q_MQ),
                q_q: slot(s, q_q),
                c: slot(s, C),
                r_inverse: slot(s, R_INVERSE),
                r_transposed: slot(s, R_TRANSPOSED),
                watch: watch(watched),
            };
            // SAFETY: the slots are checked above, and each monitor has room for a norm of each iteration.
            unsafe { self.launch_block(&kernel) }
        })
    }
}

fn length<T: Real>(block: &[DeviceVector<T>]) -> usize {
    block.first().map_or(0, DeviceVector::len)
}

/// What kernels take of a block.
fn block<T: Real, const K: usize>(columns: &[DeviceVector<T>]) -> Block<T, K> {
    let address = |j: usize| columns.get(j).map_or(std::ptr::null_mut(), |v| v.address() as *mut T);
    Block { columns: std::array::from_fn(address) }
}

/// What kernels take of monitors.
fn watch<const K: usize>(watched: &Watched<DeviceMonitor>) -> Watch<K> {
    let Watched { columns, whole, weights } = watched;
    Watch {
        columns: std::array::from_fn(|j| columns.get(j).unwrap_or(whole).argument()),
        weights: std::array::from_fn(|j| weights.get(j).copied().unwrap_or_default()),
        whole: whole.argument(),
        count: columns.len() as u32,
    }
}
