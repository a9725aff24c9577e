//! Rows and columns scaled, and rows permuted.

use crate::error::Error;
use crate::job::{Device, Method, Options, Permute, Precond, Scale, Solution, Solver, relative_residual};
use crate::matrix::Csr;
use crate::problem::generate;
use crate::problem::random::{below, permutation};

/// Convection and diffusion with rows and columns multiplied by powers of ten up to `10^(+-size)`, and the
/// rows at random where `is_permuted`.
fn given(size: u64, is_permuted: bool) -> Csr<f64> {
    let a: Csr<f64> = generate(&"convection-diffusion:13:40".parse().unwrap(), 1).unwrap();
    let n = a.n_rows();
    let rows = if is_permuted { permutation(n as u32, 4) } else { (0..n as u32).collect() };
    let factor = |seed: u64, i: usize| 10f64.powi(below(seed, i as u64, 2 * size + 1) as i32 - size as i32);
    let row = |k: usize| {
        let i = rows[k] as usize;
        let entry = move |(&j, &v): (&u32, &f64)| (k, j as usize, v * factor(1, i) * factor(2, j as usize));
        a.row(i).0.iter().zip(a.row(i).1).map(entry).collect::<Vec<_>>()
    };
    Csr::from_triplets(n, n, (0..n).flat_map(row)).unwrap()
}

fn rhs(a: &Csr<f64>) -> Vec<f64> {
    a.mul_vec(&(0..a.n_rows()).map(|i| 1.5 + (0.37 * i as f64).sin()).collect::<Vec<_>>())
}

#[test]
fn right_hand_sides_of_extreme_size_are_solved_for() {
    let a = given(0, false);
    for size in [1e-200, 1e200] {
        for (scaling, permute) in [(Scale::Ruiz, Permute::None), (Scale::None, Permute::Matching)] {
            let b = vec![size; a.n_rows()];
            let builder = Solver::builder().scaling(scaling).permute(permute);
            let Solution { x, report } = builder.device(Device::cpu(1).unwrap()).solve(&a, &b).unwrap();
            assert!(report.converged(), "{size} {scaling} {permute}: {report}");
            assert!(relative_residual(&a, &x, &b) <= 1e-8);
        }
    }
}

#[test]
fn residual_tolerance_and_solution_are_those_of_the_given_system() {
    let ways = [
        (2, false, Scale::Ruiz, Permute::None),
        (2, false, Scale::Matching, Permute::None),
        (2, true, Scale::Matching, Permute::Matching),
        (0, true, Scale::None, Permute::Matching),
    ];
    for device in [Device::cpu(2).unwrap(), Device::simulator().unwrap()] {
        for (size, is_permuted, scaling, permute) in ways {
            let a = given(size, is_permuted);
            let b = rhs(&a);
            let options = Options { precond: Some(Precond::Jacobi), scaling, permute, ..Options::default() };
            let builder = || Solver::builder().options(options.clone()).device(device.clone());
            let mut solver = builder().build(&a).unwrap();
            let Solution { x, report } = solver.solve(&b).unwrap();
            assert!(report.converged(), "{scaling} {permute}: {report}");
            let found = relative_residual(&a, &x, &b);
            assert!(found <= 1e-8 && (found - report.relative_residual).abs() <= 1e-12, "{found}");
            let scaled = report.scaled.unwrap();
            assert_eq!((scaled.scaling, scaled.permute), (scaling, permute));
            // Start, several right-hand sides and other values are of the given system too.
            let mut again = x.clone();
            assert_eq!(solver.solve_into(&b, &mut again).unwrap().outcome.iterations, 0);
            assert_eq!(again, x);
            let twice = a.map_values(|v| 2.0 * v);
            solver.update_values(&twice).unwrap();
            for solution in solver.solve_many(&[&b, &b]).unwrap() {
                assert!(relative_residual(&twice, &solution.x, &b) <= 1e-8);
            }
            // An absolute tolerance is of the given residual.
            let solution = builder().rtol(0.0).atol(1e-6).solve(&a, &b).unwrap();
            let norm = relative_residual(&a, &solution.x, &b) * b.iter().map(|v| v * v).sum::<f64>().sqrt();
            assert!(solution.report.converged() && norm <= 1e-6, "{norm}");
        }
    }
}

#[test]
fn a_symmetric_matrix_stays_symmetric() {
    let a: Csr<f64> = generate(&"poisson2d:15".parse().unwrap(), 1).unwrap();
    let d = |i: usize| 10f64.powi(i as i32 % 9 - 4);
    let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
    let entries = (0..a.n_rows()).flat_map(row).map(|(i, j, v)| (i, j, v * d(i) * d(j)));
    let scaled = Csr::from_triplets(a.n_rows(), a.n_rows(), entries).unwrap();
    for scaling in [Scale::Ruiz, Scale::Matching] {
        let solver = Solver::builder().method(Method::Cg).scaling(scaling).device(Device::cpu(1).unwrap());
        let report = solver.solve(&scaled, &rhs(&scaled)).unwrap().report;
        assert!(report.converged() && report.warnings.is_empty(), "{scaling}: {report}");
    }
}

#[test]
fn what_does_not_go_together_is_refused_in_words() {
    let build = |a: &Csr<f64>, options: Options| {
        Solver::builder().options(options).device(Device::cpu(1).unwrap()).build(a).err().unwrap().to_string()
    };
    let permute = Permute::Matching;
    let blocks = Options { permute, block_size: 2, ..Options::default() };
    assert!(build(&Csr::identity(4), blocks).contains("does not go with blocks"));
    let singular = Csr::from_triplets(3, 3, [(0, 0, 1.0), (1, 0, 2.0), (2, 2, 1.0)]).unwrap();
    let message = build(&singular, Options { permute, ..Options::default() });
    assert!(message.contains("of its 3 rows only 2 can be matched"), "{message}");
    let wide = Csr::from_triplets(2, 3, [(0, 0, 1.0)]).unwrap();
    let options = Options { scaling: Scale::Ruiz, ..Options::default() };
    let built = Solver::builder().options(options).device(Device::cpu(1).unwrap()).build(&wide);
    assert!(matches!(built.err().unwrap(), Error::Matrix(_)));
}
