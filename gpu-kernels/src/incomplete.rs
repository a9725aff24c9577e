//! Incomplete factorisations by colours: from a matrix to the triangles that `triangular` solves with.
//!
//! ```text
//! facts      what decides how the matrix is factorised
//! colour     a colour for each unknown, neighbours of different ones, in rounds
//! arranged   the matrix in f64, its unknowns in the order of their colours
//! eliminate  L and U on its pattern, the rows of a colour at once
//! triangles  L, and U from its last row on, as they are solved with
//! ```

use arithmetic::noise::weight;
use arithmetic::pivots::Pivots;
use cuda_std::{Real, atomic, kernel, memory::*, thread};

use crate::setup::sub_warp::{Pattern, SubWarp};
use crate::unroll::unroll;

/// Not coloured yet.
pub const UNCOLOURED: u32 = u32::MAX;
/// Colours that one look at the neighbours can tell apart.
const AT_ONCE: u32 = u64::BITS;

/// Places in the array of [`factor_facts`]: a diagonal entry is not positive,
pub const NOT_POSITIVE: usize = 0;
/// is 0 or not there,
pub const ZERO: usize = 1;
/// is not there;
pub const MISSING: usize = 2;
/// an entry differs from its mirror image by more than rounding;
pub const UNSYMMETRIC: usize = 3;
/// an entry has no mirror image in the pattern;
pub const UNPAIRED: usize = 4;
/// a row has more entries than are factorised here.
pub const LONG: usize = 5;
/// How many there are.
pub const FACTS: usize = 6;

/// The place of column j in a row with ascending columns, `end` where it is not there.
#[inline(always)]
unsafe fn find(a: Pattern, (start, end): (usize, usize), j: u32) -> usize {
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

/// The largest magnitude of each row.
#[kernel(T = [f32, f64])]
pub unsafe fn row_largest<T: Real>(n: u64, log2_lanes: u32, a: Pattern, values: *const T, largest: *mut f64) {
    // SAFETY: the launcher's matrix has n rows, as many as there are elements.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let (start, end) = a.range(i);
            let mut most = 0.0f64;
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                let magnitude = values.ld_nc(e).to_f64().abs();
                most = if magnitude > most { magnitude } else { most };
                e += sub_warp.lanes as usize;
            }
            let most = sub_warp.reduce(most, |x, y| if y > x { y } else { x });
            if sub_warp.lane == 0 {
                largest.st(i, most);
            }
            i += sub_warp.stride();
        }
    }
}

/// Sets `facts[LONG]` to 1 if a row has more than `most` entries.
#[kernel]
pub unsafe fn find_long_rows(n: u64, most: u32, a: Pattern, facts: *mut u32) {
    // SAFETY: the launcher's matrix has n rows.
    unsafe {
        let mut i = thread::index_x();
        while i < n as usize {
            let (start, end) = a.range(i);
            if end - start > most as usize {
                facts.st_volatile(LONG, 1);
            }
            i += thread::stride();
        }
    }
}

/// Sets `facts[k]` to 1 for each fact that holds, but LONG; two entries are mirror images if
/// `|a_ij - a_ji| <= tolerance * min(largest_i, largest_j)`.
#[kernel(T = [f32, f64])]
pub unsafe fn factor_facts<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    largest: *const f64,
    tolerance: f64,
    facts: *mut u32,
) {
    // SAFETY: the launcher's matrix is square, of n rows, as many as there are elements.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let row = a.range(i);
            if sub_warp.lane == 0 {
                let place = find(a, row, i as u32);
                let d = if place < row.1 { values.ld_nc(place).to_f64() } else { 0.0 };
                let holds = [(MISSING, place == row.1), (ZERO, d == 0.0), (NOT_POSITIVE, !(d > 0.0))];
                unroll::<3>(|k| {
                    if holds[k].1 {
                        facts.st_volatile(holds[k].0, 1);
                    }
                });
            }
            let largest_i = largest.ld_nc(i);
            let mut e = row.0 + sub_warp.lane as usize;
            while e < row.1 {
                let j = a.col_idx.ld_nc(e) as usize;
                let value = values.ld_nc(e).to_f64();
                let mirror = a.range(j);
                let place = find(a, mirror, i as u32);
                let mut mirrored = 0.0;
                if place < mirror.1 {
                    mirrored = values.ld_nc(place).to_f64();
                } else {
                    facts.st_volatile(UNPAIRED, 1);
                }
                let largest_j = largest.ld_nc(j);
                let scale = if largest_j < largest_i { largest_j } else { largest_i };
                if value != mirrored && !((value - mirrored).abs() <= tolerance * scale) {
                    facts.st_volatile(UNSYMMETRIC, 1);
                }
                e += sub_warp.lanes as usize;
            }
            i += sub_warp.stride();
        }
    }
}

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

