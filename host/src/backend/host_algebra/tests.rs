//! The operations on the host: against dense loops, and for the properties that they promise.

use arithmetic::smoothing::OUTLYING;

use super::aggregate::{aggregates, tentative};
use super::independent_set::independent_set;
use super::interpolate::{averaging, damp, greedy_splitting};
use super::strength::{row_weights, strong_entries, strong_values};
use super::{product, *};

use crate::backend::algebra::NO_AGGREGATE;
use crate::problem::random::{below, uniform};
use crate::problem::{Problem, generate};

mod extended_i;

type Dense = Vec<Vec<f64>>;

const CLASSICAL: Strength = Strength::Classical { theta: 0.25 };

fn symmetric(epsilon: f64, lumped: bool) -> Strength {
    Strength::Symmetric { epsilon, lumped }
}

/// `n_rows` rows of up to `most` entries in [-1, 1) in random columns, some rows empty.
fn random(n_rows: usize, n_cols: usize, most: u64, seed: u64) -> Csr<f64> {
    let entries = |i: usize| {
        let count = below(seed, i as u64, most + 1);
        let place = move |k| (i as u64) << 20 | k;
        let mut columns: Vec<u32> =
            (0..count).map(|k| below(seed + 1, place(k), n_cols as u64) as u32).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.into_iter().map(move |j| (j, 2.0 * uniform(seed + 2, place(u64::from(j))) - 1.0))
    };
    Csr::from_rows(
        n_rows,
        n_cols,
        |i| entries(i).len(),
        |i, columns, values| {
            for (k, (j, v)) in entries(i).enumerate() {
                (columns[k], values[k]) = (j, v);
            }
        },
    )
}

/// A random unsymmetric matrix with a stored diagonal, a third of it negative.
fn with_diagonal(n: usize, most: u64, seed: u64) -> Csr<f64> {
    let mut dense = dense(&random(n, n, most, seed));
    for (i, row) in dense.iter_mut().enumerate() {
        row[i] = if i % 3 == 1 { -1.5 } else { 2.0 + uniform(seed, i as u64) };
    }
    sparse(&dense)
}

/// Matrices of all kinds, a few hundred rows.
pub(crate) fn samples() -> Vec<Csr<f64>> {
    let problem = |problem| generate(&problem, 7).unwrap();
    vec![
        with_diagonal(97, 9, 1),
        with_diagonal(61, 45, 2),
        problem(Problem::Poisson2d { n: 13 }),
        problem(Problem::Anisotropic { n: 9, epsilon: 0.01 }),
        problem(Problem::ConvectionDiffusion { n: 11, peclet: 10.0 }),
        problem(Problem::Tet { n: 5 }),
        problem(Problem::RandomSpd { n: 211, nnz_per_row: 7 }),
        Csr::identity(5),
        Csr::identity(1),
        Csr::identity(0),
    ]
}

fn dense(a: &Csr<f64>) -> Dense {
    (0..a.n_rows()).map(|i| (0..a.n_cols()).map(|j| a.get(i, j).unwrap_or(0.0)).collect()).collect()
}

/// The entries that are not 0.
fn sparse(a: &Dense) -> Csr<f64> {
    let entries = |i: usize| a[i].iter().enumerate().filter(|(_, v)| **v != 0.0);
    Csr::from_rows(
        a.len(),
        a.first().map_or(0, Vec::len),
        |i| entries(i).count(),
        |i, columns, values| {
            for (k, (j, v)) in entries(i).enumerate() {
                (columns[k], values[k]) = (j as u32, *v);
            }
        },
    )
}

fn assert_close(found: &Csr<f64>, expected: &Dense, tolerance: f64) {
    assert_eq!(found.n_rows(), expected.len());
    for (i, (found, expected)) in dense(found).iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len());
        for (j, (found, expected)) in found.iter().zip(expected).enumerate() {
            let error = (found - expected).abs();
            assert!(error <= tolerance * expected.abs().max(1.0), "({i}, {j}): {found}, not {expected}");
        }
    }
}

fn times(a: &Dense, b: &Dense) -> Dense {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |row: &[f64], j: usize| row.iter().zip(b).map(|(v, of_b)| v * of_b[j]).sum();
    a.iter().map(|row| (0..columns).map(|j| entry(row, j)).collect()).collect()
}

