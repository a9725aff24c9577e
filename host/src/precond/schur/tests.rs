use std::sync::Arc;

use super::*;
use crate::job::{self, Device, Method, Options};
use crate::precond::Precond;
use crate::problem::random::uniform;

type Entry = (usize, usize, f64);

/// Stokes' equations on staggered points (Harlow and Welch 1965): `side` cells along each of `D` axes, the
/// velocities on the faces between them, one pressure taken out. `[K B^T; B 0]`.
pub fn stokes<const D: usize>(side: usize, viscosity: f64, wind: f64) -> (Csr<f64>, usize) {
    let cells = side.pow(D as u32);
    let stride = |axis: usize| side.pow(axis as u32);
    let at = |cell: usize, axis: usize| cell / stride(axis) % side;
    // The face behind a cell along an axis, if that is not on the boundary.
    let mut number = vec![[usize::MAX; D]; cells];
    let mut faces = Vec::new();
    for axis in 0..D {
        for cell in (0..cells).filter(|&cell| at(cell, axis) + 1 < side) {
            number[cell][axis] = faces.len();
            faces.push((cell, axis));
        }
    }
    let n = faces.len();
    let mut entries: Vec<Entry> = Vec::new();
    for (i, &(cell, axis)) in faces.iter().enumerate() {
        entries.push((i, i, 2.0 * D as f64 * viscosity));
        for along in 0..D {
            // From a face to the next along an axis, with a wind of the same strength everywhere.
            let next = cell + stride(along);
            if at(cell, along) + 1 < side && number[next][axis] != usize::MAX {
                let j = number[next][axis];
                entries.extend([(i, j, -viscosity + wind), (j, i, -viscosity - wind)]);
            }
        }
        for (pressure, sign) in [(cell, 1.0), (cell + stride(axis), -1.0)] {
            if pressure > 0 {
                let row = n + pressure - 1;
                entries.extend([(row, i, sign), (i, row, sign)]);
            }
        }
    }
    (Csr::from_triplets(n + cells - 1, n + cells - 1, entries).unwrap(), n)
}

fn iterations(a: &Csr<f64>, split: Split, device: &Device) -> u32 {
    let n = a.n_rows();
    let x: Vec<f64> = (0..n).map(|i| uniform(4, i as u64) - 0.5).collect();
    let b = a.mul_vec(&x);
    let options =
        Options { method: Some(Method::Gmres), precond: Some(Precond::Schur), split, ..Options::default() };
    let job::Solution { x, report } = job::solve(a, &b, &options, device).unwrap();
    assert!(report.converged() && job::relative_residual(a, &x, &b) <= 1e-8, "{report}");
    report.outcome.iterations
}

#[test]
fn iterations_hardly_grow_with_the_size() {
    let device = Device::cpu(2).unwrap();
    let of = |a: &Csr<f64>| iterations(a, Split::Zeros, &device);
    let plane = [12, 24, 48].map(|side| of(&stokes::<2>(side, 0.1, 0.0).0));
    let space = [6, 12, 18].map(|side| of(&stokes::<3>(side, 7.0, 0.0).0));
    let oseen = [12, 24, 48].map(|side| of(&stokes::<2>(side, 0.1, 0.05).0));
    for counts in [plane, space, oseen] {
        // On the smallest of them multigrid is a direct solution.
        assert!(counts[2] <= 30 && 2 * counts[2] <= 3 * counts[1], "{counts:?}");
    }
}

#[test]
fn every_backend_takes_it_and_a_split_may_be_named() {
    let (a, n) = stokes::<2>(7, 1.0, 0.0);
    let multipliers = Arc::new((n..a.n_rows()).collect());
    let cpu = Device::cpu(1).unwrap();
    let expected = iterations(&a, Split::Zeros, &cpu);
    for device in [cpu, Device::cpu(2).unwrap(), Device::simulator().unwrap()] {
        for split in [Split::Zeros, Split::From(n), Split::Multipliers(Arc::clone(&multipliers))] {
            assert_eq!(iterations(&a, split, &device), expected);
        }
    }
}

#[test]
fn a_stabilised_block_and_a_diagonal_first_block_need_no_commutator() {
    let (a, n) = stokes::<2>(14, 1.0, 0.0);
    let device = Device::cpu(1).unwrap();
    let entries = || {
        (0..a.n_rows())
            .flat_map(|i| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v)))
    };
    let size = a.n_rows();
    let square = |entries: Vec<Entry>| Csr::from_triplets(size, size, entries).unwrap();
    let stabilised = square(entries().chain((n..size).map(|i| (i, i, -0.3))).collect());
    assert!(iterations(&stabilised, Split::From(n), &device) <= 40);
    // Darcy's law: fluxes with coefficients over 2 decades.
    let size = |i: usize| 10f64.powf(2.0 * uniform(8, i as u64) - 1.0);
    let darcy = entries().filter(|(i, j, _)| i == j || *i >= n || *j >= n);
    let darcy = square(darcy.map(|(i, j, v)| (i, j, if i == j { size(i) } else { v })).collect());
    assert!(iterations(&darcy, Split::Zeros, &device) <= 40);
}

#[test]
fn what_is_no_saddle_point_is_refused() {
    let a = Csr::<f64>::identity(5);
    let options = Options { precond: Some(Precond::Schur), ..Options::default() };
    let error = job::solve(&a, &[1.0; 5], &options, &Device::cpu(1).unwrap()).unwrap_err();
    assert!(error.to_string().contains("--split"), "{error}");
}
