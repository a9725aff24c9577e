//! Matrices of blocks: diagonals of blocks, hierarchies, block Jacobi.

use std::sync::Arc;
use warpsolve::backend::Then;
use warpsolve::solver::Steps;

use warpsolve::backend::reference::Reference;
use warpsolve::job::Options;
use warpsolve::matrix::{AnyMatrix, Csr, Format};
use warpsolve::precond::amg::{Amg, AnyPrecision, Coarsening, Params};
use warpsolve::precond::{BlockJacobi, JacobiSweeps, Parameters, Preconditioner, SingularBlocks};
use warpsolve::setup::{BlockMatrices, Blocks, Diagonals};
use warpsolve::solver::{Cg, IterativeSolver, Stop, StopReason};
use warpsolve::{Error, Real};

use crate::data::*;

/// `D x` with blocks of b x b in `d`.
fn times_blocks<T: Real>(d: &[T], b: usize, x: &[f64]) -> Vec<f64> {
    let row = |i: usize| (0..b).map(|l| d[i * b + l].to_f64() * x[i - i % b + l]).sum();
    (0..x.len()).map(row).collect()
}

pub fn diagonals_of_blocks<T: Real, B: Steps<T>>(g: &B) {
    for b in [2, 3] {
        for n in [b, 33 * b, 1000 * b, 2049 * b] {
            let (hd, hx) = (random::<T>(1, b * n), random::<T>(2, n));
            let expected: Vec<f64> = times_blocks(&hd, b, &wide(&hx)).iter().map(|v| 0.3 * v).collect();
            let (d, x) = (g.vector(&hd).unwrap(), g.vector(&hx).unwrap());
            let mut y = g.vector(&poison(n)).unwrap();
            g.scale_rows(T::from_f64(0.3), &d, &x, &mut y).unwrap();
            assert_close(&g.to_host(&y).unwrap(), &expected, 20.0);
        }
    }
}

pub fn sweeps_of_blocks<T: Real, B: Steps<T>>(g: &B) {
    for (b, n, mean) in [(2, 258, 6), (2, 1060, 40), (3, 300, 19), (3, 999, 3)] {
        let a = irregular::<T>(50, n, mean);
        let (hx, hb, hd) = (random::<T>(51, n), random::<T>(52, n), random::<T>(53, b * n));
        let product = dense_product(&a, &hx);
        let r: Vec<f64> = hb.iter().zip(&product).map(|(b, p)| b.to_f64() - p).collect();
        let corrected = times_blocks(&hd, b, &r);
        let swept: Vec<f64> = hx.iter().zip(&corrected).map(|(x, c)| x.to_f64() + 0.9 * c).collect();
        let scaled: Vec<f64> = times_blocks(&hd, b, &product).iter().map(|v| 0.7 * v).collect();
        let (x, rhs, d) = (g.vector(&hx).unwrap(), g.vector(&hb).unwrap(), g.vector(&hd).unwrap());
        let formats = [(Format::BlockCrs(b), 1), (Format::BlockSell(b), 1), (Format::BlockSell(b), 64)];
        for (format, sigma) in formats {
            println!("{format} sigma {sigma}, {n} rows");
            let matrix = match AnyMatrix::from_csr(&a, format, sigma) {
                // Long rows are padded least where rows are sorted.
                Err(Error::Padding { .. }) if format == Format::BlockSell(b) && sigma == 1 => continue,
                matrix => matrix.unwrap(),
            };
            let matrix = g.matrix(&Arc::new(matrix)).unwrap();
            let (mut y, mut z) = (g.vector(&poison(n)).unwrap(), g.vector(&poison(n)).unwrap());
            g.multiply(&matrix, &x, Then::Sweep { omega: T::from_f64(0.9), d: &d, b: &rhs, y: &mut y })
                .unwrap();
            assert_close(&g.to_host(&y).unwrap(), &swept, 60.0);
            g.multiply(&matrix, &x, Then::Scaled { omega: T::from_f64(0.7), d: &d, y: &mut y, z: &mut z })
                .unwrap();
            assert_close(&g.to_host(&y).unwrap(), &product, 40.0);
            assert_close(&g.to_host(&z).unwrap(), &scaled, 60.0);
        }
    }
}

