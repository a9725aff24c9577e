use faer::dyn_stack::MemStack;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::{Conj, MatMut, Par, Side, Spec};

use super::tree::Tree;
use super::*;
use crate::matrix::Csr;
use crate::problem::generate;
use crate::problem::random::uniform;
use crate::solver::direct::prediction::workspace;
use crate::solver::direct::vectors::norm;

fn matrix(problem: &str) -> Csr<f64> {
    generate(&problem.parse().unwrap(), 1).unwrap()
}

/// With less of its diagonal: some eigenvalues are negative.
fn with_less(a: &Csr<f64>, share: f64) -> Csr<f64> {
    let entries = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
    let less = |(i, j, v)| (i, j, if i == j { (1.0 - share) * v } else { v });
    Csr::from_triplets(a.n_rows(), a.n_cols(), (0..a.n_rows()).flat_map(entries).map(less)).unwrap()
}

fn structure(a: &Columns) -> SymbolicCholesky<usize> {
    structure_of(a, SymmetricOrdering::Amd)
}

fn structure_of(a: &Columns, order: SymmetricOrdering<usize>) -> SymbolicCholesky<usize> {
    let supernodal_flop_ratio_threshold = SupernodalThreshold::FORCE_SUPERNODAL;
    let parameters = CholeskySymbolicParams { supernodal_flop_ratio_threshold, ..Default::default() };
    factorize_symbolic_cholesky(a.symbolic(), Side::Lower, order, parameters).unwrap()
}

/// Ours, with poisoned memory for them.
struct Ours {
    factors: Factors,
    is_regular: bool,
    /// Of a right-hand side.
    x: Vec<f64>,
}

fn right_hand_side(n: usize) -> Vec<f64> {
    (0..n).map(|i| uniform(3, i as u64) - 0.5).collect()
}

fn ours(a: &Columns, symbolic: SymbolicCholesky<usize>, is_definite: bool, threads: usize) -> Ours {
    let mut factors = Factors::new(symbolic, is_definite);
    factors.values.fill(f64::NAN);
    factors.x.iter().chain(&factors.added).for_each(|v| v.set(f64::NAN));
    if let Some(Pivots { below, order }) = &mut factors.pivots {
        below.fill(f64::NAN);
        order.fill(usize::MAX / 2);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let is_regular = factors.compute(a, &AtomicBool::new(false)).unwrap();
        let mut x = right_hand_side(a.n);
        if is_regular {
            factors.solve(&mut x);
        }
        Ours { factors, is_regular, x }
    })
}

/// The numbers of `L L^T` as faer computes them, and its solution.
fn faers(a: &Columns, symbolic: &SymbolicCholesky<usize>) -> [Vec<f64>; 2] {
    let (mut values, par) = (vec![f64::NAN; symbolic.len_val()], Par::Seq);
    let request = symbolic.factorize_numeric_llt_scratch::<f64>(par, Spec::default());
    let mut memory = workspace(request.or(symbolic.solve_in_place_scratch::<f64>(1, par))).unwrap();
    let (matrix, regularization) = (a.matrix(), Default::default());
    let stack = MemStack::new(&mut memory);
    symbolic
        .factorize_numeric_llt(&mut values, matrix, Side::Lower, regularization, par, stack, Spec::default())
        .unwrap();
    let mut x = right_hand_side(a.n);
    let out = MatMut::from_column_major_slice_mut(&mut x, a.n, 1);
    let stack = MemStack::new(&mut memory);
    LltRef::new(symbolic, &values).solve_in_place_with_conj(Conj::No, out, par, stack);
    [values, x]
}

fn assert_near(found: &[f64], wanted: &[f64], what: &str) {
    let largest = wanted.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    for (i, (v, w)) in found.iter().zip(wanted).enumerate() {
        assert!((v - w).abs() <= 1e-10 * largest, "{what}, {i}: {v} instead of {w}");
    }
}

fn assert_same_on_threads(a: &Columns, is_definite: bool, ours_on_one: &Ours) {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    for threads in [2, 5] {
        let Ours { factors, x, .. } = ours(a, structure(a), is_definite, threads);
        assert!(bits(&factors.values) == bits(&ours_on_one.factors.values), "{threads} threads");
        assert!(bits(&x) == bits(&ours_on_one.x), "{threads} threads, x");
        let pivots = |factors: &Factors| factors.pivots.as_ref().map(|p| (bits(&p.below), p.order.clone()));
        assert!(pivots(&factors) == pivots(&ours_on_one.factors));
    }
}

