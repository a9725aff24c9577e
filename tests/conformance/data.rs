//! Inputs and comparisons.

use std::sync::Arc;

use warpsolve::Real;
use warpsolve::matrix::{AnyMatrix, Coo, Csr, Format};

/// Odd lengths: within a warp, a block, a chunk of the CPU, and beyond each.
pub const SIZES: [usize; 6] = [1, 31, 33, 257, 1000, 4099];

/// A pseudo-random number in [-1, 1) with a fractional part, from two indices.
pub fn noise(seed: usize, i: usize) -> f64 {
    let mut z = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (i as u64 + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

pub fn random<T: Real>(seed: usize, n: usize) -> Vec<T> {
    (0..n).map(|i| T::from_f64(noise(seed, i))).collect()
}

/// What an output holds before it is computed.
pub fn poison<T: Real>(n: usize) -> Vec<T> {
    vec![T::from_f64(f64::NAN); n]
}

pub fn wide<T: Real>(x: &[T]) -> Vec<f64> {
    x.iter().map(|v| v.to_f64()).collect()
}

/// Relative agreement to `ulps` units of rounding, measured against the largest expected value.
#[track_caller]
pub fn assert_close<T: Real>(got: &[T], expected: &[f64], ulps: f64) {
    assert_eq!(got.len(), expected.len());
    let scale = expected.iter().fold(f64::MIN_POSITIVE, |m, v| m.max(v.abs()));
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        approx::assert_abs_diff_eq!(got.to_f64(), expected, epsilon = ulps * T::EPSILON.to_f64() * scale);
        assert!(got.is_finite(), "element {i} is {got}");
    }
}

#[track_caller]
pub fn assert_same_bits<T: Real>(a: &[T], b: &[T]) {
    assert_eq!(a.len(), b.len());
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!(a.to_f64().to_bits() == b.to_f64().to_bits(), "element {i}: {a:e} and {b:e}");
    }
}

/// A nonsymmetric matrix with about `mean` entries a row, some rows empty and some long, a diagonal of
/// 2 + mean in the others.
pub fn irregular<T: Real>(seed: usize, n: usize, mean: usize) -> Arc<Csr<T>> {
    rectangular(seed, n, n, mean)
}

/// [`irregular`] with `n` columns.
pub fn rectangular<T: Real>(seed: usize, n_rows: usize, n: usize, mean: usize) -> Arc<Csr<T>> {
    let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
    for i in 0..n_rows {
        if i % 17 == 5 && n_rows > 17 {
            continue;
        }
        let long = if i % 41 == 7 { 2 } else { 1 };
        let count = (mean as f64 * (1.0 + 0.6 * noise(seed, i)) * long as f64) as usize;
        let mut columns: Vec<u32> =
            (0..count).map(|k| ((noise(seed + 1 + k, i) + 1.0) / 2.0 * n as f64) as u32 % n as u32).collect();
        columns.extend((i < n).then_some(i as u32));
        columns.sort();
        columns.dedup();
        for c in columns {
            rows.push(i as u32);
            cols.push(c);
            let diagonal = if c as usize == i { 2.0 + mean as f64 } else { 0.0 };
            values.push(T::from_f64(noise(seed + 99, i * n + c as usize) + diagonal));
        }
    }
    Arc::new(Coo::from_parts(n_rows, n, rows, cols, values).unwrap().into_csr().0)
}

/// The matrix in every format that takes it, with its name.
pub fn in_every_format<T: Real>(a: &Arc<Csr<T>>) -> Vec<(String, Arc<AnyMatrix<T>>)> {
    let formats = [
        (Format::Crs, 1),
        (Format::Ell, 1),
        (Format::Sell, 1),
        (Format::Sell, 32),
        (Format::Sell, 256),
        (Format::BlockCrs(2), 1),
        (Format::BlockSell(2), 1),
        (Format::BlockSell(2), 32),
        (Format::BlockCrs(3), 1),
        (Format::BlockSell(3), 256),
    ];
    let all = in_formats(a, &formats);
    let blocks =
        [2, 3].iter().filter(|b| a.n_rows().is_multiple_of(**b) && a.n_cols().is_multiple_of(**b)).count();
    assert!(all.len() >= 4 + blocks, "only ELLPACK and padding may be refused");
    all
}

/// In one format of each kernel, for whole solves: what sorting and the size of blocks change is seen in
/// products.
pub fn in_a_format_of_each_kernel<T: Real>(a: &Arc<Csr<T>>) -> Vec<(String, Arc<AnyMatrix<T>>)> {
    in_formats(a, &[(Format::Crs, 1), (Format::Ell, 1), (Format::Sell, 32), (Format::BlockSell(2), 32)])
}

/// In those of these formats that it can be stored in.
fn in_formats<T: Real>(a: &Arc<Csr<T>>, formats: &[(Format, usize)]) -> Vec<(String, Arc<AnyMatrix<T>>)> {
    let stored = |&(format, sigma): &(Format, usize)| {
        let matrix = AnyMatrix::from_csr(a, format, sigma).ok()?;
        Some((format!("{format} sigma {sigma}"), Arc::new(matrix)))
    };
    formats.iter().filter_map(stored).collect()
}

/// A x, summed in f64 by faer.
pub fn dense_product<T: Real>(a: &Csr<T>, x: &[T]) -> Vec<f64> {
    let mut dense = faer::Mat::<f64>::zeros(a.n_rows(), a.n_cols());
    for i in 0..a.n_rows() {
        let (columns, values) = a.row(i);
        for (&c, v) in columns.iter().zip(values) {
            dense[(i, c as usize)] = v.to_f64();
        }
    }
    let x = faer::Col::from_fn(x.len(), |i| x[i].to_f64());
    let y = &dense * &x;
    (0..a.n_rows()).map(|i| y[i]).collect()
}

/// The n x n matrix with these entries `(i, j, value)`.
pub fn from_entries<T: Real>(n: usize, entries: &[(u32, u32, f64)]) -> Arc<Csr<T>> {
    let rows = entries.iter().map(|e| e.0).collect();
    let columns = entries.iter().map(|e| e.1).collect();
    let values = entries.iter().map(|e| T::from_f64(e.2)).collect();
    Arc::new(Coo::from_parts(n, n, rows, columns, values).unwrap().into_csr().0)
}
