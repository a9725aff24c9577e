//! Every operation on odd sizes, in memory full of NaN, on the CPU and in the simulator that reports races
//! and reads of what was never written.

use crate::backend::Memory;
use std::sync::Arc;

use super::dense::Columns;
use super::machine::{Until, iterate};
use super::stencil::{Stencil, fill, grid, len, points, sequential};
use super::*;
use crate::backend::Slot;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::Gpu;
use crate::launch::sim::Sim;
use crate::problem::random::uniform;
use arithmetic::stencil::Weights;

/// `$case(backend)` for each of them.
macro_rules! on_every_machine {
    ($($case:ident),*) => {
        $(#[test]
        fn $case() {
            cases::$case(&Cpu::new(1).unwrap());
            cases::$case(&Cpu::new(3).unwrap());
            cases::$case(&Gpu::new(Arc::new(Sim::strict())).unwrap());
        })*
    };
}

on_every_machine!(sums, heights, stencils, sources_and_changes, orthogonal_vectors, dense_sweeps);

fn noise(seed: u64, n: usize) -> Vec<f64> {
    (0..n as u64).map(|i| uniform(seed, i) - 0.5).collect()
}

mod cases {
    use super::*;

    /// What an output holds before it is computed.
    fn poison<M: Every>(m: &M, n: usize) -> M::Vector {
        m.vector(&vec![f64::NAN; n]).unwrap()
    }

    pub fn sums<M: Every>(m: &M) {
        for n in [1, 33, 257, 1000] {
            let (x, y, mut z) = (noise(1, n), noise(2, n), poison(m, n));
            m.add(&m.vector(&x).unwrap(), &m.vector(&y).unwrap(), &mut z).unwrap();
            let expected: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
            assert_eq!(m.to_host(&z).unwrap(), expected);
        }
    }

    pub fn heights<M: Every>(m: &M) {
        for n in [1, 31, 2049, 5001] {
            let (s, step) = (m.scalars(2).unwrap(), 0.9 / n as f64);
            m.heights(n, step, &s, Slot(1)).unwrap();
            let x = |i: usize| (i as f64 + 0.5) * step;
            let expected: f64 = (0..n).map(|i| 4.0 / (1.0 + x(i).powi(2))).sum();
            approx::assert_relative_eq!(m.read(&s, Slot(1)).unwrap(), expected, max_relative = 1e-13);
        }
    }

    /// The stencil by its definition, point by point.
    fn expected(rows: usize, columns: usize, weights: Weights, b: &[f64], u: &[f64]) -> Vec<f64> {
        let grid = grid(rows, columns);
        let (leading, first) = (grid.leading as usize, grid.leading as usize + 16);
        let point = |i: usize, j: usize| {
            let k = first + i * leading + j;
            let sum = u[k + 1] + u[k - 1] + u[k + leading] + u[k - leading] + b[j];
            weights.centre * u[k] + weights.side * sum
        };
        (0..rows).flat_map(|i| (0..columns).map(move |j| point(i, j))).collect()
    }

    fn rows_of(rows: usize, columns: usize, u: &[f64]) -> Vec<f64> {
        let grid = grid(rows, columns);
        (0..rows).flat_map(|i| points(grid, u, i).to_vec()).collect()
    }

    const SHAPES: [(usize, usize); 5] = [(1, 1), (3, 257), (9, 31), (17, 300), (67, 65)];

    pub fn stencils<M: Every>(m: &M) {
        let weights = Weights { centre: 0.3, side: 0.175 };
        for (rows, columns) in SHAPES {
            let grid = grid(rows, columns);
            let u = fill(grid, |i, j| uniform(3, (i * 1000 + j) as u64));
            let mut v = poison(m, len(grid));
            m.stencil(grid, weights, None, &m.vector(&u).unwrap(), &mut v).unwrap();
            let v = m.to_host(&v).unwrap();
            let expected = expected(rows, columns, weights, &vec![0.0; columns], &u);
            approx::assert_abs_diff_eq!(&rows_of(rows, columns, &v)[..], &expected[..], epsilon = 1e-15);
            // All else is as it was, and the points have the bits of a loop.
            assert_eq!(v.iter().filter(|v| v.is_nan()).count(), len(grid) - rows * columns);
            let mut alone = vec![f64::NAN; len(grid)];
            sequential(grid, weights, &vec![0.0; columns], &u, &mut alone);
            assert_eq!(rows_of(rows, columns, &v), rows_of(rows, columns, &alone));
            let mut w = poison(m, len(grid));
            m.stencil_by_columns(grid, weights, &m.vector(&u).unwrap(), &mut w).unwrap();
            let w = m.to_host(&w).unwrap();
            assert_eq!(rows_of(rows, columns, &w), rows_of(rows, columns, &alone));
            assert_eq!(w.iter().filter(|w| w.is_nan()).count(), len(grid) - rows * columns);
        }
    }