/// L and U in one pattern with its diagonal, in the order of elimination; at first A.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FactorRows {
    /// Rows and columns.
    pub pattern: Pattern,
    /// Places of the diagonal.
    pub diagonal: *const u32,
    /// L below the diagonal, without its ones, and U from there on.
    pub values: *mut f64,
}

// SAFETY: addresses of the device.
unsafe impl Send for FactorRows {}
// SAFETY: as above.
unsafe impl Sync for FactorRows {}

impl FactorRows {
    /// Replaces the entry on the diagonal of row e, from `found`, by the pivot.
    ///
    /// # Safety
    /// The row is there, and the lanes of the sub-warp call it together; `found` is that of lane 0.
    #[inline(always)]
    unsafe fn set_pivot(
        &self,
        sub_warp: SubWarp,
        e: usize,
        found: f64,
        (entry, most): (f64, f64),
        pivots: Pivots,
        changed: *mut u32,
    ) {
        if sub_warp.lane == 0 {
            // SAFETY: the caller's promise.
            unsafe {
                let (pivot, is_changed) = pivots.checked(found, entry, most);
                self.values.st(self.diagonal.ld_nc(e) as usize, pivot);
                if is_changed {
                    atomic::atomic_add_u32(changed, 1);
                }
            }
        }
    }

    /// The entry on the diagonal and the largest magnitude of row e, before it is eliminated.
    ///
    /// # Safety
    /// The row is there, and the lanes of the sub-warp call it together.
    #[inline(always)]
    unsafe fn entry_and_largest(&self, sub_warp: SubWarp, e: usize) -> (f64, f64) {
        // SAFETY: the caller's promise.
        unsafe {
            let (start, end) = self.pattern.range(e);
            let mut most = 0.0f64;
            let mut at = start + sub_warp.lane as usize;
            while at < end {
                let magnitude = self.values.ld(at).abs();
                most = if magnitude > most { magnitude } else { most };
                at += sub_warp.lanes as usize;
            }
            let entry = self.values.ld(self.diagonal.ld_nc(e) as usize);
            // Afterwards the row is changed.
            sub_warp.sync();
            (entry, sub_warp.reduce(most, |x, y| if y > x { y } else { x }))
        }
    }
}

/// The rows from `first` to `end` of `L U` (Saad 2003, algorithm 10.4), which do not depend on each other;
/// those before are there. Pivots that are too small are changed, and counted.
#[kernel]
pub unsafe fn eliminate_rows(
    first: u64,
    end: u64,
    log2_lanes: u32,
    factors: FactorRows,
    are_positive: u32,
    shift: f64,
    changed: *mut u32,
) {
    // SAFETY: the launcher's factors have these rows.
    unsafe {
        let FactorRows { pattern, diagonal, values } = factors;
        let sub_warp = SubWarp::of(log2_lanes);
        let mut e = first as usize + sub_warp.first();
        while e < end as usize {
            let before = factors.entry_and_largest(sub_warp, e);
            let row = pattern.range(e);
            let on_diagonal = diagonal.ld_nc(e) as usize;
            let mut at = row.0;
            while at < on_diagonal {
                let k = pattern.col_idx.ld_nc(at) as usize;
                let pivot = diagonal.ld_nc(k) as usize;
                let factor = values.ld(at) / values.ld(pivot);
                let (_, end_of_k) = pattern.range(k);
                let mut u = pivot + 1 + sub_warp.lane as usize;
                while u < end_of_k {
                    let place = find(pattern, row, pattern.col_idx.ld_nc(u));
                    if place < row.1 {
                        values.st(place, values.ld(place) - factor * values.ld(u));
                    }
                    u += sub_warp.lanes as usize;
                }
                sub_warp.sync();
                if sub_warp.lane == 0 {
                    values.st(at, factor);
                }
                at += 1;
            }
            let found = if sub_warp.lane == 0 { values.ld(on_diagonal) } else { 0.0 };
            let pivots = Pivots { are_positive: are_positive != 0, shift };
            factors.set_pivot(sub_warp, e, found, before, pivots, changed);
            e += sub_warp.stride();
        }
    }
}

