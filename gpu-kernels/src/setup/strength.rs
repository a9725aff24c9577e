//! Strength of connection, the filtered matrix, and numbers of rows.

use arithmetic::smoothing::{Limits, damping};
use cuda_std::{Real, atomic, kernel, memory::*};

use super::sub_warp::{Pattern, SubWarp, any};

/// Decides which off-diagonal entries of a matrix A are kept.
pub trait Criterion<T: Real>: Copy + Send + Sync + 'static {
    /// What it knows of row `i` as a whole: `a_ii`, and a threshold.
    ///
    /// # Safety
    /// `values` belong to `a`, which has a row `i`; all lanes of the sub-warp call this.
    unsafe fn row(&self, sub_warp: SubWarp, a: Pattern, values: *const T, i: usize) -> [T; 2];

    /// Whether the off-diagonal entry `v` in column `j` is kept, if it is `valid`; `to` is the first entry of
    /// the result that the lanes' entries may go to, `to_end` the end of its row.
    ///
    /// # Safety
    /// All lanes of the sub-warp call this, with neighbouring entries.
    unsafe fn keeps(
        &self,
        sub_warp: SubWarp,
        row: [T; 2],
        valid: bool,
        j: u32,
        v: T,
        to: usize,
        to_end: usize,
    ) -> bool;
}

/// `a_ij^2 >= epsilon |a_ii a_jj|`, and not 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Symmetric<T> {
    /// The threshold.
    pub epsilon: T,
    /// The diagonal of A.
    pub diagonal: *const T,
}

/// `-s a_ij >= theta max_k(-s a_ik)` with s the sign of `a_ii`, and positive.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Classical<T> {
    /// The share of the largest.
    pub theta: T,
    /// The diagonal of A.
    pub diagonal: *const T,
}

/// What is in the rows of a pattern.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Given<T> {
    /// The columns of the result.
    pub col_idx: *const u32,
    /// The diagonal of A.
    pub diagonal: *const T,
}

// The pointers name device memory; every thread of a grid shares them.
macro_rules! device_struct {
    ($($name:ident),*) => {$(
        // SAFETY: plain addresses; the kernels say who may use them when.
        unsafe impl<T: Real> Send for $name<T> {}
        // SAFETY: as above.
        unsafe impl<T: Real> Sync for $name<T> {}
    )*};
}
device_struct!(Symmetric, Classical, Given);

impl<T: Real> Criterion<T> for Symmetric<T> {
    #[inline(always)]
    unsafe fn row(&self, _sub_warp: SubWarp, _a: Pattern, _values: *const T, i: usize) -> [T; 2] {
        // SAFETY: the caller's promise.
        unsafe { [self.diagonal.ld_nc(i), self.epsilon] }
    }

    #[inline(always)]
    unsafe fn keeps(
        &self,
        _sub_warp: SubWarp,
        [own, epsilon]: [T; 2],
        valid: bool,
        j: u32,
        v: T,
        _to: usize,
        _to_end: usize,
    ) -> bool {
        // SAFETY: a valid column is one of the square matrix.
        valid && v != T::ZERO && v * v >= epsilon * (own * unsafe { self.diagonal.ld_nc(j as usize) }).abs()
    }
}

/// `-s v` with s the sign of the diagonal.
#[inline(always)]
fn opposed<T: Real>(diagonal: T, v: T) -> T {
    if diagonal < T::ZERO { v } else { -v }
}

impl<T: Real> Criterion<T> for Classical<T> {
    #[inline(always)]
    unsafe fn row(&self, sub_warp: SubWarp, a: Pattern, values: *const T, i: usize) -> [T; 2] {
        // SAFETY: the caller's promise.
        unsafe {
            let own = self.diagonal.ld_nc(i);
            let mut largest = T::ZERO;
            let (start, end) = a.range(i);
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                let v = opposed(own, values.ld_nc(e));
                if a.col_idx.ld_nc(e) != i as u32 && v > largest {
                    largest = v;
                }
                e += sub_warp.lanes as usize;
            }
            [own, self.theta * sub_warp.reduce(largest, |x, y| if y > x { y } else { x })]
        }
    }

    #[inline(always)]
    unsafe fn keeps(
        &self,
        _sub_warp: SubWarp,
        [own, threshold]: [T; 2],
        valid: bool,
        _j: u32,
        v: T,
        _to: usize,
        _to_end: usize,
    ) -> bool {
        let v = opposed(own, v);
        valid && v > T::ZERO && v >= threshold
    }
}

impl<T: Real> Criterion<T> for Given<T> {
    #[inline(always)]
    unsafe fn row(&self, _sub_warp: SubWarp, _a: Pattern, _values: *const T, i: usize) -> [T; 2] {
        // SAFETY: the caller's promise.
        unsafe { [self.diagonal.ld_nc(i), T::ZERO] }
    }

