//! Independent sets by rounds of local maxima, each of three kernels. The weight of a decided unknown is 0.
//!
//! ```text
//! reach    largest[j] = the largest (weight, number) of j and its neighbours
//! select   i joins the set if that is its own, with distance 2 at its neighbours too; marks them and itself
//! remove   what is marked is decided, with distance 2 its neighbours too
//! ```
//!
//! That costs less with every round: a maximum is computed anew only where its unknown has been decided, and
//! only unknowns that are the largest of their neighbourhood look further.

use arithmetic::smoothing::SINGLETON;
use cuda_std::{Real, kernel, memory::*, thread};

use super::parts::NOWHERE;
use super::sub_warp::{Pattern, SubWarp};
use crate::unroll::unroll;
use arithmetic::noise::weight;

/// `(weight, number)` in the order of pairs, 0 where the unknown is decided.
#[inline(always)]
fn key(weight: u32, i: usize) -> u64 {
    if weight == 0 { 0 } else { (weight as u64) << 32 | i as u64 }
}

/// Calls `f` with the columns of row `i` of the graphs, of which the second may be null.
#[inline(always)]
unsafe fn for_neighbours(sub_warp: SubWarp, graphs: [Pattern; 2], i: usize, mut f: impl FnMut(usize)) {
    // SAFETY: the callers' graphs are valid.
    unroll::<2>(|g| unsafe {
        if !graphs[g].row_ptr.is_null() {
            let (start, end) = graphs[g].range(i);
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                f(graphs[g].col_idx.ld_nc(e) as usize);
                e += sub_warp.lanes as usize;
            }
        }
    });
}

/// Whether `f` holds for all columns of row `i` of the graphs; asks no further than the sub-warp's lanes that
/// find one for which it does not.
#[inline(always)]
unsafe fn all_neighbours(
    sub_warp: SubWarp,
    graphs: [Pattern; 2],
    i: usize,
    f: impl Fn(usize) -> bool,
) -> bool {
    let mut all = true;
    // SAFETY: the callers' graphs are valid.
    unroll::<2>(|g| unsafe {
        if !graphs[g].row_ptr.is_null() {
            let (mut base, end) = graphs[g].range(i);
            while all && base < end {
                let e = base + sub_warp.lane as usize;
                all = sub_warp.ballot(e < end && !f(graphs[g].col_idx.ld_nc(e) as usize)) == 0;
                base += sub_warp.lanes as usize;
            }
        }
    });
    all
}

/// The number of off-diagonal entries of row `i`.
///
/// # Safety
/// The graph is valid, and has that row.
#[inline(always)]
pub(super) unsafe fn off_diagonal(graph: Pattern, i: usize) -> u32 {
    // SAFETY: the callers' graphs are valid.
    unsafe {
        let (start, end) = graph.range(i);
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if graph.col_idx.ld_nc(middle) < i as u32 {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let has_diagonal = low < end && graph.col_idx.ld_nc(low) == i as u32;
        (end - start) as u32 - has_diagonal as u32
    }
}

/// The weights of unknowns whose numbers are `numbers`, or their places where that is null; 0 for unknowns
/// without an edge, which are members if `isolated` is 1, and for those for which `slivers` is given and not
/// 0; nobody is marked.
#[kernel(T = [f32, f64])]
pub unsafe fn independent_start<T: Real>(
    n: u64,
    s: Pattern,
    st: Pattern,
    numbers: *const u32,
    isolated: u32,
    slivers: *const T,
    weights: *mut u32,
    marks: *mut u32,
    members: *mut u32,
) {
    // SAFETY: the launcher's graphs have n rows, `st` may be null; the arrays have n elements.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let mut degree = off_diagonal(s, i);
            let mut measure = None;
            if !st.row_ptr.is_null() {
                let transposed_degree = off_diagonal(st, i);
                degree += transposed_degree;
                measure = Some(transposed_degree);
            }
            let is_sliver = !slivers.is_null() && slivers.ld_nc(i) != T::ZERO;
            let is_candidate = degree != 0 && !is_sliver;
            let number = if numbers.is_null() { i as u32 } else { numbers.ld_nc(i) };
            weights.st(i, if is_candidate { weight(number, measure) } else { 0 });
            marks.st(i, 0);
            let if_isolated = if degree == 0 { isolated } else { 0 };
            members.st(i, if is_sliver { SINGLETON } else { if_isolated });
            i += thread::stride();
        }
    }
}

