//! Whether arrays from elsewhere are a matrix in CRS.

use cuda_std::{atomic, kernel, memory::*};

use super::sub_warp::{Pattern, SubWarp};

/// Adds to `faults` the number of rows that are not as they must be: row pointers start with 0, ascend, and
/// end with `nnz`; the columns of a row ascend strictly and are below `n_cols`.
///
/// Nothing is read beyond row pointer n and column `nnz - 1`, whatever the arrays hold.
#[kernel]
pub unsafe fn check_rows(n: u64, log2_lanes: u32, n_cols: u64, nnz: u64, a: Pattern, faults: *mut u32) {
    // SAFETY: the launcher's arrays have n + 1 row pointers and nnz columns; `faults` is one number.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let (start, end) = a.range(i);
            let ends_well = i + 1 < n as usize || end == nnz as usize;
            let in_range = (i > 0 || start == 0) && start <= end && end <= nnz as usize && ends_well;
            let mut ascends = true;
            let mut e = start + sub_warp.lane as usize;
            while in_range && e < end {
                let column = a.col_idx.ld_nc(e);
                let before_next = e + 1 == end || column < a.col_idx.ld_nc(e + 1);
                ascends &= before_next && (column as u64) < n_cols;
                e += sub_warp.lanes as usize;
            }
            let all_ascend = sub_warp.ballot(!ascends) == 0;
            if sub_warp.lane == 0 && !(in_range && all_ascend) {
                atomic::atomic_add_u32(faults, 1);
            }
            i += sub_warp.stride();
        }
    }
}
