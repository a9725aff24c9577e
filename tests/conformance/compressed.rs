//! Matrices whose values are rounded to be stored in compressed columns.

use std::sync::Arc;

use warpsolve::Real;
use warpsolve::backend::{Backend, Slot, Then};
use warpsolve::matrix::rounding::Pivot;
use warpsolve::matrix::{Coo, Csr};
use warpsolve::precond::amg::AnyPrecision;
use warpsolve::setup::{Blocks, Formats};
use warpsolve::solver::Steps;

use crate::amg::problem;
use crate::data::*;

/// `A x` with rounded entries, except for the pivots, to which what the others lost is added.
fn rounded_product<T: Real>(a: &Csr<T>, bits: i32, pivot: Pivot, x: &[f32]) -> Vec<f64> {
    let rounded = |v: f64| {
        let step = 2f64.powi(v.abs().log2().floor() as i32 - bits);
        if v == 0.0 { v } else { (v / step).round() * step }
    };
    let row = |i: usize| {
        let entries: Vec<(usize, f64)> = a
            .row(i)
            .0
            .iter()
            .zip(a.row(i).1)
            .map(|(&j, v)| (j as usize, f64::from(v.to_f64() as f32)))
            .collect();
        let largest = entries.iter().rev().max_by(|(_, v), (_, w)| v.abs().total_cmp(&w.abs()));
        let pivot = if pivot == Pivot::Diagonal { i } else { largest.map_or(0, |&(j, _)| j) };
        let term = |&(j, v): &(usize, f64)| {
            let kept = if j == pivot { v } else { rounded(v) };
            kept * f64::from(x[j]) + (v - kept) * f64::from(x[pivot])
        };
        entries.iter().map(term).sum()
    };
    (0..a.n_rows()).map(row).collect()
}

pub fn smoothing_operators<T: Real, B: AnyPrecision<T> + Steps<T> + Formats<T, f32>>(b: &B) {
    // Columns that are so far from their rows leave fewer bits to the values.
    let far = |n: u32, distance: u32| {
        let row = |i: u32| {
            [(i, i, 2.7), (i, (i + 1) % n, -0.3), (i, (i + distance) % n, 0.7 + 0.1 * noise(75, i as usize))]
        };
        from_entries::<T>(n as usize, &(0..n).flat_map(row).collect::<Vec<_>>())
    };
    let problem = |text| (7, problem::<T>(text));
    for (bits, a) in [
        problem("tet:7"),
        problem("poisson2d:23"),
        problem("anisotropic:20:0.01"),
        problem("convection-diffusion:21:10"),
        (7, from_entries(1, &[(0, 0, -3.3)])),
        (6, far(33_001, 20_000)),
        (5, far(70_001, 35_001)),
    ] {
        let blocks = Blocks::scalar(b.csr(&a).unwrap());
        // What is far takes many rows; one pivot and one vector have to do there.
        let is_large = a.n_rows() > 30_000;
        for pivot in [Pivot::Diagonal, Pivot::Largest].into_iter().skip(usize::from(is_large)) {
            let matrix = Formats::<T, f32>::smoothing_operator(b, &blocks, pivot).unwrap();
            for x in [vec![1.0; a.n_rows()], random::<f32>(76, a.n_rows())].iter().skip(usize::from(is_large))
            {
                assert_multiplies::<B>(b, &matrix, x, &rounded_product(&a, bits, pivot, x));
            }
        }
    }
}

/// Matrices of other than square shape, an empty row and rows of equally large entries among theirs.
pub fn rounded_corrections<T: Real, B: AnyPrecision<T> + Steps<T> + Formats<T, f32>>(b: &B) {
    for (n_rows, n_cols, each) in [(1000, 77, 5), (33, 4099, 3), (700, 9, 1)] {
        let (mut rows, mut columns, mut values) = (vec![], vec![], vec![]);
        for i in (0..n_rows).filter(|&i| i != 11) {
            for k in 0..each {
                rows.push(i as u32);
                columns.push(((i * n_cols / n_rows + k) % n_cols) as u32);
                values.push(T::from_f64(if i % 7 == 3 { 0.3 } else { noise(79 + k, i) }));
            }
        }
        let a = Arc::new(Coo::from_parts(n_rows, n_cols, rows, columns, values).unwrap().into_csr().0);
        let blocks = Blocks::scalar(b.csr(&a).unwrap());
        let matrix = Formats::<T, f32>::smoothing_operator(b, &blocks, Pivot::Largest).unwrap();
        for x in [vec![1.0; n_cols], random::<f32>(80, n_cols)] {
            assert_corrects::<B>(b, &matrix, &x, &rounded_product(&a, 7, Pivot::Largest, &x));
        }
    }
}

/// The product, and a sweep of a correction with it.
fn assert_corrects<B: Backend<f32>>(b: &B, matrix: &B::Matrix, hx: &[f32], product: &[f64]) {
    let n = product.len();
    let x = b.vector(hx).unwrap();
    let mut y = b.vector(&poison(n)).unwrap();
    b.multiply(matrix, &x, Then::Store { y: &mut y }).unwrap();
    assert_close(&b.to_host(&y).unwrap(), product, 60.0);
    let [old, right, d] = [81, 82, 83].map(|seed| random::<f32>(seed, n));
    let mut y = b.vector(&old).unwrap();
    b.multiply(
        matrix,
        &x,
        Then::SweepAdd { omega: 0.75, d: &b.vector(&d).unwrap(), b: &b.vector(&right).unwrap(), y: &mut y },
    )
    .unwrap();
    let swept = |i: usize| f64::from(old[i]) + 0.75 * f64::from(d[i]) * (f64::from(right[i]) - product[i]);
    assert_close(&b.to_host(&y).unwrap(), &(0..n).map(swept).collect::<Vec<_>>(), 60.0);
}

/// All that a cycle does with a matrix for which `A x` is `product`.
fn assert_multiplies<B: Backend<f32>>(b: &B, matrix: &B::Matrix, hx: &[f32], product: &[f64]) {
    let n = hx.len();
    let x = b.vector(hx).unwrap();
    let mut y = b.vector(&poison(n)).unwrap();
    b.multiply(matrix, &x, Then::Store { y: &mut y }).unwrap();
    assert_close(&b.to_host(&y).unwrap(), product, 60.0);
    let right = b.vector(&random(77, n)).unwrap();
    let residual: Vec<f64> = (0..n).map(|i| noise(77, i) - product[i]).collect();
    let mut r = b.vector(&poison(n)).unwrap();
    b.multiply(matrix, &x, Then::Residual { b: &right, r: &mut r }).unwrap();
    assert_close(&b.to_host(&r).unwrap(), &residual, 60.0);
    let d = b.vector(&random(78, n)).unwrap();
    b.multiply(matrix, &x, Then::Sweep { omega: 0.75, d: &d, b: &right, y: &mut y }).unwrap();
    let swept = |i: usize| f64::from(hx[i]) + 0.75 * noise(78, i) * residual[i];
    assert_close(&b.to_host(&y).unwrap(), &(0..n).map(swept).collect::<Vec<_>>(), 60.0);
    let s = b.scalars(2).unwrap();
    b.multiply(matrix, &x, Then::Dot { w: &right, y: &mut y, s: &s, out: Slot(0) }).unwrap();
    let terms = || (0..n).map(|i| noise(77, i) * product[i]);
    let (dot, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
    let got = f64::from(b.read(&s, Slot(0)).unwrap());
    assert!((got - dot).abs() <= 1e-5 * size, "{got} is not {dot}");
}
