//! What is said of systems of several components, and of figures of a system that was changed to be solved.

use crate::job::{Device, Options, Solver, Warning, prospect};
use crate::matrix::Csr;

/// So many chains of unknowns, whose rows add up to 0.
fn chains(count: usize, length: usize) -> Csr<f64> {
    let link = move |i: usize| [(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0), (i + 1, i, -1.0)];
    let links = (0..count).flat_map(move |c| (1..length).flat_map(move |k| link(c * length + k - 1)));
    Csr::from_triplets(count * length, count * length, links).unwrap()
}

/// More components than a null space of constants is kept for.
#[test]
fn many_components_are_not_solved_in_silence() {
    let a = chains(20, 6);
    let b = a.mul_vec(&(0..a.n_rows()).map(|i| (0.7 * i as f64).sin()).collect::<Vec<_>>());
    let report = Solver::builder().device(Device::cpu(1).unwrap()).solve(&a, &b).unwrap().report;
    assert!(report.converged(), "{report}");
    assert!(matches!(report.warnings[..], [Warning::NotUnique { .. }]), "{report}");
}

#[test]
fn figures_are_those_of_the_matrix_that_was_given() {
    let chain = chains(1, 40);
    let entries =
        |i: usize| chain.row(i).0.iter().zip(chain.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
    for (sign, scale) in [(1.0, 1.0), (-1.0, 1.0), (1.0, 1e200)] {
        // An end that is held, and three unknowns in no equation.
        let all = (0..40).flat_map(entries).chain([(0, 0, 1.0)]).map(|(i, j, v)| (i, j, sign * scale * v));
        let a = Csr::from_triplets(43, 43, all).unwrap();
        let device = Device::cpu(1).unwrap();
        let analysis = prospect(&a, &Options::default(), &device).unwrap().analysis;
        assert_eq!((analysis.structure.nonzeros, analysis.values.diagonal.zero), (a.nnz(), 3));
        let diagonal = analysis.values.diagonal;
        let of_signs = [diagonal.positive, diagonal.negative];
        assert_eq!(of_signs, if sign > 0.0 { [40, 0] } else { [0, 40] });
        assert!((analysis.values.most / (2.0 * scale) - 1.0).abs() < 1e-15, "{analysis:?}");
        let b = [vec![1.0; 40], vec![0.0; 3]].concat();
        let report = Solver::builder().device(device).solve(&a, &b).unwrap().report;
        assert!(report.converged() && report.nnz == a.nnz(), "{report}");
    }
}
