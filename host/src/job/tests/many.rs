//! Several right-hand sides.

use super::devices;
use crate::job::{Device, Method, Options, Precision, Precond, Solution, Solver, relative_residual};
use crate::matrix::Csr;
use crate::problem::generate;
use crate::problem::random::uniform;
use crate::solver::Stop;

fn matrix(problem: &str) -> Csr<f64> {
    generate(&problem.parse().unwrap(), 1).unwrap()
}

/// Columns; the second is 0, which needs no iteration.
fn columns(n: usize, count: usize) -> Vec<Vec<f64>> {
    let entry = |c: usize, i: usize| match c {
        1 => 0.0,
        2 => (i % 7) as f64,
        _ => uniform(c as u64, i as u64) - 0.3 * c as f64,
    };
    (0..count).map(|c| (0..n).map(|i| entry(c, i)).collect()).collect()
}

fn solver(a: &Csr<f64>, options: &Options, device: &Device) -> Solver {
    Solver::builder().options(options.clone()).device(device.clone()).build(a).unwrap()
}

fn asked(method: Method, precond: Precond) -> Options {
    Options { method: Some(method), precond: Some(precond), ..Options::default() }
}

/// All columns at once, and each alone: solutions, and whether they are the same to the last bit.
fn compare(a: &Csr<f64>, options: &Options, device: &Device, count: usize, at_once: usize) {
    let b = columns(a.n_rows(), count);
    let together = solver(a, options, device).solve_many(&b).unwrap();
    let mut alone = solver(a, options, device);
    for (c, (b, Solution { x, report })) in b.iter().zip(&together).enumerate() {
        let what =
            format!("column {c} of {count}, {:?} {:?}, {}", options.method, options.precond, device.name());
        let single = alone.solve(b).unwrap();
        assert!(report.converged(), "{what}: {:?}", report.outcome.reason);
        assert!(relative_residual(a, x, b) <= options.stop.rtol, "{what}");
        assert_eq!(report.outcome.history, single.report.outcome.history, "{what}");
        assert_eq!(*x, single.x, "{what}");
        assert_eq!(report.columns, at_once, "{what}");
    }
    let iterations = |s: &Solution| s.report.outcome.iterations;
    assert_eq!(iterations(&together[1]), 0);
    assert!(iterations(&together[0]) > 0);
}

#[test]
fn columns_solved_at_once_are_those_solved_alone_to_the_last_bit() {
    let a = matrix("tet:4");
    for device in devices() {
        for precond in [Precond::None, Precond::Jacobi, Precond::Amg] {
            for precision in [Precision::F64, Precision::F32] {
                let stop =
                    Stop { rtol: if precision == Precision::F64 { 1e-9 } else { 1e-4 }, ..Stop::default() };
                let options = Options { precision, stop, ..asked(Method::Cg, precond) };
                compare(&a, &options, &device, 5, 5);
            }
        }
    }
}

#[test]
fn many_threads_give_the_same_columns() {
    let a = matrix("poisson3d:17");
    let b = columns(a.n_rows(), 3);
    let options = asked(Method::Cg, Precond::Amg);
    let [one, three] = [1, 3].map(|threads| {
        let device = Device::cpu(threads).unwrap();
        solver(&a, &options, &device).solve_many(&b).unwrap().into_iter().map(|s| s.x).collect::<Vec<_>>()
    });
    assert_eq!(one, three);
}

#[test]
fn methods_for_one_right_hand_side_take_one_after_the_other() {
    let a = matrix("convection-diffusion:9:3");
    let device = Device::cpu(1).unwrap();
    for options in [asked(Method::Gmres, Precond::Jacobi), asked(Method::Bicgstab, Precond::Ilu)] {
        compare(&a, &options, &device, 3, 1);
    }
}

#[test]
fn singular_systems_are_projected_column_by_column() {
    // The Laplacian with Neumann's condition: constants are its null space.
    let n = 40;
    let entry = |i: usize| {
        let neighbours = [i.checked_sub(1), Some(i + 1).filter(|&j| j < n)];
        let neighbours: Vec<usize> = neighbours.into_iter().flatten().collect();
        std::iter::once((i, i, neighbours.len() as f64))
            .chain(neighbours.into_iter().map(move |j| (i, j, -1.0)))
    };
    let a = Csr::from_triplets(n, n, (0..n).flat_map(entry)).unwrap();
    for device in devices() {
        let b = columns(n, 4);
        let solutions = solver(&a, &asked(Method::Cg, Precond::Jacobi), &device).solve_many(&b).unwrap();
        for (c, solution) in solutions.iter().enumerate() {
            assert!(
                solution.report.converged() && solution.report.columns == 4,
                "{c}: {:?}",
                solution.report
            );
            assert_eq!(solution.report.projected, c != 1);
            assert!(solution.x.iter().sum::<f64>().abs() < 1e-6);
        }
    }
}

#[test]
fn nobody_has_chosen_and_the_first_column_finds_the_way() {
    let a = matrix("poisson2d:30");
    let b = columns(a.n_rows(), 4);
    let solutions = Solver::builder().device(Device::cpu(1).unwrap()).solve_many(&a, &b).unwrap();
    for (b, Solution { x, report }) in b.iter().zip(&solutions) {
        assert!(report.converged() && relative_residual(&a, x, b) <= 1e-8, "{report:?}");
    }
    let empty: [Vec<f64>; 0] = [];
    assert!(Solver::builder().device(Device::cpu(1).unwrap()).solve_many(&a, &empty).unwrap().is_empty());
    assert!(Solver::builder().device(Device::cpu(1).unwrap()).solve_many(&a, &[vec![1.0]]).is_err());
}
