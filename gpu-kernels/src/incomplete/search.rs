//! Columns of sorted rows.

use cuda_std::memory::*;

use crate::setup::sub_warp::Pattern;

/// The place of column j in a row with ascending columns, `end` where it is not there.
#[inline(always)]
pub(super) unsafe fn find(a: Pattern, (start, end): (usize, usize), j: u32) -> usize {
    let (mut low, mut high) = (start, end);
    while low < high {
        let middle = low + (high - low) / 2;
        // SAFETY: within the row.
        if unsafe { a.col_idx.ld_nc(middle) } < j {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // SAFETY: as above.
    if low < end && unsafe { a.col_idx.ld_nc(low) } == j { low } else { end }
}