    /// Of the result's entries only the next few, as many as the sub-warp has lanes, can be among the
    /// sub-warp's.
    #[inline(always)]
    unsafe fn keeps(
        &self,
        sub_warp: SubWarp,
        _row: [T; 2],
        valid: bool,
        j: u32,
        _v: T,
        to: usize,
        to_end: usize,
    ) -> bool {
        let e = to + sub_warp.lane as usize;
        // SAFETY: an entry of the result.
        let column = if e < to_end { unsafe { self.col_idx.ld_nc(e) } } else { u32::MAX };
        let mut keeps = false;
        let mut lane = 0;
        while lane < sub_warp.lanes {
            keeps |= sub_warp.from_lane(column, lane) == j;
            lane += 1;
        }
        valid && keeps
    }
}

/// `diagonal[i] = a_ii` where it is stored; the others stay as they are.
#[kernel(T = [f32, f64])]
pub unsafe fn extract_diagonal<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    diagonal: *mut T,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows.
    unsafe {
        SubWarp::of(log2_lanes).for_each_entry(n, a, |i, e| {
            if a.col_idx.ld_nc(e) == i as u32 {
                diagonal.st(i, values.ld_nc(e));
            }
        });
    }
}

/// `lengths[i]` = the number of entries of row `i` that are kept, the diagonal among them.
#[kernel(T = [f32, f64], C = [Symmetric<T>, Classical<T>])]
pub unsafe fn strong_lengths<T: Real, C: Criterion<T>>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    criterion: C,
    lengths: *mut u32,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let row = criterion.row(sub_warp, a, values, i);
            let (start, end) = a.range(i);
            let mut length = 0u32;
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                let j = a.col_idx.ld_nc(e);
                let kept = j == i as u32 || criterion.keeps(sub_warp, row, true, j, values.ld_nc(e), 0, 0);
                length += kept as u32;
                e += sub_warp.lanes as usize;
            }
            let length = sub_warp.reduce(length, |x, y| x + y);
            if sub_warp.lane == 0 {
                lengths.st(i, length);
            }
            i += sub_warp.stride();
        }
    }
}

/// The entries that are kept: their columns, unless `col_idx` is null, and their values.
///
/// If `lumped`, the others are added to the diagonal in the order of their columns, where that leaves its
/// sign.
#[kernel(T = [f32, f64], C = [Symmetric<T>, Classical<T>, Given<T>])]
pub unsafe fn strong_entries<T: Real, C: Criterion<T>>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    criterion: C,
    lumped: u32,
    row_ptr: *const u32,
    col_idx: *mut u32,
    strong: *mut T,
) {
    let sub_warp = SubWarp::in_step(log2_lanes);
    // SAFETY: the launcher's arguments describe valid CRS matrices of n rows.
    sub_warp.for_each_row(n as usize, |row| unsafe {
        let i = row.unwrap_or(0);
        let (mut base, end) = row.map_or((0, 0), |row| a.range(row));
        let (mut to, to_end) = (row_ptr.ld_nc(i) as usize, row_ptr.ld_nc(i + 1) as usize);
        let row = criterion.row(sub_warp, a, values, i);
        // The place of the diagonal, in the lane that has met it.
        let mut place = usize::MAX;
        let mut sum = row[0];
        while any(base < end) {
            let e = base + sub_warp.lane as usize;
            let valid = e < end;
            let (mut j, mut v) = (u32::MAX, T::ZERO);
            if valid {
                (j, v) = (a.col_idx.ld_nc(e), values.ld_nc(e));
            }
            let is_diagonal = valid && j == i as u32;
            let kept = criterion.keeps(sub_warp, row, valid, j, v, to, to_end) || is_diagonal;
            let lanes = sub_warp.ballot(kept);
            if lumped != 0 {
                sub_warp.in_order(sub_warp.ballot(valid && !kept), v, |v| sum += v);
            }
            if kept {
                let own = to + (lanes & ((1 << sub_warp.lane) - 1)).count_ones() as usize;
                if !col_idx.is_null() {
                    col_idx.st(own, j);
                }
                strong.st(own, v);
                if is_diagonal {
                    place = own;
                }
            }
            to += lanes.count_ones() as usize;
            base += sub_warp.lanes as usize;
        }
        if lumped != 0 && place != usize::MAX && sum * row[0] > T::ZERO {
            strong.st(place, sum);
        }
    });
}

/// `S = I - C S` with `c_i = slivers_i` where that is given and not 0, else `omega / s_ii`; rows without a
/// diagonal entry stay as they are.
#[kernel(T = [f32, f64])]
pub unsafe fn damp<T: Real>(
    n: u64,
    log2_lanes: u32,
    s: Pattern,
    values: *mut T,
    omega: T,
    slivers: *const T,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let (start, end) = s.range(i);
            let (mut found, mut diagonal) = (false, T::ZERO);
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                if s.col_idx.ld_nc(e) == i as u32 {
                    (found, diagonal) = (true, values.ld(e));
                }
                e += sub_warp.lanes as usize;
            }
            let lanes = sub_warp.ballot(found);
            if lanes != 0 {
                let diagonal = sub_warp.from_lane(diagonal, lanes.trailing_zeros());
                let sliver = if slivers.is_null() { T::ZERO } else { slivers.ld_nc(i) };
                let (scale, on_diagonal) = damping(omega, diagonal, sliver);
                let mut e = start + sub_warp.lane as usize;
                while e < end {
                    let is_diagonal = s.col_idx.ld_nc(e) == i as u32;
                    values.st(e, if is_diagonal { on_diagonal } else { -(scale * values.ld(e)) });
                    e += sub_warp.lanes as usize;
                }
            }
            i += sub_warp.stride();
        }
    }
}

