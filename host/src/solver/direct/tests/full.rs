//! LU whose last columns are full, and what searches for entries rely on.

use super::*;
use crate::solver::direct::columns::Columns;
use crate::solver::direct::sparse_lu::{Choice, Order};

const ANY: Choice = Choice { threshold: 1.0, comes_last: false };

/// Three blocks that follow each other, with `sizes` columns: each a sparse matrix with a few full rows and
/// columns, so that its last columns are full. Columns need those of earlier blocks too.
fn blocks(sizes: &[usize], seed: u64) -> (Csr<f64>, Order) {
    let (mut entries, mut ends, mut begin) = (Vec::new(), Vec::new(), 0);
    for &size in sizes {
        let random = |k: usize| below(seed + begin as u64, k as u64, size as u64) as usize;
        let value = |k: usize| uniform(seed + 1, (begin * 7 + k) as u64) - 0.5;
        let place = |k: usize| (begin + random(2 * k), begin + random(2 * k + 1), value(k));
        entries.extend((0..6 * size).map(place));
        entries.extend((0..size).map(|i| (begin + i, begin + i, value(i) + 2.0)));
        entries.extend((0..begin).map(|i| (i, begin + random(i), value(i))));
        begin += size;
        ends.push(begin);
    }
    let a = Csr::from_triplets(begin, begin, entries).unwrap();
    (a, Order { columns: (0..begin).collect(), ends })
}

fn factors(a: &Csr<f64>, order: &Order) -> SparseLu {
    let none = vec![u32::MAX; a.n_rows()];
    SparseLu::of(&Columns::of(a), order, &none, ANY, f64::INFINITY).unwrap()
}

#[test]
fn full_columns_are_eliminated_at_once_in_every_block() {
    let (a, order) = blocks(&[420, 3, 450, 50], 5);
    let (n, lu) = (a.n_rows(), factors(&a, &order));
    assert_eq!(lu.rank(), n);
    assert!(lu.entries() > 100_000, "{}", lu.entries());
    let (b, mut x) = (rhs(n), rhs(n));
    lu.solve(&mut x);
    assert!(job::relative_residual(&a, &x, &b) < 1e-11);
    let mut x = b.clone();
    lu.solve_transposed(&mut x);
    assert!(job::relative_residual(&a.transpose(), &x, &b) < 1e-11);
}

#[test]
fn full_columns_without_a_pivot_are_put_off() {
    let (a, order) = blocks(&[420, 460], 6);
    // Two of the last columns of each block become others of that block.
    let same = |j: usize| match j {
        417 => 411,
        419 => 412,
        870 => 877,
        _ => j,
    };
    let a = a.transpose();
    let row =
        |i: usize| a.row(same(i)).0.iter().zip(a.row(same(i)).1).map(move |(&j, &v)| (j as usize, i, v));
    let a = Csr::from_triplets(a.n_rows(), a.n_rows(), (0..a.n_rows()).flat_map(row)).unwrap();
    let (n, lu) = (a.n_rows(), factors(&a, &order));
    assert_eq!(lu.rank(), n - 3);
    for k in 0..3 {
        let right = lu.right_null_vector(k);
        assert!(norm(&a.mul_vec(&right)) < 1e-11 * norm(&right));
        let left = lu.left_null_vector(|row| if row == k { 1.0 } else { 0.0 });
        assert!(norm(&a.transpose().mul_vec(&left)) < 1e-11 * norm(&left));
    }
    let b = a.mul_vec(&rhs(n));
    assert!(norm(&lu.unmet(&b)) < 1e-11 * norm(&b));
    let mut x = b.clone();
    lu.solve(&mut x);
    assert!(job::relative_residual(&a, &x, &b) < 1e-11);
}

/// Entries of 1 and -1 cancel often, and searches that leave columns out rely on what has cancelled.
#[test]
fn entries_that_cancel_are_not_lost() {
    for seed in 0..60 {
        let n = 20 + seed as usize % 17;
        let random = |k: usize| below(seed, k as u64, n as u64) as usize;
        let sign = |k: usize| if uniform(seed + 1, k as u64) < 0.5 { -1.0 } else { 1.0 };
        let entries = (0..3 * n).map(|k| (random(2 * k), random(2 * k + 1), sign(k)));
        let a = Csr::from_triplets(n, n, entries.chain((0..n).map(|i| (i, i, 1.0)))).unwrap();
        let lu = factors(&a, &Order::of((0..n).collect()));
        let b = a.mul_vec(&rhs(n));
        let mut x = b.clone();
        lu.solve(&mut x);
        assert!(job::relative_residual(&a, &x, &b) < 1e-10, "{seed}");
        for k in 0..n - lu.rank() {
            let right = lu.right_null_vector(k);
            assert!(norm(&a.mul_vec(&right)) < 1e-10 * norm(&right), "{seed}");
        }
    }
}
