use faer::Side;
use faer::dyn_stack::MemStack;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, IntranodeLbltRef, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::{Conj, MatMut, Par, Spec};

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

fn structure(a: &Columns, order: SymmetricOrdering<usize>) -> SymbolicCholesky<usize> {
    let supernodal_flop_ratio_threshold = SupernodalThreshold::FORCE_SUPERNODAL;
    let parameters = CholeskySymbolicParams { supernodal_flop_ratio_threshold, ..Default::default() };
    factorize_symbolic_cholesky(a.symbolic(), Side::Lower, order, parameters).unwrap()
}

/// L, D below its diagonal, and the order of the columns within the blocks.
struct Numbers {
    values: Vec<f64>,
    below: Vec<f64>,
    order: [Vec<usize>; 2],
}

impl Numbers {
    fn poisoned(symbolic: &SymbolicCholesky<usize>) -> Numbers {
        let n = symbolic.nrows();
        let order = [vec![usize::MAX / 2; n], vec![usize::MAX / 2; n]];
        Numbers { values: vec![f64::NAN; symbolic.len_val()], below: vec![f64::NAN; n], order }
    }
}

fn ours(
    a: &Columns,
    symbolic: &SymbolicCholesky<usize>,
    is_definite: bool,
    threads: usize,
) -> (bool, Numbers) {
    let SymbolicCholeskyRaw::Supernodal(structure) = symbolic.raw() else { panic!("not in blocks") };
    let mut numbers = Numbers::poisoned(symbolic);
    let Numbers { values, below, order: [forward, inverse] } = &mut numbers;
    let pivots = (!is_definite).then_some(Pivots { below, order: [forward, inverse] });
    let block = Block { values, pivots };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let is_regular = pool.install(|| factorise(a, symbolic.perm(), structure, block)).unwrap();
    (is_regular, numbers)
}

fn faers(a: &Columns, symbolic: &SymbolicCholesky<usize>) -> Vec<f64> {
    let (mut values, par) = (vec![f64::NAN; symbolic.len_val()], Par::Seq);
    let mut memory = workspace(symbolic.factorize_numeric_llt_scratch::<f64>(par, Spec::default())).unwrap();
    let (stack, regularization) = (MemStack::new(&mut memory), Default::default());
    symbolic
        .factorize_numeric_llt(
            &mut values,
            a.matrix(),
            Side::Lower,
            regularization,
            par,
            stack,
            Spec::default(),
        )
        .unwrap();
    values
}

/// What a solution with the factors leaves of a right-hand side.
fn left(a: &Columns, symbolic: &SymbolicCholesky<usize>, numbers: &Numbers) -> f64 {
    let b: Vec<f64> = (0..a.n).map(|i| uniform(3, i as u64) - 0.5).collect();
    let mut x = b.clone();
    let mut memory = workspace(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)).unwrap();
    let [forward, inverse] = &numbers.order;
    let order = PermRef::new_checked(forward, inverse, a.n);
    let out = MatMut::from_column_major_slice_mut(&mut x, a.n, 1);
    let factors = IntranodeLbltRef::new(symbolic, &numbers.values, &numbers.below, order);
    factors.solve_in_place_with_conj(Conj::No, out, Par::Seq, MemStack::new(&mut memory));
    norm(&a.residual(&x, &b)) / norm(&b)
}

fn assert_same_on_threads(
    a: &Columns,
    symbolic: &SymbolicCholesky<usize>,
    is_definite: bool,
    numbers: &Numbers,
) {
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    for threads in [2, 5] {
        let (_, others) = ours(a, symbolic, is_definite, threads);
        assert!(bits(&others.values) == bits(&numbers.values), "{threads} threads");
        assert!(bits(&others.below) == bits(&numbers.below) && others.order == numbers.order);
    }
}

/// What lies above the diagonal of the blocks is nobody's, and of no use.
fn without_upper(symbolic: &SymbolicCholesky<usize>, values: &[f64]) -> Vec<f64> {
    let SymbolicCholeskyRaw::Supernodal(structure) = symbolic.raw() else { panic!("not in blocks") };
    let (tree, mut values, mut begin) = (Tree::of(structure), values.to_vec(), 0);
    for s in 0..tree.len() {
        let block = &mut values[begin..begin + tree.size(s)];
        block.chunks_exact_mut(tree.rows(s)).enumerate().for_each(|(j, column)| column[..j].fill(0.0));
        begin += tree.size(s);
    }
    values
}

#[test]
fn numbers_are_those_of_faer_on_any_number_of_threads() {
    for problem in ["poisson3d:18", "tet:13", "poisson2d:61", "elasticity:7"] {
        let a = Columns::of(&matrix(problem));
        let symbolic = structure(&a, SymmetricOrdering::Amd);
        let (is_regular, numbers) = ours(&a, &symbolic, true, 1);
        assert!(is_regular, "{problem}");
        let [found, wanted] =
            [&numbers.values, &faers(&a, &symbolic)].map(|values| without_upper(&symbolic, values));
        let largest = wanted.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        for (i, (v, w)) in found.iter().zip(&wanted).enumerate() {
            assert!((v - w).abs() <= 1e-10 * largest, "{problem}, {i}: {v} instead of {w}");
        }
        assert_same_on_threads(&a, &symbolic, true, &numbers);
    }
}

/// Which columns are pivots may differ from faer's by rounding.
#[test]
fn indefinite_matrices_are_solved_with_pivots_of_one_and_two_columns() {
    let cases = [("poisson3d:18", 0.967, true), ("poisson2d:41", 0.925, true), ("poisson3d:18", 0.0, false)];
    for (problem, share, has_pairs) in cases {
        let a = Columns::of(&with_less(&matrix(problem), share));
        let symbolic = structure(&a, SymmetricOrdering::Amd);
        let (_, numbers) = ours(&a, &symbolic, false, 1);
        assert_eq!(numbers.below.iter().any(|v| *v != 0.0), has_pairs, "{problem}");
        let left = left(&a, &symbolic, &numbers);
        assert!(left < 1e-10, "{problem}: {left}");
        assert_same_on_threads(&a, &symbolic, false, &numbers);
    }
}

#[test]
fn a_pivot_that_is_not_positive_is_told() {
    for a in [with_less(&matrix("poisson3d:14"), 0.1), with_less(&matrix("poisson3d:14"), 1.2)] {
        let a = Columns::of(&a);
        let symbolic = structure(&a, SymmetricOrdering::Amd);
        assert!([1, 3].iter().all(|&threads| !ours(&a, &symbolic, true, threads).0));
    }
    let a = Columns::of(&matrix("poisson2d:20").map_values(|_| f64::NAN));
    assert!(!ours(&a, &structure(&a, SymmetricOrdering::Amd), true, 2).0);
}

#[test]
fn a_long_chain_of_supernodes_does_not_fill_the_stack() {
    let n = 60_000;
    let chain = (0..n).flat_map(|i| [(i, i, 2.5), (i, (i + 1) % n, -1.0), ((i + 1) % n, i, -1.0)]);
    let a = Columns::of(&Csr::from_triplets(n, n, chain).unwrap());
    let symbolic = structure(&a, SymmetricOrdering::Identity);
    assert!(ours(&a, &symbolic, true, 2).0);
}
