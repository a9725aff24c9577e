//! Aggregates around roots, and the interpolation that is constant on each.

use cuda_std::{Real, kernel, memory::*, thread};

use super::team::{Pattern, Team};

/// Belongs to no aggregate.
pub const NONE: u32 = u32::MAX;

/// What `offer` has for the neighbour `j` of `i` with the largest `|s_ij|`, the first of equals, among those for which it
/// has something other than [`NONE`].
#[inline(always)]
unsafe fn strongest<T: Real>(
    team: Team,
    s: Pattern,
    values: *const T,
    i: usize,
    offer: impl Fn(usize) -> u32,
) -> u32 {
    // SAFETY: the callers' matrix is valid.
    unsafe {
        let (mut best, mut column, mut offered) = (T::ZERO, NONE, NONE);
        let (start, end) = s.range(i);
        let mut e = start + team.lane as usize;
        while e < end {
            let j = s.col_idx.ld_nc(e);
            if j as usize != i {
                let here = offer(j as usize);
                if here != NONE {
                    let v = values.ld_nc(e).abs();
                    if column == NONE || v > best {
                        (best, column, offered) = (v, j, here);
                    }
                }
            }
            e += team.lanes as usize;
        }
        let most = team.reduce(best, |x, y| if y > x { y } else { x });
        // Columns ascend, so that the first of equals has the smallest.
        let candidate = if column != NONE && best == most { column } else { NONE };
        let first = team.reduce(candidate, |x, y| if y < x { y } else { x });
        team.first_of(candidate != NONE && candidate == first, offered, NONE)
    }
}

/// `root_of[i]` = `i` for roots, else the root it joins among its neighbours, or [`NONE`].
#[kernel(T = [f32, f64])]
pub unsafe fn join_roots<T: Real>(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    values: *const T,
    roots: *const u32,
    root_of: *mut u32,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows; the arrays have n elements.
    unsafe {
        let team = Team::of(log2_lanes);
        let mut i = team.first();
        while i < n as usize {
            let mut root = i as u32;
            if roots.ld_nc(i) != 1 {
                let offer = |j| if roots.ld_nc(j) == 1 { j as u32 } else { NONE };
                root = strongest(team, s, values, i, offer);
            }
            if team.lane == 0 {
                root_of.st(i, root);
            }
            i += team.stride();
        }
    }
}

/// Those without a root join that of a neighbour (`before` is what [`join_roots`] found, `root_of` the outcome), or
/// become roots if they have a neighbour; `is_root` has 1 for all roots and 0 for others.
#[kernel(T = [f32, f64])]
pub unsafe fn join_neighbours<T: Real>(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    values: *const T,
    before: *const u32,
    root_of: *mut u32,
    is_root: *mut u32,
) {
    // SAFETY: as above.
    unsafe {
        let team = Team::of(log2_lanes);
        let mut i = team.first();
        while i < n as usize {
            let mut root = before.ld_nc(i);
            if root == NONE {
                root = strongest(team, s, values, i, |j| before.ld_nc(j));
                let (start, end) = s.range(i);
                let is_isolated = end == start || end == start + 1 && s.col_idx.ld_nc(start) == i as u32;
                if root == NONE && !is_isolated {
                    root = i as u32;
                }
            }
            if team.lane == 0 {
                root_of.st(i, root);
                is_root.st(i, (root == i as u32) as u32);
            }
            i += team.stride();
        }
    }
}

/// From roots to their numbers, in place.
#[kernel]
pub unsafe fn number_aggregates(n: u64, numbers: *const u32, root_of: *mut u32) {
    // SAFETY: the arrays have n elements, and roots are unknowns.
    unsafe {
        let mut i = thread::index();
        while i < n as usize {
            let root = root_of.ld(i);
            if root != NONE {
                root_of.st(i, numbers.ld_nc(root as usize));
            }
            i += thread::stride();
        }
    }
}

/// Row lengths of the piecewise constant interpolation: 1, or 0 for [`NONE`].
#[kernel]
pub unsafe fn tentative_lengths(n: u64, aggregates: *const u32, lengths: *mut u32) {
    // SAFETY: the arrays have n elements.
    unsafe {
        let mut i = thread::index();
        while i < n as usize {
            lengths.st(i, (aggregates.ld_nc(i) != NONE) as u32);
            i += thread::stride();
        }
    }
}

/// The piecewise constant interpolation: 1 in column `aggregates[i]` of row `i`.
#[kernel(T = [f32, f64])]
pub unsafe fn tentative<T: Real>(
    n: u64,
    aggregates: *const u32,
    row_ptr: *const u32,
    col_idx: *mut u32,
    values: *mut T,
) {
    // SAFETY: the arrays fit a matrix of n rows with these lengths.
    unsafe {
        let mut i = thread::index();
        while i < n as usize {
            let aggregate = aggregates.ld_nc(i);
            if aggregate != NONE {
                let e = row_ptr.ld_nc(i) as usize;
                col_idx.st(e, aggregate);
                values.st(e, T::ONE);
            }
            i += thread::stride();
        }
    }
}
