//! Extended+i interpolation and its truncation.

use super::*;
use crate::problem::random::uniform;
use crate::setup::testing::sparse;

const ALL: Truncation = Truncation { max_entries: usize::MAX, factor: 0.0 };

fn strong(a: &Arc<Csr<f64>>) -> Arc<Csr<f64>> {
    Reference::new().strength(a, CLASSICAL).unwrap()
}

fn pmis(s: &Arc<Csr<f64>>) -> Vec<u32> {
    let g = Reference::new();
    g.independent_set(s, Some(&g.transpose(s).unwrap()), 1, false, None).unwrap()
}

fn extended_i(a: &Arc<Csr<f64>>, s: &Arc<Csr<f64>>, coarse: &[u32], truncation: Truncation) -> Arc<Csr<f64>> {
    Reference::new().extended_i(a, s, &coarse.to_vec(), truncation).unwrap()
}

/// Equation 4.10 as it is written, and which entries row `i` has.
fn dense_extended_i(a: &Dense, s: &Csr<f64>, coarse: &[u32]) -> (Dense, Vec<Vec<u32>>) {
    let n = a.len();
    let unknowns: Vec<usize> = (0..n).filter(|&i| coarse[i] == 1).collect();
    let strong = |i: usize, j: usize| i != j && s.get(i, j).is_some();
    let abar = |k: usize, l: usize| if a[k][l] * a[k][k] < 0.0 { a[k][l] } else { 0.0 };
    let row = |i: usize| {
        if coarse[i] == 1 {
            let number = unknowns.binary_search(&i).unwrap();
            return ((0..unknowns.len()).map(|c| f64::from(c == number)).collect(), vec![number as u32]);
        }
        let fine: Vec<usize> = (0..n).filter(|&k| strong(i, k) && coarse[k] == 0).collect();
        let reaches = |j: usize| strong(i, j) || fine.iter().any(|&k| strong(k, j));
        let hat: Vec<usize> = unknowns.iter().copied().filter(|&j| reaches(j)).collect();
        let sum = |k: usize| hat.iter().map(|&l| abar(k, l)).sum::<f64>() + abar(k, i);
        let mut divisor = a[i][i];
        divisor +=
            (0..n).filter(|&j| j != i && !strong(i, j) && !hat.contains(&j)).map(|j| a[i][j]).sum::<f64>();
        for &k in &fine {
            divisor += if sum(k) == 0.0 { a[i][k] } else { a[i][k] * abar(k, i) / sum(k) };
        }
        let weight = |j: usize| {
            let through = fine.iter().filter(|&&k| sum(k) != 0.0).map(|&k| a[i][k] * abar(k, j) / sum(k));
            if hat.contains(&j) { -(a[i][j] + through.sum::<f64>()) / divisor } else { 0.0 }
        };
        let columns = hat.iter().map(|j| unknowns.binary_search(j).unwrap() as u32).collect();
        (unknowns.iter().map(|&j| weight(j)).collect(), columns)
    };
    (0..n).map(row).unzip()
}

/// A splitting by chance, so that rows have anything from no coarse neighbour to many.
fn by_chance(n: usize, seed: u64) -> Vec<u32> {
    (0..n).map(|i| (below(seed, i as u64, 4) == 0) as u32).collect()
}

#[test]
fn extended_i_is_equation_4_10() {
    let (mut far, mut empty) = (0, 0);
    for (k, a) in samples().into_iter().enumerate() {
        let s = strong(&a);
        for coarse in [by_chance(a.n_rows(), k as u64), pmis(&s)] {
            let (expected, columns) = dense_extended_i(&dense(&a), &s, &coarse);
            let p = extended_i(&a, &s, &coarse, ALL);
            for (i, columns) in columns.iter().enumerate() {
                assert_eq!(p.row(i).0, columns, "row {i}");
            }
            assert_close(&p, &expected, 1e-10);
            let direct = Reference::new().averaging(&s, &coarse).unwrap();
            far += (p.nnz() > direct.nnz()) as u32;
            empty += (0..p.n_rows()).any(|i| p.row_len(i) == 0) as u32;
        }
    }
    assert!(far > 5 && empty > 2, "too tame: {far} {empty}");
}