/// Coupled anisotropic problems on an n x n grid, b unknowns a point; symmetric positive definite.
pub fn coupled<T: Real>(b: usize, n: usize) -> Arc<Csr<T>> {
    let points = n * n;
    let neighbours = |p: usize| {
        let (i, j) = (p / n, p % n);
        let mut all = vec![];
        all.extend((i > 0).then(|| (p - n, 1.0)));
        all.extend((j > 0).then(|| (p - 1, 0.3)));
        all.push((p, 0.0));
        all.extend((j + 1 < n).then_some((p + 1, 0.3)));
        all.extend((i + 1 < n).then_some((p + n, 1.0)));
        all
    };
    // The coupling of kinds k and l: a symmetric positive definite matrix.
    let kinds = |k: usize, l: usize| if k == l { 1.0 + 0.4 * k as f64 } else { 0.35 };
    let (mut row_ptr, mut columns, mut values) = (vec![0], vec![], vec![]);
    for p in 0..points {
        for k in 0..b {
            for (q, weight) in neighbours(p) {
                for l in 0..b {
                    let mass = if k == l && p == q { 0.02 * (1.0 + k as f64) } else { 0.0 };
                    let stiffness = if p == q { 2.6 } else { -weight };
                    columns.push((q * b + l) as u32);
                    values.push(T::from_f64(kinds(k, l) * stiffness + mass));
                }
            }
            row_ptr.push(columns.len());
        }
    }
    Arc::new(Csr::new(points * b, points * b, row_ptr, columns, values).unwrap())
}

const COARSENINGS: [Coarsening; 3] =
    [Coarsening::SmoothedAggregation, Coarsening::MandelBrezina, Coarsening::Pmis];

fn in_planes<T: Real, B: BlockMatrices<T>>(g: &B, a: &Arc<Csr<T>>, block: usize) -> Blocks<B::Csr> {
    g.in_planes(a, block).unwrap()
}

/// Planes, norms, inverted blocks and damping are those of the reference, to the last bit.
pub fn hierarchies_of_blocks<T: Real, B: AnyPrecision<T> + Steps<T>>(g: &B) {
    let host = Reference::new();
    for b in [2, 3] {
        let a = coupled::<T>(b, 9);
        let (mut found, mut reference) = (in_planes(g, &a, b), in_planes(&host, &a, b));
        let same = |found: &B::Csr, reference: &Arc<Csr<T>>| {
            let found = g.csr_to_host(found).unwrap();
            assert_eq!((found.row_ptr(), found.col_idx()), (reference.row_ptr(), reference.col_idx()));
            assert_same_bits(found.values(), reference.values());
        };
        let norms = host.norms(&reference).unwrap();
        assert!(norms.values().iter().filter(|v| **v > T::ZERO).count() == norms.n_rows());
        same(&g.norms(&found).unwrap(), &norms);
        let (d, expected) = (g.invert_diagonal(&found).unwrap(), host.invert_diagonal(&reference).unwrap());
        assert_same_bits(&g.to_host(&d).unwrap(), &expected);
        g.damp_blocks(&mut found, &d, T::from_f64(0.6)).unwrap();
        host.damp_blocks(&mut reference, &expected, T::from_f64(0.6)).unwrap();
        for (found, reference) in found.planes().iter().zip(reference.planes()) {
            same(found, reference);
        }
        let hx = random::<T>(4, b * 81);
        let (x, mut y) = (g.vector(&hx).unwrap(), g.vector(&poison(b * 81)).unwrap());
        let on_g = in_planes(g, &a, b);
        g.multiply(&g.in_crs(&on_g).unwrap(), &x, Then::Store { y: &mut y }).unwrap();
        assert_close(&g.to_host(&y).unwrap(), &dense_product(&a, &hx), 40.0);
        for coarsening in COARSENINGS {
            let params = Params { coarsening, coarse_rows: 10, ..Params::default() };
            let found = Amg::<T, T, B>::setup_blocks(g, &a, b, &params).unwrap();
            let reference = Amg::<T, T, Reference>::setup_blocks(&host, &a, b, &params).unwrap();
            let sizes = |info: &warpsolve::precond::amg::Info| {
                info.levels.iter().map(|level| (level.rows, level.nnz)).collect::<Vec<_>>()
            };
            assert!(reference.info().levels.len() > 1);
            assert_eq!(sizes(found.info()), sizes(reference.info()), "{coarsening}");
        }
    }
}

fn iterations<T: Real, B: AnyPrecision<T> + Steps<T>, M: Preconditioner<T, B>>(
    g: &B,
    (a, b): (&Arc<Csr<T>>, usize),
    mut m: M,
) -> u32 {
    let n = a.n_rows();
    let matrix = AnyMatrix::from_csr(a, Format::BlockSell(b), 1).unwrap();
    let matrix = g.matrix(&Arc::new(matrix)).unwrap();
    let hb = random::<T>(5, n);
    let (b, mut x) = (g.vector(&hb).unwrap(), g.zeros(n).unwrap());
    let rtol = if T::NAME == "f64" { 1e-8 } else { 1e-4 };
    let stop = Stop { rtol, atol: 0.0, max_iterations: 500 };
    let mut cg = Cg::new(g, n, &m).unwrap();
    let outcome = cg.solve(g, &matrix, &mut m, &b, &mut x, &stop, &mut |_, _| ()).unwrap();
    assert_eq!(outcome.reason, StopReason::Converged);
    let ax = dense_product(a, &g.to_host(&x).unwrap());
    let square = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    let residual = square(&mut hb.iter().zip(&ax).map(|(b, ax)| b.to_f64() - ax));
    assert!(residual <= 3.0 * rtol * square(&mut hb.iter().map(|b| b.to_f64())), "{residual:e}");
    outcome.iterations
}

