//! Tests of diagonal runs.

use super::super::entry::Bf16;
use super::*;
use crate::matrix::Coo;
use crate::matrix::rounding::{Pivot, Rounding};
use crate::problem::{self, random};

fn rounded<S: Real, T: Real>(a: &Csr<S>) -> Option<DiagonalRuns<T>> {
    DiagonalRuns::from_csr(a, |rows, values| a.round_rows(rows, values))
}

/// Every product, of all blocks and of the last, against the plain one.
fn check<T: Real>(a: &Csr<T>) {
    check_products(a, &rounded::<T, T>(a).expect("has diagonals"));
}

fn check_products<T: Real, V: Entry<T>>(a: &Csr<T>, runs: &DiagonalRuns<T, V>) {
    let x: Vec<T> = (0..a.n_cols()).map(|j| T::from_f64((0.7 * j as f64).sin() + 1.5)).collect();
    let expected = a.mul_vec(&x);
    let magnitude = a.map_values(T::abs).mul_vec(&x);
    let last = (a.n_rows() - 1) / ROWS * ROWS;
    type Version<'a, T> = &'a dyn Fn(usize, &mut [T]);
    let versions: [Version<T>; 2] =
        [&|first, y| runs.multiply(&x, first, y), &|first, y| runs.multiply_any::<false>(&x, first, y)];
    for multiply in versions {
        let mut y = vec![T::from_f64(f64::NAN); a.n_rows()];
        for (b, y) in y.chunks_mut(ROWS).enumerate() {
            multiply(b * ROWS, y);
        }
        for i in 0..a.n_rows() {
            let error = (y[i] - expected[i]).to_f64().abs();
            let bound = (a.row_len(i) + 2) as f64 * T::EPSILON.to_f64() * magnitude[i].to_f64();
            assert!(error <= bound, "row {i} of {}: {} is not {}", a.n_rows(), y[i], expected[i]);
        }
        let whole = y.clone();
        multiply(last, &mut y[last..]);
        assert!(y == whole);
    }
}

#[test]
fn runs_and_scattered_entries_add_up_to_the_product() {
    // Ends of lines inside slices; the last slice has 8, 2 and 6 rows.
    for n in [24, 27, 31] {
        check(&problem::tet(n, 3));
        check(&problem::tet(n, 3).cast::<f32>());
    }
}

#[test]
fn gaps_empty_rows_and_more_columns_than_rows() {
    for n in [1, 8, 15, 2048, 4099] {
        let mut a = Coo::new(n, n + 40, 5 * n).unwrap();
        for i in 0..n {
            for offset in [0, 1, 7, 31, 40] {
                if i % 97 != 50 && (i + offset) % 61 != 5 && i + offset < n + 40 {
                    a.push(i, i + offset, ((3 * i + offset) as f64).cos());
                }
            }
        }
        let a: Csr<f64> = a.into_csr().0;
        if n < LANES {
            assert!(rounded::<f64, f64>(&a).is_none());
        } else {
            check(&a);
        }
    }
}

#[test]
fn values_are_rounded_on_the_way() {
    let a = problem::tet(27, 3);
    let [rounded, cast] = [rounded::<f64, f32>(&a), rounded::<f32, f32>(&a.cast())].map(Option::unwrap);
    assert_eq!(rounded.columns.as_slice(), cast.columns.as_slice());
    assert_eq!(rounded.values.as_slice(), cast.values.as_slice());
}

#[test]
fn bf16_holds_what_rounding_leaves() {
    for n in [24, 27] {
        let a = problem::tet(n, 3);
        let rounding = Rounding::of(&a, Pivot::Diagonal).expect("has few entries far away");
        let row_values = |rows: Range<usize>, values: &mut [f32]| rounding.values(rows, values);
        let runs: DiagonalRuns<f32, Bf16> = DiagonalRuns::from_csr(&a, row_values).expect("has diagonals");
        assert!(runs.rests.iter().any(|&rest| rest != 0.0));
        check_products(&a.with_rows(row_values), &runs);
        let exact: DiagonalRuns<f32> = DiagonalRuns::from_csr(&a, row_values).expect("has diagonals");
        assert!(exact.rests.is_empty() && 5 * runs.bytes() < 4 * exact.bytes());
    }
}

#[test]
fn short_rows_without_diagonals_are_scattered() {
    let n = 64 * SAMPLED * LANES + 5;
    let mut p = Coo::new(n, 1000, 0).unwrap();
    for i in 0..n as u64 {
        for k in 0..random::below(7, i, 5) {
            p.push(i as usize, random::below(k, i, 1000) as usize, random::uniform(k, i) - 0.5);
        }
    }
    let p: Csr<f64> = p.into_csr().0;
    let runs = rounded::<f64, f64>(&p).expect("many rows for its entries");
    assert!(runs.slices.iter().all(|counts| counts.runs == 0));
    check_products(&p, &runs);
}

#[test]
fn a_matrix_without_diagonals_is_not_copied() {
    // Of the second a part is looked at.
    for n in [500, 64 * SAMPLED * LANES + 5] {
        assert!(rounded::<f64, f64>(&problem::random_spd(n, 8, 1)).is_none());
    }
}