/// The same without fill, and without changes off the diagonal but for the division by pivots (Barrett and
/// others 1994, section 3.4.2).
#[kernel]
pub unsafe fn eliminate_pivots(
    first: u64,
    end: u64,
    log2_lanes: u32,
    factors: FactorRows,
    are_positive: u32,
    shift: f64,
    changed: *mut u32,
) {
    // SAFETY: the launcher's factors have these rows.
    unsafe {
        let FactorRows { pattern, diagonal, values } = factors;
        let sub_warp = SubWarp::of(log2_lanes);
        let mut e = first as usize + sub_warp.first();
        while e < end as usize {
            let before = factors.entry_and_largest(sub_warp, e);
            let row = pattern.range(e);
            let on_diagonal = diagonal.ld_nc(e) as usize;
            let mut found = before.0;
            let mut base = row.0;
            // Each lane has an entry; their products are subtracted in ascending order.
            while base < on_diagonal {
                let at = base + sub_warp.lane as usize;
                let (mut product, mut is_there) = (0.0, false);
                if at < on_diagonal {
                    let k = pattern.col_idx.ld_nc(at) as usize;
                    let pivot = diagonal.ld_nc(k) as usize;
                    let factor = values.ld(at) / values.ld(pivot);
                    values.st(at, factor);
                    let (_, end_of_k) = pattern.range(k);
                    let place = find(pattern, (pivot + 1, end_of_k), e as u32);
                    if place < end_of_k {
                        product = factor * values.ld(place);
                        is_there = true;
                    }
                }
                let lanes = sub_warp.ballot(is_there);
                sub_warp.in_order(lanes, product, |product| found -= product);
                base += sub_warp.lanes as usize;
            }
            let pivots = Pivots { are_positive: are_positive != 0, shift };
            factors.set_pivot(sub_warp, e, found, before, pivots, changed);
            e += sub_warp.stride();
        }
    }
}

/// Row lengths of L without its diagonal, and of U without its own, from its last row on.
#[kernel]
pub unsafe fn triangle_lengths(
    n: u64,
    pattern: Pattern,
    diagonal: *const u32,
    lower: *mut u32,
    upper: *mut u32,
) {
    // SAFETY: the launcher's factors have n rows, as many as there are elements.
    unsafe {
        let mut e = thread::index_x();
        while e < n as usize {
            let (start, end) = pattern.range(e);
            let on_diagonal = diagonal.ld_nc(e) as usize;
            lower.st(e, (on_diagonal - start) as u32);
            upper.st(n as usize - 1 - e, (end - on_diagonal - 1) as u32);
            e += thread::stride();
        }
    }
}

/// Where the entries of a triangle go.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NewTriangle<T> {
    /// Where each row begins.
    pub row_ptr: *const u32,
    /// Receives the columns.
    pub col_idx: *mut u32,
    /// Receives the values.
    pub values: *mut T,
    /// Receives what the rows are multiplied by.
    pub diagonal: *mut T,
}

// SAFETY: addresses of the device.
unsafe impl<T> Send for NewTriangle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for NewTriangle<T> {}

/// L and U as two triangles, that of U with its last row first. `source[p]` is where the right-hand side of
/// unknown p of the second is, `target[p]` where its solution goes.
#[kernel(T = [f32, f64])]
pub unsafe fn triangles<T: Real>(
    n: u64,
    log2_lanes: u32,
    factors: FactorRows,
    order: *const u32,
    lower: NewTriangle<T>,
    upper: NewTriangle<T>,
    source: *mut u32,
    target: *mut u32,
) {
    // SAFETY: the launcher's arrays are made for factors of n rows.
    unsafe {
        let FactorRows { pattern, diagonal, values } = factors;
        let sub_warp = SubWarp::of(log2_lanes);
        let last = n as u32 - 1;
        let mut e = sub_warp.first();
        while e < n as usize {
            let (start, end) = pattern.range(e);
            let on_diagonal = diagonal.ld_nc(e) as usize;
            let p = last as usize - e;
            let (first_of_l, first_of_u) = (lower.row_ptr.ld_nc(e) as usize, upper.row_ptr.ld_nc(p) as usize);
            let mut at = start + sub_warp.lane as usize;
            while at < end {
                let (column, value) = (pattern.col_idx.ld_nc(at), T::from_f64(values.ld(at)));
                if at < on_diagonal {
                    lower.col_idx.st(first_of_l + at - start, column);
                    lower.values.st(first_of_l + at - start, value);
                } else if at > on_diagonal {
                    upper.col_idx.st(first_of_u + end - 1 - at, last - column);
                    upper.values.st(first_of_u + end - 1 - at, value);
                }
                at += sub_warp.lanes as usize;
            }
            if sub_warp.lane == 0 {
                lower.diagonal.st(e, T::ONE);
                upper.diagonal.st(p, T::from_f64(1.0 / values.ld(on_diagonal)));
                source.st(p, e as u32);
                target.st(p, order.ld_nc(e));
            }
            e += sub_warp.stride();
        }
    }
}