    pub fn sources_and_changes<M: Every>(m: &M) {
        for (rows, columns) in SHAPES {
            let grid = grid(rows, columns);
            let u = fill(grid, |i, j| uniform(4, (i * 1000 + j) as u64));
            let (b, mut v) = (noise(5, columns), poison(m, len(grid)));
            let (s, monitor) = (m.scalars(1).unwrap(), m.monitor(9, 0.0).unwrap());
            let (source, x) = (m.vector(&b).unwrap(), m.vector(&u).unwrap());
            m.stencil_max(grid, stencil::MEAN, Some(&source), &x, &mut v, &s, &monitor).unwrap();
            let v = rows_of(rows, columns, &m.to_host(&v).unwrap());
            let expected = expected(rows, columns, stencil::MEAN, &b, &u);
            approx::assert_abs_diff_eq!(&v[..], &expected[..], epsilon = 1e-15);
            let u = rows_of(rows, columns, &u);
            let change = v.iter().zip(&u).fold(0.0, |max: f64, (v, u)| max.max((v - u).abs()));
            assert_eq!(m.history(&monitor).unwrap(), [change]);
            assert_eq!(m.read(&s, Slot(0)).unwrap(), change);
        }
    }

    pub fn orthogonal_vectors<M: Every>(m: &M) {
        for n in [1, 7, 33, 70] {
            let shape = Columns::new(n);
            let a = shape.fill(|i, k| uniform(6, (i * n + k) as u64));
            let mut v = m.vector(&a).unwrap();
            let mut work =
                gram_schmidt::Work { h: poison(m, n), s: poison(m, n), sums: poison(m, shape.sums()) };
            gram_schmidt::orthogonalise(m, shape, n, 2, &mut v, &mut work).unwrap();
            m.normalise(shape, &mut v, &work.s).unwrap();
            let q = m.to_host(&v).unwrap();
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            for j in 0..n {
                for k in 0..n {
                    let unit = f64::from(u8::from(j == k));
                    approx::assert_abs_diff_eq!(dot(shape.of(&q, j), shape.of(&q, k)), unit, epsilon = 1e-13);
                }
                // a_j is in the space of the first j + 1 vectors: Q's are those of a QR factorisation.
                let mut rest = shape.of(&a, j).to_vec();
                for k in 0..=j {
                    let h = dot(shape.of(&q, k), shape.of(&a, j));
                    rest.iter_mut().zip(shape.of(&q, k)).for_each(|(r, q)| *r -= h * q);
                }
                assert!(dot(&rest, &rest) < 1e-24, "{n}: vector {j}");
            }
        }
    }

    pub fn dense_sweeps<M: Every>(m: &M) {
        for n in [1, 31, 65, 300] {
            let shape = Columns::new(n);
            let a = shape.fill(|j, i| uniform(7, (i * n + j) as u64) + if i == j { 2.0 } else { 0.0 });
            let (b, x, mut y) = (noise(8, n), noise(9, n), poison(m, n));
            let (s, monitor) = (m.scalars(1).unwrap(), m.monitor(9, 0.0).unwrap());
            let [matrix, rhs, old] = [&a, &b, &x].map(|x| m.vector(x).unwrap());
            m.dense_sweep(shape, &matrix, &rhs, &old, &mut y, &s, &monitor).unwrap();
            let row = |i: usize| {
                let ax: f64 = shape.of(&a, i).iter().zip(&x).map(|(a, x)| a * x).sum();
                x[i] + (b[i] - ax) / a[i * shape.leading + i]
            };
            let expected: Vec<f64> = (0..n).map(row).collect();
            approx::assert_abs_diff_eq!(&m.to_host(&y).unwrap()[..], &expected[..], epsilon = 1e-13);
            let square: f64 = expected.iter().zip(&x).map(|(y, x)| (y - x).powi(2)).sum();
            approx::assert_relative_eq!(m.history(&monitor).unwrap()[0], square.sqrt(), max_relative = 1e-13);
        }
    }
}

