//! How the threads of a grid go over rows: what every format's kernel has around its product.

use cuda_std::{
    Real, thread,
    warp::{self, FULL_MASK, WARP_SIZE},
};

/// One thread a row: the sums of what `row` returns for this thread's rows (or positions in slice order).
#[inline(always)]
pub(super) fn by_threads<T: Real>(n_rows: u64, row: impl Fn(usize) -> [T; 2]) -> [T; 2] {
    let mut sums = [T::ZERO; 2];
    let mut i = thread::index_x();
    while i < n_rows as usize {
        let [first, second] = row(i);
        sums[0] += first;
        sums[1] += second;
        i += thread::stride();
    }
    sums
}

/// `2^log2_lanes` neighbouring lanes a row, 1 to 32 ("vector", Bell and Garland 2009): the sums of what `row`
/// returns.
///
/// `product(i, lane, lanes)` is this lane's part of row i, of B numbers; parts are added as a binary tree.
/// The first lane, which will need them, asks for `inputs(i)` before that, and has them and the sums of the
/// parts in `row`.
///
/// # Safety
/// The lanes of a warp call it together.
#[inline(always)]
pub(crate) unsafe fn by_lanes<T: Real, I, const B: usize>(
    n_rows: u64,
    log2_lanes: u32,
    inputs: impl Fn(usize) -> I,
    product: impl Fn(usize, usize, usize) -> [T; B],
    row: impl Fn(usize, I, [T; B]) -> [T; 2],
) -> [T; 2] {
    let lanes = 1 << log2_lanes;
    let lane = thread::thread_idx_x() & (lanes - 1);
    let rows_at_once = thread::stride() >> log2_lanes;
    let mut sums = [T::ZERO; 2];
    // The first row of the warp: its lanes leave the loop together, so that all take part in the shuffles.
    let mut base = thread::index_x() / WARP_SIZE as usize * (WARP_SIZE >> log2_lanes) as usize;
    let within = ((thread::thread_idx_x() % WARP_SIZE) >> log2_lanes) as usize;
    while base < n_rows as usize {
        let i = base + within;
        let mut parts = [T::ZERO; B];
        let mut asked = None;
        if lane == 0 && i < n_rows as usize {
            asked = Some(inputs(i));
        }
        if i < n_rows as usize {
            parts = product(i, lane as usize, lanes as usize);
        }
        let mut delta = lanes / 2;
        while delta > 0 {
            for part in &mut parts {
                // SAFETY: the warp's lanes are here together.
                *part += unsafe { warp::warp_shuffle_down(FULL_MASK, *part, delta, WARP_SIZE) };
            }
            delta /= 2;
        }
        if let Some(inputs) = asked {
            let [first, second] = row(i, inputs, parts);
            sums[0] += first;
            sums[1] += second;
        }
        base += rows_at_once;
    }
    sums
}