/// The smoothing diagonal: `inverse_i` is `d_i` made smaller by the bound of `limits`. In a sliver row it is
/// `d_i / g_i`, and so is `slivers_i`, which is 0 in other rows. A row is a sliver row where an entry
/// [couples](Limits::couples) it to a row whose g [is large](Limits::is_large), and the bounded d
/// [is small](Limits::is_small). The number of sliver rows is added to `count`.
#[kernel(T = [f32, f64])]
pub unsafe fn smoothing_diagonal<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    g: *const T,
    d: *const T,
    limits: Limits<T>,
    inverse: *mut T,
    slivers: *mut T,
    count: *mut u32,
) {
    // SAFETY: the launcher's arguments describe a valid square CRS matrix of n rows and vectors of n
    // elements; `count` is one.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let (own_d, own_g) = (d.ld_nc(i), g.ld_nc(i));
            let (start, mut end) = a.range(i);
            if !limits.large.is_finite() {
                end = start;
            }
            let (mut coupled, mut most) = (false, T::ZERO);
            let mut e = start + sub_warp.lane as usize;
            while e < end {
                let j = a.col_idx.ld_nc(e) as usize;
                // Hardly any g is large: few look at a value.
                coupled |= limits.is_large(g.ld_nc(j)) && limits.couples(own_d, values.ld_nc(e));
                let neighbours_d = d.ld_nc(j).abs();
                if neighbours_d > most {
                    most = neighbours_d;
                }
                e += sub_warp.lanes as usize;
            }
            let coupled = sub_warp.ballot(coupled) != 0;
            let most = sub_warp.reduce(most, |x, y| if y > x { y } else { x });
            if sub_warp.lane == 0 {
                let bounded = limits.bounded(own_d, own_g);
                let is_sliver = coupled && limits.is_small(bounded, most);
                inverse.st(i, if is_sliver { own_d / own_g } else { bounded });
                slivers.st(i, if is_sliver { own_d / own_g } else { T::ZERO });
                if is_sliver {
                    atomic::atomic_add_u32(count, 1);
                }
            }
            i += sub_warp.stride();
        }
    }
}

/// The numbers that [`row_weights()`] computes.
pub mod weight {
    /// `1 / a_ii`.
    pub const INVERSE_DIAGONAL: u32 = 0;
    /// `s_i / sum_j |a_ij|`, s_i the sign of a_ii.
    pub const INVERSE_L1: u32 = 1;
    /// `a_ii / sum_j a_ij^2`.
    pub const SPAI0: u32 = 2;
    /// `sum_j |a_ij| / |a_ii|`.
    pub const GERSHGORIN_RADIUS: u32 = 3;
}

/// A number for each row, of the kind `weight`.
#[kernel(T = [f32, f64])]
pub unsafe fn row_weights<T: Real>(
    n: u64,
    log2_lanes: u32,
    a: Pattern,
    values: *const T,
    weight: u32,
    weights: *mut T,
) {
    // SAFETY: the launcher's arguments describe a valid CRS matrix of n rows.
    unsafe {
        let sub_warp = SubWarp::of(log2_lanes);
        let mut i = sub_warp.first();
        while i < n as usize {
            let (mut base, end) = a.range(i);
            let (mut found, mut own) = (false, T::ZERO);
            let (mut absolute, mut square) = (T::ZERO, T::ZERO);
            while base < end {
                let e = base + sub_warp.lane as usize;
                let valid = e < end;
                let is_diagonal = valid && a.col_idx.ld_nc(e) == i as u32;
                let mut v = T::ZERO;
                if is_diagonal || valid && weight != weight::INVERSE_DIAGONAL {
                    v = values.ld_nc(e);
                }
                if is_diagonal {
                    (found, own) = (true, v);
                }
                if weight != weight::INVERSE_DIAGONAL {
                    sub_warp.in_order(sub_warp.ballot(valid), v, |v| {
                        absolute += v.abs();
                        square += v * v;
                    });
                }
                base += sub_warp.lanes as usize;
            }
            let diagonal = sub_warp.first_of(found, own, T::ZERO);
            if sub_warp.lane == 0 {
                let value = match weight {
                    weight::INVERSE_DIAGONAL => T::ONE / diagonal,
                    weight::INVERSE_L1 if diagonal < T::ZERO => -T::ONE / absolute,
                    weight::INVERSE_L1 => T::ONE / absolute,
                    weight::SPAI0 => diagonal / square,
                    _ => absolute / diagonal.abs(),
                };
                weights.st(i, value);
            }
            i += sub_warp.stride();
        }
    }
}