/// `largest[j]` for round `round`, the first being 1.
#[kernel]
pub unsafe fn independent_reach(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    st: Pattern,
    round: u32,
    weights: *const u32,
    largest: *mut u64,
) {
    // SAFETY: the launcher's graphs have n rows, `st` may be null; the arrays have n elements.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut j = sub_warp.first();
        while j < n as usize {
            // Weights only vanish: as long as the largest is there it is the largest.
            let is_stale = sub_warp.lane == 0
                && (round == 1 || {
                    let before = largest.ld(j);
                    before != 0 && weights.ld_nc(before as u32 as usize) == 0
                });
            if sub_warp.ballot(is_stale) != 0 {
                let mut most = key(weights.ld_nc(j), j);
                for_neighbours(sub_warp, [s, st], j, |k| {
                    let key = key(weights.ld_nc(k), k);
                    if key > most {
                        most = key;
                    }
                });
                let most = sub_warp.reduce(most, |x, y| if y > x { y } else { x });
                if sub_warp.lane == 0 {
                    largest.st(j, most);
                }
            }
            j += sub_warp.stride();
        }
    }
}

/// Members of round `round` are entered and marked with their neighbours (where `st` is given: with those in
/// its row); `open` is set to `round` if anybody else is undecided. Where `own` is not null only unknowns
/// that have not [`NOWHERE`] there are looked at.
#[kernel]
pub unsafe fn independent_select(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    st: Pattern,
    distance: u32,
    round: u32,
    weights: *const u32,
    largest: *const u64,
    own: *const u32,
    marks: *mut u32,
    members: *mut u32,
    open: *mut u32,
) {
    // SAFETY: the launcher's graphs have n rows, `st` may be null; the arrays have n elements.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let null = Pattern { row_ptr: core::ptr::null(), col_idx: core::ptr::null() };
        // With both directions known, only those that depend on a member leave (PMIS).
        let dependents = if st.row_ptr.is_null() { s } else { st };
        let mut i = sub_warp.first();
        while i < n as usize {
            let weight = weights.ld_nc(i);
            if weight != 0 && (own.is_null() || own.ld_nc(i) != NOWHERE) {
                let own = key(weight, i);
                let joins = largest.ld_nc(i) == own
                    && (distance < 2 || all_neighbours(sub_warp, [s, st], i, |j| largest.ld_nc(j) <= own));
                if joins {
                    for_neighbours(sub_warp, [dependents, null], i, |j| marks.st_volatile(j, round));
                    if sub_warp.lane == 0 {
                        marks.st_volatile(i, round);
                        members.st(i, 1);
                    }
                } else if open.ld_flag(0) != round {
                    open.st_volatile(0, round);
                }
            }
            i += sub_warp.stride();
        }
    }
}

/// Decides what was marked in round `round`, and with distance 2 its neighbours.
#[kernel]
pub unsafe fn independent_remove(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    st: Pattern,
    distance: u32,
    round: u32,
    marks: *const u32,
    weights: *mut u32,
) {
    // SAFETY: the launcher's graphs have n rows, `st` may be null; the arrays have n elements.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut j = sub_warp.first();
        while j < n as usize {
            if marks.ld_nc(j) == round {
                if distance == 2 {
                    for_neighbours(sub_warp, [s, st], j, |k| weights.st_volatile(k, 0));
                }
                if sub_warp.lane == 0 {
                    weights.st_volatile(j, 0);
                }
            }
            j += sub_warp.stride();
        }
    }
}
