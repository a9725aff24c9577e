//! A colour for each unknown, and the matrix in the order of the colours.

use arithmetic::noise::weight;
use cuda_std::{Real, kernel, memory::*, thread};

use crate::setup::sub_warp::{Pattern, SubWarp};
use crate::unroll::unroll;

/// Not coloured yet.
pub const UNCOLOURED: u32 = u32::MAX;
/// Colours that one look at the neighbours can tell apart.
const AT_ONCE: u32 = u64::BITS;

/// Whether `i` is coloured before its neighbour `j`: by descending weight, then by descending number.
#[inline(always)]
fn is_before(i: usize, j: usize) -> bool {
    let (own, other) = (weight(i as u32, None), weight(j as u32, None));
    own > other || own == other && i > j
}

/// A round of colouring: an unknown whose neighbours before it have colours gets the first that none of them
/// has (Jones and Plassmann 1993). The neighbours are those in row i of `a` and, where it is given, of `at`.
/// `used[c]` becomes 1 for each colour c; `open` becomes `round` if somebody is left.
#[kernel]
pub unsafe fn colour(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    at: Pattern,
    round: u32,
    colours: *mut u32,
    used: *mut u32,
    open: *mut u32,
) {
    // SAFETY: the launcher's graphs have n rows, `at` may be null; `used` has a place for each colour.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            // Nobody else writes it.
            let mut is_open = colours.ld_flag(i) == UNCOLOURED;
            let mut base = 0;
            while is_open {
                let (mut taken, mut waits) = (0u64, false);
                unroll::<2>(|g| {
                    let graph = if g == 0 { a } else { at };
                    if !graph.row_ptr.is_null() {
                        let (start, end) = graph.range(i);
                        let mut e = start + sub_warp.lane as usize;
                        while e < end {
                            let j = graph.col_idx.ld_nc(e) as usize;
                            if j != i && is_before(j, i) {
                                let c = colours.ld_volatile(j);
                                if c == UNCOLOURED {
                                    waits = true;
                                } else if c >= base && c < base + AT_ONCE {
                                    taken |= 1 << (c - base);
                                }
                            }
                            e += sub_warp.lanes as usize;
                        }
                    }
                });
                if sub_warp.ballot(waits) != 0 {
                    if sub_warp.lane == 0 {
                        open.st_volatile(0, round);
                    }
                    break;
                }
                let taken = sub_warp.reduce(taken, |x, y| x | y);
                if taken != u64::MAX {
                    let c = base + (!taken).trailing_zeros();
                    if sub_warp.lane == 0 {
                        used.st_volatile(c as usize, 1);
                        colours.st_volatile(i, c);
                    }
                    is_open = false;
                }
                base += AT_ONCE;
            }
            i += sub_warp.stride();
        }
    }
}

/// `places[order[e]] = e`, and how many entries row `order[e]` of A has.
#[kernel]
pub unsafe fn arranged_lengths(n: u64, a: Pattern, order: *const u32, places: *mut u32, lengths: *mut u32) {
    // SAFETY: the launcher's matrix has n rows, and `order` names each once.
    unsafe {
        let mut e = thread::index_x();
        while e < n as usize {
            let i = order.ld_nc(e) as usize;
            let (start, end) = a.range(i);
            places.st(i, e as u32);
            lengths.st(e, (end - start) as u32);
            e += thread::stride();
        }
    }
}

/// A in the order of elimination, columns ascending, in f64; row e is row `order[e]` of A. `diagonal[e]` is
/// the place of the entry on the diagonal.
#[kernel(T = [f32, f64])]
pub unsafe fn arranged_rows<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    order: *const u32,
    places: *const u32,
    row_ptr: *const u32,
    col_idx: *mut u32,
    arranged: *mut f64,
    diagonal: *mut u32,
) {
    // SAFETY: the launcher's arrays are made for a matrix of n rows and its entries.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut e = sub_warp.first();
        while e < n as usize {
            let (start, end) = a.range(order.ld_nc(e) as usize);
            let first = row_ptr.ld_nc(e) as usize;
            let mut from = start + sub_warp.lane as usize;
            while from < end {
                let column = places.ld_nc(a.col_idx.ld_nc(from) as usize);
                // As many as are before it.
                let mut to = first;
                let mut other = start;
                while other < end {
                    to += (places.ld_nc(a.col_idx.ld_nc(other) as usize) < column) as usize;
                    other += 1;
                }
                col_idx.st(to, column);
                arranged.st(to, values.ld_nc(from).to_f64());
                if column as usize == e {
                    diagonal.st(e, to as u32);
                }
                from += sub_warp.lanes as usize;
            }
            e += sub_warp.stride();
        }
    }
}