/// `a = Q R` column by column, in f64 but for what is stored.
fn modified_by_hand(rows: usize, columns: usize, a: &[f32]) -> Vec<f64> {
    let mut v: Vec<Vec<f64>> =
        (0..columns).map(|j| (0..rows).map(|i| f64::from(a[i * columns + j])).collect()).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    for k in 0..columns {
        let norm = dot(&v[k], &v[k]).sqrt();
        v[k].iter_mut().for_each(|v| *v /= norm);
        let q = v[k].clone();
        for v in &mut v[k + 1..] {
            let h = dot(&q, v);
            v.iter_mut().zip(&q).for_each(|(v, q)| *v -= h * q);
        }
    }
    (0..rows * columns).map(|at| v[at % columns][at / columns]).collect()
}

#[test]
fn modified_gram_schmidt_in_both_layouts() {
    fn case<M: modified_gram_schmidt::Modified>(m: &M) {
        use modified_gram_schmidt::{by_columns, by_rows, orthogonalise};
        for (rows, columns) in [(1, 1), (5, 3), (33, 33), (300, 17)] {
            let (lying, transposed) = (by_rows(rows, columns), by_columns(rows, columns));
            let n = rows * columns;
            let a: Vec<f32> = (0..n).map(|at| uniform(10, at as u64) as f32).collect();
            let mut v = m.vector(&a).unwrap();
            let (mut t, mut back) =
                (m.vector(&vec![f32::NAN; n]).unwrap(), m.vector(&vec![f32::NAN; n]).unwrap());
            m.rearrange(lying, transposed, &v, &mut t).unwrap();
            let is_transposed = |at: usize| a[at % rows * columns + at / rows];
            assert_eq!(m.to_host(&t).unwrap(), (0..n).map(is_transposed).collect::<Vec<f32>>());
            orthogonalise(m, transposed, &mut t).unwrap();
            m.rearrange(transposed, lying, &t, &mut back).unwrap();
            orthogonalise(m, lying, &mut v).unwrap();
            let q = m.to_host(&v).unwrap();
            assert_eq!(q, m.to_host(&back).unwrap(), "{rows} x {columns}");
            for (q, expected) in q.iter().zip(modified_by_hand(rows, columns, &a)) {
                approx::assert_abs_diff_eq!(f64::from(*q), expected, epsilon = 2e-4);
            }
        }
    }
    case(&Cpu::new(3).unwrap());
    case(&Gpu::new(Arc::new(Sim::strict())).unwrap());
    let device = Device::Cpu(Cpu::new(2).unwrap());
    let refused = run(Program::ModifiedGramSchmidt, &[3, 4], Way::default(), &device).unwrap_err();
    assert!(refused.to_string().contains("as many rows"), "{refused}");
}

#[test]
fn sizes_are_taken_in_their_order() {
    let device = Device::Gpu(Gpu::simulated().unwrap());
    let report = run(Program::Heat, &[9], Way::default(), &device).unwrap();
    assert!(report.what.contains("9 x 9 points, 10 steps") && report.passed, "{report:?}");
    for (program, given) in [(Program::Pi, &[0][..]), (Program::Vadd, &[1, 2]), (Program::JacobiGrid, &[2])] {
        assert!(
            matches!(run(program, given, Way::default(), &device), Err(Error::Option(_))),
            "{program} {given:?}"
        );
    }
}

#[test]
fn the_order_of_loops_changes_no_bit() {
    let as_written = Way { loops: Loops::AsWritten, ..Way::default() };
    for device in [Device::Cpu(Cpu::new(3).unwrap()), Device::Gpu(Gpu::simulated().unwrap())] {
        let [a, b] =
            [Way::default(), as_written].map(|way| run(Program::Heat, &[23, 4], way, &device).unwrap());
        assert!(a.passed && a.figures == b.figures, "{a:?} {b:?}");
        assert_eq!(b.what, a.what.clone() + ", loops as written");
        let refused = run(Program::Laplace, &[9], as_written, &device).unwrap_err().to_string();
        assert!(refused.contains("heat has two"), "{refused}");
    }
}