/// Whether there is an edge between i and j in the graph of `s`, or of `st`.
fn edges(graphs: &[&Csr<f64>], n: usize) -> Vec<Vec<bool>> {
    let edge = |i: usize, j: usize| i != j && graphs.iter().any(|s| s.get(i, j).is_some());
    (0..n).map(|i| (0..n).map(|j| edge(i, j)).collect()).collect()
}

#[test]
fn symmetric_strength_is_that_of_its_definition() {
    let mut kept = 0;
    for a in samples() {
        let full = dense(&a);
        let strong = |i: usize, j: usize| {
            i == j || (full[i][j] != 0.0 && full[i][j].powi(2) >= 0.08 * (full[i][i] * full[j][j]).abs())
        };
        let keep = |i: usize| {
            full[i].iter().enumerate().map(|(j, v)| if strong(i, j) { *v } else { 0.0 }).collect::<Vec<_>>()
        };
        let expected: Dense = (0..full.len()).map(keep).collect();
        let s = strong_entries(&a, symmetric(0.08, false));
        assert_eq!(s, sparse(&expected));

        let lumped = strong_entries(&a, symmetric(0.08, true));
        assert_eq!((lumped.row_ptr(), lumped.col_idx()), (s.row_ptr(), s.col_idx()));
        for i in 0..full.len() {
            // Either the row sum stays, or the diagonal does because it would vanish or change its sign.
            let mut diagonal = full[i][i];
            (0..full.len()).filter(|&j| !strong(i, j)).for_each(|j| diagonal += full[i][j]);
            let stays = diagonal * full[i][i] <= 0.0;
            assert_eq!(lumped.get(i, i).unwrap(), if stays { full[i][i] } else { diagonal });
            kept += stays as u32;
            let off_diagonal = |s: &Csr<f64>| {
                s.row(i)
                    .0
                    .iter()
                    .zip(s.row(i).1)
                    .filter(|e| *e.0 != i as u32)
                    .map(|e| *e.1)
                    .collect::<Vec<_>>()
            };
            assert_eq!(off_diagonal(&lumped), off_diagonal(&s));
        }
        let mut again = s.clone();
        again.values_mut().fill(f64::NAN);
        strong_values(&a, true, &mut again);
        assert_eq!(again, lumped);
    }
    assert!(kept > 0, "no diagonal that would change its sign");
}

#[test]
fn classical_strength_is_that_of_its_definition() {
    for a in samples() {
        let mut expected = dense(&a);
        for (i, row) in expected.iter_mut().enumerate() {
            let sign = row[i].signum();
            let largest =
                row.iter().enumerate().filter(|e| e.0 != i).map(|e| -sign * e.1).fold(0.0, f64::max);
            for (j, v) in row.iter_mut().enumerate() {
                if j != i && (-sign * *v <= 0.0 || -sign * *v < 0.25 * largest) {
                    *v = 0.0;
                }
            }
        }
        assert_eq!(strong_entries(&a, CLASSICAL), sparse(&expected));
    }
}

#[test]
fn row_weights_are_those_of_their_definitions() {
    let a = with_diagonal(50, 8, 5);
    let full = dense(&a);
    for (i, row) in full.iter().enumerate() {
        let absolute: f64 = row.iter().map(|v| v.abs()).sum();
        let square: f64 = row.iter().map(|v| v * v).sum();
        let expected = [
            (RowWeight::InverseDiagonal, 1.0 / row[i]),
            (RowWeight::InverseL1, row[i].signum() / absolute),
            (RowWeight::Spai0, row[i] / square),
            (RowWeight::GershgorinRadius, absolute / row[i].abs()),
        ];
        for (weight, expected) in expected {
            approx::assert_relative_eq!(row_weights(&a, weight)[i], expected, max_relative = 1e-14);
        }
    }
}

