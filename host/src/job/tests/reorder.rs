//! Another numbering of the unknowns.

use crate::error::Error;
use crate::job::{Device, Options, Precond, Reorder, Solution, Solver, Warning, relative_residual};
use crate::matrix::Csr;
use crate::problem::{generate, shuffle};

fn shuffled(problem: &str, block: usize) -> Csr<f64> {
    shuffle(&generate(&problem.parse().unwrap(), 1).unwrap(), block, 5).unwrap()
}

fn rhs(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.37 * i as f64).sin()).collect()
}

fn solver(a: &Csr<f64>, options: &Options) -> Solver {
    Solver::builder().options(options.clone()).device(Device::cpu(1).unwrap()).build(a).unwrap()
}

#[test]
fn the_solution_is_in_the_given_numbering() {
    for (problem, block_size) in [("tet:9", 1), ("bidomain:5", 2)] {
        let a = shuffled(problem, block_size);
        let b = rhs(a.n_rows());
        for precond in [Precond::Jacobi, Precond::Amg] {
            let reorder = Reorder::Rcm;
            let options =
                Options { precond: Some(precond), block_size, reorder, reusable: true, ..Options::default() };
            let mut solver = solver(&a, &options);
            let Solution { x, report } = solver.solve(&b).unwrap();
            assert!(report.converged(), "{problem} {precond}: {:?}", report.outcome.reason);
            let lines = report.reordered.unwrap();
            assert!(lines.lines_after < 0.9 * lines.lines_before, "{lines:?}");
            if !report.projected {
                assert!(relative_residual(&a, &x, &b) <= 1e-8, "{problem} {precond}");
            }
            // Start, other values and several right-hand sides are in the given numbering too.
            let mut again = x.clone();
            assert_eq!(solver.solve_into(&b, &mut again).unwrap().outcome.iterations, 0);
            let twice = a.map_values(|v| 2.0 * v);
            solver.update_values(&twice).unwrap();
            for solution in solver.solve_many(&[b.clone(), b.clone()]).unwrap() {
                let half =
                    solution.x.iter().zip(&x).map(|(half, x)| (2.0 * half - x).abs()).fold(0.0, f64::max);
                assert!(half <= 1e-5 * x.iter().fold(0.0, |most: f64, x| most.max(x.abs())), "{half}");
            }
        }
    }
}

#[test]
fn auto_leaves_what_is_small_or_in_good_order() {
    let reordered = |a: &Csr<f64>, reorder| {
        let options = Options { precond: Some(Precond::Jacobi), reorder, ..Options::default() };
        solver(a, &options).solve(&rhs(a.n_rows())).unwrap().report.reordered
    };
    assert_eq!(reordered(&shuffled("poisson2d:30", 1), Reorder::Auto), None);
    let a = generate(&"poisson2d:260".parse().unwrap(), 1).unwrap();
    assert_eq!(reordered(&a, Reorder::Auto), None);
    let taken = reordered(&shuffle(&a, 1, 2).unwrap(), Reorder::Auto).unwrap();
    assert!(taken.lines_after < 0.5 * taken.lines_before, "{taken:?}");
}

#[test]
fn rows_in_errors_and_warnings_are_those_of_the_given_matrix() {
    let n = 50;
    let entries = |skip: usize| {
        let row =
            move |i: usize| [(i, i, 4.0), (i, (i * 7 + 3) % n, -1.0)].into_iter().filter(move |_| i != skip);
        let mirrored = (0..n).flat_map(row).flat_map(|(i, j, v)| [(i, j, v), (j, i, v)]);
        mirrored.filter(move |&(i, j, _)| i != skip && j != skip)
    };
    let a = Csr::from_triplets(n, n, entries(41)).unwrap();
    let options = Options { precond: Some(Precond::None), reorder: Reorder::Rcm, ..Options::default() };
    let report = solver(&a, &options).solve(&vec![0.0; n]).unwrap().report;
    assert!(report.warnings.contains(&Warning::EmptyRow { row: 42 }), "{:?}", report.warnings);
    let with_jacobi = Options { precond: Some(Precond::Jacobi), ..options };
    let a = Csr::from_triplets(n, n, entries(41).chain([(41, 0, 1.0), (0, 41, 1.0)])).unwrap();
    let refused =
        Solver::builder().options(with_jacobi).device(Device::cpu(1).unwrap()).build(&a).err().unwrap();
    assert!(matches!(refused, Error::Diagonal { row: 42, .. }), "{refused}");
}
