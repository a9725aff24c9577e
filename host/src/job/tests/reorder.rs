//! Another numbering of the unknowns.

use crate::error::Error;
use crate::job::{
    Device, Options, Precond, Reorder, Reordered, Solution, Solver, Warning, relative_residual,
};
use crate::matrix::Csr;
use crate::problem::{generate, shuffle};

fn shuffled(problem: &str, block: usize) -> Csr<f64> {
    shuffle(&generate(&problem.parse().unwrap(), 1).unwrap(), block, 5).unwrap()
}

fn rhs(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.37 * i as f64).sin()).collect()
}

fn solver(a: &Csr<f64>, options: &Options) -> Solver {
    on(&Device::cpu(1).unwrap(), a, options)
}

fn on(device: &Device, a: &Csr<f64>, options: &Options) -> Solver {
    Solver::builder().options(options.clone()).device(device.clone()).build(a).unwrap()
}

#[test]
fn the_solution_is_in_the_given_numbering() {
    for (problem, block_size) in [("tet:9", 1), ("bidomain:5", 2)] {
        for precond in [Precond::Jacobi, Precond::Amg] {
            is_in_the_given_numbering(
                &Device::cpu(1).unwrap(),
                &shuffled(problem, block_size),
                block_size,
                precond,
            );
        }
    }
}

/// A device finds the numbering by itself, and makes the matrix in it. Blocks come from the host.
#[test]
fn so_it_is_where_a_device_makes_the_numbering() {
    let device = Device::simulator().unwrap();
    for precond in [Precond::None, Precond::Jacobi, Precond::Amg] {
        is_in_the_given_numbering(&device, &shuffled("tet:7", 1), 1, precond);
    }
    is_in_the_given_numbering(&device, &shuffled("bidomain:4", 2), 2, Precond::Jacobi);
}

fn is_in_the_given_numbering(device: &Device, a: &Csr<f64>, block_size: usize, precond: Precond) {
    let b = rhs(a.n_rows());
    let reorder = Reorder::Rcm;
    let options =
        Options { precond: Some(precond), block_size, reorder, reusable: true, ..Options::default() };
    let mut solver = on(device, a, &options);
    let Solution { x, report } = solver.solve(&b).unwrap();
    assert!(report.converged(), "{precond}: {:?}", report.outcome.reason);
    let lines = report.reordered.unwrap();
    assert!(lines.lines_after < 0.9 * lines.lines_before, "{lines:?}");
    if !report.projected {
        assert!(relative_residual(a, &x, &b) <= 1e-8, "{precond}");
    }
    // Start, other values and several right-hand sides are in the given numbering too.
    let mut again = x.clone();
    assert_eq!(solver.solve_into(&b, &mut again).unwrap().outcome.iterations, 0);
    let twice = a.map_values(|v| 2.0 * v);
    solver.update_values(&twice).unwrap();
    for solution in solver.solve_many(&[b.clone(), b.clone()]).unwrap() {
        let half = solution.x.iter().zip(&x).map(|(half, x)| (2.0 * half - x).abs()).fold(0.0, f64::max);
        assert!(half <= 1e-5 * x.iter().fold(0.0, |most: f64, x| most.max(x.abs())), "{half}");
    }
}

/// The same numbering on all, so the same hierarchy.
#[test]
fn cpu_and_device_take_as_many_iterations() {
    let a = shuffled("tet:8", 1);
    let options = Options { precond: Some(Precond::Amg), reorder: Reorder::Rcm, ..Options::default() };
    let found = [Device::cpu(2).unwrap(), Device::simulator().unwrap()].map(|device| {
        let report = on(&device, &a, &options).solve(&rhs(a.n_rows())).unwrap().report;
        let Reordered { lines_before, lines_after, .. } = report.reordered.unwrap();
        (report.outcome.iterations, lines_before, lines_after)
    });
    assert_eq!(found[0], found[1]);
}

/// Graphs in parts, whose order the host finds, and what has no other numbering on a device.
#[test]
fn what_a_device_does_not_number_is_solved_all_the_same() {
    let device = Device::simulator().unwrap();
    let small = generate(&"poisson2d:6".parse().unwrap(), 1).unwrap();
    let entries = |at: usize| {
        (0..36).flat_map(move |i| (0..36).map(move |j| (i, j))).map(move |(i, j)| (at + i, at + j, i, j))
    };
    let both = [0, 36].into_iter().flat_map(entries).filter_map(|(row, column, i, j)| {
        let k = small.row(i).0.iter().position(|&c| c as usize == j)?;
        Some((row, column, small.row(i).1[k]))
    });
    let parts = shuffle(&Csr::from_triplets(72, 72, both).unwrap(), 1, 3).unwrap();
    let one_way = shuffled("convection-diffusion:9", 1);
    for (a, precond, is_reordered) in
        [(&parts, Precond::Jacobi, true), (&one_way, Precond::Jacobi, true), (&one_way, Precond::Ilu, true)]
    {
        let options = Options { precond: Some(precond), reorder: Reorder::Rcm, ..Options::default() };
        let b = rhs(a.n_rows());
        let Solution { x, report } = on(&device, a, &options).solve(&b).unwrap();
        assert!(relative_residual(a, &x, &b) <= 1e-8, "{precond}");
        assert_eq!(report.reordered.is_some(), is_reordered, "{precond}");
    }
}

/// The 27 points of a cube, which is a few levels long.
fn cube(n: i64) -> Csr<f64> {
    let number = |x: i64, y: i64, z: i64| ((x * n + y) * n + z) as usize;
    let near = || (0..27).map(|k| (k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1));
    let row = |i: i64| {
        let (x, y, z) = (i / n / n, i / n % n, i % n);
        let points = near().map(move |(dx, dy, dz)| (x + dx, y + dy, z + dz));
        let inside = points.filter(move |&(x, y, z)| [x, y, z].iter().all(|c| (0..n).contains(c)));
        inside.map(move |(x, y, z)| {
            let (i, j) = (i as usize, number(x, y, z));
            (i, j, if i == j { 27.0 } else { -1.0 })
        })
    };
    Csr::from_triplets((n * n * n) as usize, (n * n * n) as usize, (0..n * n * n).flat_map(row)).unwrap()
}

#[test]
fn auto_leaves_what_is_small_long_or_in_good_order() {
    let reordered = |a: &Csr<f64>, precond| {
        let options = Options { precond: Some(precond), ..Options::default() };
        solver(a, &options).solve(&rhs(a.n_rows())).unwrap().report.reordered
    };
    assert_eq!(Options::default().reorder, Reorder::Auto);
    assert_eq!(reordered(&shuffled("poisson3d:12", 1), Precond::Jacobi), None);
    let a = cube(44);
    assert_eq!(reordered(&a, Precond::Jacobi), None);
    let a = shuffle(&a, 1, 2).unwrap();
    let taken = reordered(&a, Precond::Jacobi).unwrap();
    assert!(taken.lines_after < 0.5 * taken.lines_before, "{taken:?}");
    // Its factors have an order of their own.
    assert_eq!(reordered(&a, Precond::Ilu), None);
    assert_eq!(reordered(&shuffled("poisson2d:260", 1), Precond::Jacobi), None);
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