#[test]
fn independent_sets_are_independent_and_maximal() {
    let mut one_way = 0;
    for a in samples() {
        let n = a.n_rows();
        let s = strong_entries(&a, CLASSICAL);
        let st = s.transpose();
        let depends = edges(&[&s], n);
        for isolated in [true, false] {
            let members = independent_set(&s, Some(&st), 1, isolated, None);
            let is_member = |j: &usize| members[*j] == 1;
            for (i, on) in depends.iter().enumerate() {
                let has_none = (0..n).all(|j| !on[j] && !depends[j][i]);
                let has_member = (0..n).filter(|&j| on[j]).any(|j| is_member(&j));
                // PMIS: what is left out depends on a member; two members do not depend on each other.
                assert!(is_member(&i) || has_member || (has_none && !isolated), "{i} could be added");
                assert!(!is_member(&i) || !has_none || isolated, "{i} has no edge");
                for j in (0..i).filter(|&j| is_member(&i) && is_member(&j)) {
                    assert!(!(on[j] && depends[j][i]), "{i} and {j}");
                }
                one_way += (is_member(&i) && has_member) as u32;
            }
        }
    }
    assert!(one_way > 0, "no member that depends on one");
    // Distance 2 and a single graph, symmetric by itself.
    for a in samples().into_iter().filter(|a| *a == a.transpose()) {
        let n = a.n_rows();
        let s = strong_entries(&a, symmetric(0.0, false));
        let near = edges(&[&s], n);
        let members = independent_set(&s, None, 2, true, None);
        let within = |i: usize, j: usize| near[i][j] || (0..n).any(|k| near[i][k] && near[k][j]);
        for i in 0..n {
            let others = (0..n).filter(|&j| j != i && members[j] == 1 && within(i, j)).count();
            assert_eq!(others == 0, members[i] == 1, "unknown {i} of {n}: {others} members within two edges");
        }
    }
}

#[allow(clippy::needless_range_loop)] // i is a row of several arrays
#[test]
fn aggregates_grow_around_their_roots_in_two_steps() {
    for a in samples() {
        let s = strong_entries(&a, symmetric(0.01, false));
        let n = s.n_rows();
        let outlying: Vec<f64> = (0..n).map(|i| f64::from(i % 7 == 3)).collect();
        let roots = independent_set(&s, None, 2, false, Some(&outlying));
        assert!((0..n).all(|i| (roots[i] == OUTLYING) == (i % 7 == 3)));
        let (found, count) = aggregates(&s, &roots);
        let strongest = |i: usize, of: &dyn Fn(usize) -> Option<usize>| {
            let mut best = None;
            for (&j, v) in s.row(i).0.iter().zip(s.row(i).1) {
                let is_more = best.is_none_or(|(most, _)| v.abs() > most);
                if let (true, Some(root)) = (j as usize != i && is_more, of(j as usize)) {
                    best = Some((v.abs(), root));
                }
            }
            best.map(|best| best.1)
        };
        let root = |i: usize| (roots[i] == 1).then_some(i);
        let alone = |i: usize| (i % 7 == 3).then_some(i);
        let first: Vec<_> =
            (0..n).map(|i| if i % 7 == 3 { None } else { root(i).or_else(|| strongest(i, &root)) }).collect();
        let left_over = |i: usize| (s.row_len(i) > 1).then_some(i);
        let joined = |i: usize| first[i].or_else(|| strongest(i, &|j| first[j])).or_else(|| left_over(i));
        let second: Vec<_> = (0..n).map(|i| alone(i).or_else(|| joined(i))).collect();
        let mut all: Vec<usize> = second.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(count, all.len());
        for (i, &found) in found.iter().enumerate() {
            let expected = second[i].map_or(NO_AGGREGATE, |root| all.binary_search(&root).unwrap() as u32);
            assert_eq!(found, expected, "unknown {i}");
        }
        let p = tentative::<f64>(&found, count);
        assert_eq!((p.n_rows(), p.n_cols()), (n, count));
        for i in 0..n {
            let expected = if found[i] == NO_AGGREGATE { vec![] } else { vec![found[i]] };
            assert_eq!(p.row(i), (&expected[..], &vec![1.0; expected.len()][..]));
        }
    }
}

#[test]
fn damping_is_a_jacobi_sweep() {
    let a = with_diagonal(40, 7, 3);
    let full = dense(&a);
    let outlying: Vec<f64> = (0..40).map(|i| if i % 6 == 1 { 0.01 * i as f64 } else { 0.0 }).collect();
    for of_rows in [None, Some(&outlying)] {
        let mut expected = full.clone();
        for (i, row) in expected.iter_mut().enumerate() {
            let usual = 0.7 / full[i][i];
            let c = of_rows.map_or(usual, |of_rows| if of_rows[i] == 0.0 { usual } else { of_rows[i] });
            for (j, v) in row.iter_mut().enumerate() {
                *v = f64::from(i == j) - c * *v;
            }
        }
        let mut s = a.clone();
        damp(&mut s, 0.7, of_rows);
        assert_close(&s, &expected, 1e-14);
    }
}

