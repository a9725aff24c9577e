use faer::Side;
use faer::dyn_stack::MemStack;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};
use faer::{Par, Spec};

use super::*;
use crate::matrix::Csr;
use crate::problem::generate;
use crate::problem::random::uniform;
use crate::solver::direct::prediction::workspace;

fn matrix(problem: &str) -> Csr<f64> {
    generate(&problem.parse().unwrap(), 1).unwrap()
}

/// Less than the least eigenvalue of `-A` is left of it: some are negative.
fn shifted(a: &Csr<f64>, shift: f64) -> Csr<f64> {
    let entries = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
    let diagonal = (0..a.n_rows()).map(|i| (i, i, -shift));
    Csr::from_triplets(a.n_rows(), a.n_cols(), (0..a.n_rows()).flat_map(entries).chain(diagonal)).unwrap()
}

/// Nothing on the diagonal, of which each pivot is of two columns, and parts that are not connected.
fn of_pairs(n: usize) -> Csr<f64> {
    let large = (0..n / 2).map(|k| (2 * k, 2 * k + 1, 5.0));
    let small = (0..2 * n as u64).map(|k| {
        let [i, j] = [2 * k, 2 * k + 1].map(|k| (0.9 * n as f64 * uniform(3, k)) as usize);
        (i.min(j), i.max(j), 0.3 * (uniform(5, k) - 0.5))
    });
    let upper: Vec<_> = large.chain(small.filter(|(i, j, _)| i != j)).collect();
    let lower = upper.iter().map(|&(i, j, v)| (j, i, v));
    let zeros = (0..n).map(|i| (i, i, 0.0));
    Csr::from_triplets(n, n, upper.iter().copied().chain(lower).chain(zeros)).unwrap()
}

fn structure(a: &Columns, order: SymmetricOrdering<usize>) -> SymbolicCholesky<usize> {
    let supernodal_flop_ratio_threshold = SupernodalThreshold::FORCE_SUPERNODAL;
    let parameters = CholeskySymbolicParams { supernodal_flop_ratio_threshold, ..Default::default() };
    factorize_symbolic_cholesky(a.symbolic(), Side::Lower, order, parameters).unwrap()
}

/// L, D below its diagonal, and the order of the columns within the blocks.
#[derive(Debug, PartialEq)]
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

fn faers(a: &Columns, symbolic: &SymbolicCholesky<usize>, is_definite: bool) -> Numbers {
    let mut numbers = Numbers::poisoned(symbolic);
    let Numbers { values, below, order: [forward, inverse] } = &mut numbers;
    let (par, side) = (Par::Seq, Side::Lower);
    if is_definite {
        let request = symbolic.factorize_numeric_llt_scratch::<f64>(par, Spec::default());
        let mut memory = workspace(request).unwrap();
        let (stack, regularization) = (MemStack::new(&mut memory), Default::default());
        symbolic
            .factorize_numeric_llt(values, a.matrix(), side, regularization, par, stack, Spec::default())
            .unwrap();
    } else {
        let request = symbolic.factorize_numeric_intranode_lblt_scratch::<f64>(par, Spec::default());
        let mut memory = workspace(request).unwrap();
        symbolic.factorize_numeric_intranode_lblt(
            values,
            below,
            forward,
            inverse,
            a.matrix(),
            side,
            par,
            MemStack::new(&mut memory),
            Spec::default(),
        );
    }
    numbers
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
    let elastic = matrix("elasticity:7");
    let cases = [
        (matrix("poisson3d:18"), true),
        (matrix("tet:13"), true),
        (matrix("poisson2d:61"), true),
        (elastic.clone(), true),
        (matrix("poisson3d:18"), false),
        (shifted(&matrix("tet:13"), 0.37), false),
        (shifted(&elastic, 0.21), false),
        (of_pairs(1200), false),
    ];
    for (k, (a, is_definite)) in cases.iter().enumerate() {
        let a = Columns::with_zeros(a);
        let symbolic = structure(&a, SymmetricOrdering::Amd);
        let (is_regular, numbers) = ours(&a, &symbolic, *is_definite, 1);
        assert!(is_regular, "{k}");
        let expected = faers(&a, &symbolic, *is_definite);
        let largest = expected.values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let [found, wanted] = [&numbers, &expected].map(|numbers| without_upper(&symbolic, &numbers.values));
        for (i, (v, w)) in found.iter().zip(&wanted).enumerate() {
            assert!((v - w).abs() <= 1e-10 * largest, "{k}, {i}: {v} instead of {w}");
        }
        if !is_definite {
            assert_eq!(numbers.order, expected.order, "{k}");
            assert!(numbers.below.iter().zip(&expected.below).all(|(v, w)| (v - w).abs() < 1e-10), "{k}");
        }
        for threads in [2, 5] {
            let (_, others) = ours(&a, &symbolic, *is_definite, threads);
            let bits = |numbers: &Numbers| numbers.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert!(bits(&others) == bits(&numbers), "{k}, {threads} threads");
        }
    }
}

#[test]
fn a_pivot_that_is_not_positive_is_told() {
    for a in [shifted(&matrix("poisson3d:14"), 0.5), shifted(&matrix("poisson3d:14"), 7.0)] {
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
