//! A slice of eight rows: what it holds, and its product.

use cuda_std::Real;

use crate::backend::cpu::entry::Entry;
use crate::matrix::lanes::{LANES, add_gathered, prefetch};

/// What a slice of [`LANES`] rows holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) runs: u32,
    /// Scattered entries of the row with the most of them; the others are padded with zeros.
    pub(super) scattered: u32,
}

/// The products of the slice that `columns` and `values` begin with; moves them to the next.
///
/// # Safety
/// Every column of a scattered entry, and [`LANES`] from that of a diagonal run on, are less than `x.len()`.
#[inline(always)]
pub(super) unsafe fn slice<T: Real, V: Entry<T>, const FMA: bool>(
    counts: &Counts,
    columns: &mut &[u32],
    values: &mut &[[V; LANES]],
    x: &[T],
) -> [T; LANES] {
    let (runs, scattered) = (counts.runs as usize, counts.scattered as usize);
    // Two running sums: the latency of an addition is longer than a load takes.
    let (mut even, mut odd) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    let (c, v);
    (c, *columns) = columns.split_at(runs);
    (v, *values) = values.split_at(runs);
    let ((c, last_c), (v, last_v)) = (c.as_chunks::<2>(), v.as_chunks::<2>());
    for (c, v) in c.iter().zip(v) {
        // SAFETY: the caller's promise.
        unsafe {
            add_run::<T, V, FMA>(&mut even, &v[0], c[0], x);
            add_run::<T, V, FMA>(&mut odd, &v[1], c[1], x);
        }
    }
    for (&c, v) in last_c.iter().zip(last_v) {
        // SAFETY: the caller's promise.
        unsafe { add_run::<T, V, FMA>(&mut even, v, c, x) };
    }
    let mut sums: [T; LANES] = std::array::from_fn(|l| even[l] + odd[l]);
    if scattered > 0 {
        let (c, v);
        (c, *columns) = columns.split_at(LANES * scattered);
        (v, *values) = values.split_at(scattered);
        // SAFETY: the caller's promise.
        sums = unsafe { add_scattered(sums, v, c, x) };
    }
    sums
}

/// `sums_l += v_l x(c + l)` for every lane; `c + LANES` is at most `x.len()`.
#[inline(always)]
unsafe fn add_run<T: Real, V: Entry<T>, const FMA: bool>(
    sums: &mut [T; LANES],
    v: &[V; LANES],
    c: u32,
    x: &[T],
) {
    prefetch(v);
    // SAFETY: the caller's promise. Two branches for each entry cost a tenth of the product.
    let x = unsafe { x.get_unchecked(c as usize..c as usize + LANES) };
    let v = v.map(V::value);
    for l in 0..LANES {
        sums[l] = if FMA { v[l].mul_add(x[l], sums[l]) } else { sums[l] + v[l] * x[l] };
    }
}

/// Adds the scattered entries. Not inlined, so that it is compiled without AVX-512, with which
/// LLVM shuffles the columns through vector registers to gather.
///
/// # Safety
/// Every column is less than `x.len()`.
#[inline(never)]
unsafe fn add_scattered<T: Real, V: Entry<T>>(
    mut sums: [T; LANES],
    v: &[[V; LANES]],
    c: &[u32],
    x: &[T],
) -> [T; LANES] {
    for (v, c) in v.iter().zip(c.as_chunks().0) {
        prefetch(v);
        // SAFETY: the caller's promise.
        unsafe { add_gathered(&mut sums, &v.map(V::value), c, x) };
    }
    sums
}