#[test]
fn damping_and_aggregating_at_once_changes_no_bit() {
    for a in samples() {
        let n = a.n_rows();
        let strong = strong_entries(&a, symmetric(0.01, true));
        let (aggregates, count) = aggregates(&strong, &independent_set(&strong, None, 2, false, None));
        let outlying: Vec<f64> = (0..n).map(|i| if i % 7 == 3 { 0.3 + i as f64 } else { 0.0 }).collect();
        for outlying in [None, Some(&outlying)] {
            let mut damped = strong.clone();
            damp(&mut damped, 0.7, outlying);
            let expected = product::aggregated(&damped, &aggregates, count, None);
            assert!(product::aggregated(&strong, &aggregates, count, Some((0.7, outlying))) == expected);
            assert!(expected == product::multiply(&damped, &tentative(&aggregates, count)));
        }
    }
}

#[test]
fn products_and_transposes_are_those_of_dense_matrices() {
    for (rows, inner, columns, most, seed) in
        [(30, 41, 17, 6, 1), (7, 300, 90, 60, 2), (90, 5, 1, 4, 3), (3, 0, 4, 5, 4)]
    {
        let (a, b) = (random(rows, inner.max(1), most, seed), random(inner.max(1), columns, most, seed + 9));
        let c = product::multiply(&a, &b);
        assert_close(&c, &times(&dense(&a), &dense(&b)), 1e-14);
        let mut again = c.clone();
        again.values_mut().fill(f64::NAN);
        product::values(&a, &b, &mut again, false);
        assert_eq!(again, c);
        // The pattern has what A and B reach, whatever cancels.
        for i in 0..rows {
            let mut reached: Vec<u32> =
                a.row(i).0.iter().flat_map(|&k| b.row(k as usize).0).copied().collect();
            reached.sort_unstable();
            reached.dedup();
            assert_eq!(c.row(i).0, reached);
        }
        let mut at = a.transpose();
        at.values_mut().fill(f64::NAN);
        product::transpose_values(&a, &mut at);
        assert_eq!(at, a.transpose());
    }
}

#[test]
fn a_galerkin_product_is_the_dense_triple_product() {
    let a = generate(&Problem::Tet { n: 7 }, 3).unwrap();
    let s = strong_entries(&a, symmetric(0.01, false));
    let p = averaging(&s, &greedy_splitting(&s));
    let r = p.transpose();
    let coarse = product::multiply(&r, &product::multiply(&a, &p));
    assert!(coarse.n_rows() > 5 && coarse.n_rows() < a.n_rows() / 2);
    assert_close(&coarse, &times(&dense(&r), &times(&dense(&a), &dense(&p))), 1e-13);
}

#[test]
fn the_greedy_splitting_decides_in_ascending_order() {
    for a in samples() {
        let s = strong_entries(&a, symmetric(0.01, false));
        let coarse = greedy_splitting(&s);
        for i in 0..s.n_rows() {
            // Fine exactly where a coarse unknown in front has a strong connection to it.
            let covered = (0..i).any(|k| coarse[k] == 1 && s.get(k, i).is_some());
            assert_eq!(coarse[i] == 1, !covered, "unknown {i}");
        }
    }
    // A path of seven: every second unknown.
    let path: Dense = (0..7)
        .map(|i: i32| (0..7).map(|j| [2.0, -1.0, 0.0][(i - j).unsigned_abs().min(2) as usize]).collect())
        .collect();
    assert_eq!(greedy_splitting(&sparse(&path)), [1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn averages_are_over_the_coarse_neighbours() {
    for a in samples() {
        let s = strong_entries(&a, symmetric(0.01, false));
        // Some fine unknowns without coarse neighbours among them.
        let coarse: Vec<u32> = (0..s.n_rows()).map(|i| (below(3, i as u64, 4) == 0) as u32).collect();
        let unknowns: Vec<usize> = (0..s.n_rows()).filter(|&i| coarse[i] == 1).collect();
        let row = |i: usize| {
            let weights = unknowns.iter().map(|&c| match coarse[i] {
                1 => f64::from(c == i),
                _ => f64::from(s.get(i, c).is_some()),
            });
            let sum: f64 = weights.clone().sum();
            weights.map(|w| if w > 0.0 { w / sum } else { 0.0 }).collect::<Vec<f64>>()
        };
        let expected: Dense = (0..s.n_rows()).map(row).collect();
        let p = averaging(&s, &coarse);
        assert_eq!(p.n_cols(), unknowns.len());
        assert_close(&p, &expected, 0.0);
        assert!(p.values().iter().all(|&v| v > 0.0));
    }
}