#[test]
fn laplace_says_every_so_often_what_it_has() {
    let quiet = Way::default();
    let every_10 = Way { lines: Some(10), ..quiet };
    let travelling = Way { transfers: Transfers::EveryStep, ..every_10 };
    let gpu = || Device::Gpu(Gpu::new(Arc::new(Sim::strict())).unwrap());
    let silent = run(Program::Laplace, &[9], quiet, &gpu()).unwrap();
    let report = run(Program::Laplace, &[9], every_10, &gpu()).unwrap();
    assert!(silent.lines.is_empty() && report.passed && silent.figures == report.figures, "{report:?}");
    let steps = report.figures[0].2 as usize;
    assert!(steps > 20 && report.lines.len() == steps / 10, "{report:?}");
    assert!(report.lines[1].trim_start().starts_with("20    change "), "{report:?}");
    assert_eq!(report.lines, run(Program::Laplace, &[9], travelling, &gpu()).unwrap().lines);
    let cpu = Device::Cpu(Cpu::new(2).unwrap());
    assert_eq!(report.lines, run(Program::Laplace, &[9], every_10, &cpu).unwrap().lines);
    let refused = run(Program::Heat, &[9, 2], every_10, &cpu).unwrap_err().to_string();
    assert!(refused.contains("laplace alone"), "{refused}");
}

#[test]
fn an_iteration_that_does_not_converge_ends_at_its_limit() {
    for (limit, steps) in [(1, 1), (7, 7), (40, 40)] {
        let gpu = Gpu::simulated().unwrap();
        let grid = grid(5, 5);
        let start = fill(grid, |i, j| (i * j) as f64 % 3.0);
        let both = [gpu.vector(&start).unwrap(), gpu.vector(&start).unwrap()];
        let s = gpu.scalars(1).unwrap();
        let until = Until { threshold: 0.0, limit };
        let sweep = |m: &Gpu, monitor: &_, u: &_, v: &mut _| {
            m.stencil_max(grid, stencil::MEAN, None, u, v, &s, monitor)
        };
        let done = iterate(&gpu, Way::default(), until, both, &s, sweep, &mut |_, _, _| Ok(())).unwrap();
        assert!(!done.converged && done.steps == steps && done.change > 0.0);
    }
}

#[test]
fn data_that_travel_in_every_step_are_computed_as_those_that_stay() {
    for (program, sizes) in
        [(Program::Heat, &[21, 5][..]), (Program::Laplace, &[13]), (Program::JacobiGrid, &[11])]
    {
        let [resident, travelling] = [Transfers::Resident, Transfers::EveryStep].map(|transfers| {
            let way = Way { transfers, ..Way::default() };
            let gpu = Gpu::new(Arc::new(Sim::strict())).unwrap();
            let device = gpu.device().clone();
            let report = run(program, sizes, way, &Device::Gpu(gpu)).unwrap();
            assert!(report.passed, "{report:?}");
            let copied = device.counters().snapshot();
            (report, copied.uploaded_bytes, copied.downloaded_bytes)
        });
        let figures = |report: &Report| -> Vec<_> {
            let kept = report.figures.iter().filter(|figure| figure.0 != "speedup");
            kept.map(|figure| (figure.0, figure.2.to_bits())).collect()
        };
        assert_eq!(figures(&resident.0), figures(&travelling.0), "{program}");
        assert_eq!(
            travelling.0.what,
            resident.0.what.clone() + ", copied to the device and back in every step"
        );
        // All of it, in each of several steps.
        assert!(travelling.1 > 3 * resident.1, "{program}: {} {}", travelling.1, resident.1);
        assert!(travelling.2 > 3 * resident.2, "{program}: {} {}", travelling.2, resident.2);
    }
    let every_step = Way { transfers: Transfers::EveryStep, ..Way::default() };
    let gpu = Device::Gpu(Gpu::simulated().unwrap());
    let refused = run(Program::Pi, &[], every_step, &gpu).unwrap_err().to_string();
    assert!(refused.contains("heat, laplace and jacobi-grid do"), "{refused}");
    let cpu = Device::Cpu(Cpu::new(1).unwrap());
    let refused = run(Program::Heat, &[5, 2], every_step, &cpu).unwrap_err().to_string();
    assert!(refused.contains("the host's memory"), "{refused}");
}