pub fn block_jacobi<T: Real, B: AnyPrecision<T> + Steps<T>>(g: &B) {
    for b in [2, 3] {
        let a = coupled::<T>(b, 9);
        let found = iterations(g, (&a, b), BlockJacobi::setup(g, &a, b, SingularBlocks::Refuse).unwrap());
        let host = Reference::new();
        assert_eq!(
            found,
            iterations(&host, (&a, b), BlockJacobi::setup(&host, &a, b, SingularBlocks::Refuse).unwrap())
        );
    }
}

/// Sweeps from zero, one after another, in f64; `inverse` are the blocks of D^-1.
fn sweeps(a: &Csr<f64>, inverse: &[f64], (b, count, omega): (usize, usize, f64), r: &[f64]) -> Vec<f64> {
    let mut z = vec![0.0; r.len()];
    for _ in 0..count {
        let residual: Vec<f64> = a.mul_vec(&z).iter().zip(r).map(|(az, r)| r - az).collect();
        z.iter_mut().zip(times_blocks(inverse, b, &residual)).for_each(|(z, d)| *z += omega * d);
    }
    z
}

pub fn jacobi_sweeps<T: Real, B: AnyPrecision<T> + Steps<T>>(g: &B) {
    for (b, n) in [(1, 1), (1, 257), (2, 2), (2, 258), (3, 261)] {
        // The blocks on the diagonal are multiples of I, whose inverse needs no help to be known.
        let weight = |i: usize| [4.0, 8.0][i / b % 2];
        let row = |i: usize| {
            let next = (i + b) % n;
            let off = (next / b != i / b).then_some((i as u32, next as u32, 0.5 + 0.25 * noise(90, i)));
            [Some((i as u32, i as u32, weight(i))), off].into_iter().flatten()
        };
        let a = from_entries::<T>(n, &(0..n).flat_map(row).collect::<Vec<_>>());
        let mut inverse = vec![0.0; n * b];
        (0..n).for_each(|i| inverse[i * b + i % b] = 1.0 / weight(i));
        let hr = random::<T>(91, n);
        for (count, omega) in [(1, 1.0), (2, 0.9), (3, 0.75), (4, 1.25)] {
            for (format, matrix) in in_every_format(&a) {
                let parameters = Parameters {
                    block_size: b,
                    sweeps: count,
                    omega,
                    ..Options::default().preconditioner_parameters()
                };
                let product = Arc::new(g.matrix(&matrix).unwrap());
                let mut m = JacobiSweeps::setup(g, &a, product, &parameters).unwrap();
                let mut z = g.vector(&poison(n)).unwrap();
                m.apply(g, &g.vector(&hr).unwrap(), &mut z).unwrap();
                let r: Vec<f64> = hr.iter().map(|v| v.to_f64()).collect();
                let expected = sweeps(&a.cast(), &inverse, (b, count, omega), &r);
                println!("{count} sweeps, blocks of {b}, {format}");
                assert_close(&g.to_host(&z).unwrap(), &expected, 40.0);
            }
        }
        let none = Parameters { sweeps: 0, ..Options::default().preconditioner_parameters() };
        let product = Arc::new(g.matrix(&in_every_format(&a)[0].1).unwrap());
        assert!(matches!(JacobiSweeps::setup(g, &a, product, &none), Err(Error::Option(_))));
    }
}

pub fn multigrid_of_blocks<T: Real, B: AnyPrecision<T> + Steps<T>>(g: &B) {
    let host = Reference::new();
    for b in [2, 3] {
        let a = coupled::<T>(b, 9);
        for coarsening in COARSENINGS {
            let params = Params { coarsening, coarse_rows: 12, ..Params::default() };
            let found = iterations(g, (&a, b), Amg::<T, T, B>::setup_blocks(g, &a, b, &params).unwrap());
            let expected = iterations(
                &host,
                (&a, b),
                Amg::<T, T, Reference>::setup_blocks(&host, &a, b, &params).unwrap(),
            );
            assert!(found.abs_diff(expected) <= 1 && found < 20, "{coarsening}: {found}, {expected}");
        }
    }
}