#[test]
fn extended_i_interpolates_constants_exactly_where_row_sums_vanish() {
    let mut full = dense(&generate(&Problem::Poisson2d { n: 12 }, 0).unwrap());
    for (i, row) in full.iter_mut().enumerate() {
        // Unequal couplings, some of them weak.
        for (j, v) in row.iter_mut().enumerate() {
            *v *= 0.1 + uniform(4, (i.min(j) * 1000 + i.max(j)) as u64);
        }
        row[i] = 0.0;
        row[i] = -row.iter().sum::<f64>();
    }
    let a = Arc::new(sparse(&full));
    let s = strong(&a);
    let coarse = pmis(&s);
    for truncation in [ALL, Truncation { max_entries: 2, factor: 0.1 }] {
        let p = extended_i(&a, &s, &coarse, truncation);
        for i in 0..p.n_rows() {
            let sum: f64 = p.row(i).1.iter().sum();
            assert!((sum - 1.0).abs() < 1e-13, "row {i}: {sum}");
        }
    }
}

#[test]
fn extended_i_does_not_divide_by_zero() {
    // d_1 = 0: unknown 1 is a strong neighbour of 0, but what it could pass on has the sign of its diagonal.
    let a = Arc::new(sparse(&vec![vec![2.0, -1.0, -1.0], vec![0.5, 1.0, 0.0], vec![0.0, 0.0, 1.0]]));
    let s = strong(&a);
    let p = extended_i(&a, &s, &[0, 0, 1], ALL);
    assert_eq!(dense(&p), [[1.0], [0.0], [1.0]]);
    assert_eq!(p.row_len(1), 0);
    // a~_00 = 2 - 1 + (a weak) -1 = 0: a_00 takes its place.
    let a = Arc::new(sparse(&vec![
        vec![8.0, -4.0, -8.0, -4.0],
        vec![1.0, 1.0, 0.0, 0.0],
        vec![0.0, 0.0, 1.0, 0.0],
        vec![1.0, 0.0, 0.0, 1.0],
    ]));
    let s = strong(&a);
    assert_eq!(dense(&extended_i(&a, &s, &[0, 0, 1, 0], ALL)), [[1.0], [0.0], [1.0], [0.0]]);
}

#[test]
fn truncation_keeps_the_largest_and_the_row_sum() {
    for a in samples() {
        let s = strong(&a);
        let coarse = by_chance(a.n_rows(), 11);
        let all = extended_i(&a, &s, &coarse, ALL);
        for (max_entries, factor) in [(1, 0.0), (3, 0.0), (4, 0.25), (usize::MAX, 0.5)] {
            let p = extended_i(&a, &s, &coarse, Truncation { max_entries, factor });
            for i in 0..p.n_rows() {
                let (columns, values) = all.row(i);
                let mut order: Vec<usize> = (0..columns.len()).collect();
                order.sort_by(|&e, &f| values[f].abs().total_cmp(&values[e].abs()).then(e.cmp(&f)));
                let least = order.first().map_or(0.0, |&e| factor * values[e].abs());
                order.retain(|&e| values[e].abs() >= least);
                order.truncate(max_entries);
                order.sort_unstable();
                assert_eq!(p.row(i).0, order.iter().map(|&e| columns[e]).collect::<Vec<_>>());
                let (old, kept): (f64, f64) = (values.iter().sum(), order.iter().map(|&e| values[e]).sum());
                for (&e, &found) in order.iter().zip(p.row(i).1) {
                    let expected = if kept == 0.0 { values[e] } else { values[e] * (old / kept) };
                    approx::assert_relative_eq!(found, expected, max_relative = 1e-9, epsilon = 1e-13);
                }
            }
        }
    }
}