/// What lies above the diagonal of the blocks is nobody's, and of no use.
fn without_upper(tree: &Tree, values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    for s in 0..tree.len() {
        let block = &mut values[tree.place(s)];
        block.chunks_exact_mut(tree.rows(s)).enumerate().for_each(|(j, column)| column[..j].fill(0.0));
    }
    values
}

#[test]
fn numbers_are_those_of_faer_on_any_number_of_threads() {
    for problem in ["poisson3d:18", "tet:13", "poisson2d:61", "elasticity:7"] {
        let a = Columns::of(&matrix(problem));
        let ours = ours(&a, structure(&a), true, 1);
        assert!(ours.is_regular, "{problem}");
        let [wanted, x] = faers(&a, &structure(&a));
        let tree = &ours.factors.tree;
        let [found, wanted] = [&ours.factors.values, &wanted].map(|values| without_upper(tree, values));
        assert_near(&found, &wanted, problem);
        assert_near(&ours.x, &x, problem);
        assert_same_on_threads(&a, true, &ours);
    }
}

/// Which columns are pivots may differ from faer's by rounding.
#[test]
fn indefinite_matrices_are_solved_with_pivots_of_one_and_two_columns() {
    let cases = [("poisson3d:18", 0.967, true), ("poisson2d:41", 0.925, true), ("poisson3d:18", 0.0, false)];
    for (problem, share, has_pairs) in cases {
        let a = Columns::of(&with_less(&matrix(problem), share));
        let ours = ours(&a, structure(&a), false, 1);
        let below = &ours.factors.pivots.as_ref().unwrap().below;
        assert_eq!(below.iter().any(|v| *v != 0.0), has_pairs, "{problem}");
        let b = right_hand_side(a.n);
        let left = norm(&a.residual(&ours.x, &b)) / norm(&b);
        assert!(left < 1e-10, "{problem}: {left}");
        assert_same_on_threads(&a, false, &ours);
    }
}

/// A dense matrix is one block, that is large enough for several threads, and several panels wide.
#[test]
fn a_block_is_solved_with_by_several_threads() {
    let n = 1201;
    let entry =
        |i: usize, j: usize| if i == j { n as f64 } else { uniform(7, (i.min(j) * n + i.max(j)) as u64) };
    let entries = (0..n * n).map(|k| (k / n, k % n, entry(k / n, k % n)));
    let a = Columns::of(&Csr::from_triplets(n, n, entries).unwrap());
    for is_definite in [true, false] {
        let ours = ours(&a, structure(&a), is_definite, 1);
        assert_eq!(ours.factors.tree.len(), 1);
        assert_near(&ours.x, &faers(&a, &structure(&a))[1], "x");
        assert_same_on_threads(&a, is_definite, &ours);
    }
}

#[test]
fn nothing_is_computed_for_nobody() {
    let a = Columns::of(&matrix("poisson3d:14"));
    let symbolic = structure(&a);
    let is_cancelled = AtomicBool::new(true);
    assert!(Factors::of(&a, symbolic, true, &is_cancelled).unwrap().is_none());
}

#[test]
fn a_pivot_that_is_not_positive_is_told() {
    for a in [with_less(&matrix("poisson3d:14"), 0.1), with_less(&matrix("poisson3d:14"), 1.2)] {
        let a = Columns::of(&a);
        assert!([1, 3].iter().all(|&threads| !ours(&a, structure(&a), true, threads).is_regular));
    }
    let a = Columns::of(&matrix("poisson2d:20").map_values(|_| f64::NAN));
    assert!(!ours(&a, structure(&a), true, 2).is_regular);
}

/// Of one supernode for each column, up to the last.
#[test]
fn a_long_chain_of_supernodes_does_not_fill_the_stack() {
    let n = 60_000;
    let chain = (0..n).flat_map(|i| [(i, i, 2.5), (i, (i + 1) % n, -1.0), ((i + 1) % n, i, -1.0)]);
    let a = Columns::of(&Csr::from_triplets(n, n, chain).unwrap());
    let symbolic = structure_of(&a, SymmetricOrdering::Identity);
    let Ours { x, is_regular, .. } = ours(&a, symbolic, true, 2);
    assert!(is_regular);
    let b = right_hand_side(n);
    assert!(norm(&a.residual(&x, &b)) < 1e-10 * norm(&b));
}
