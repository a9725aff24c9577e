//! Which coarsening suits a matrix: candidates solve a small piece of it.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::Options;
use crate::backend::cpu::{Cpu, CpuMatrix};
use crate::backend::{Memory, Operator, Products};
use crate::error::Result;
use crate::matrix::{AnyMatrix, Csr, Survey, check};
use crate::precond::amg::{Coarsening, Hierarchies, Params};
use crate::precond::ilu::{self, Ilu};
use crate::precond::{Jacobi, Preconditioner};
use crate::problem::random::uniform;
use crate::solver::gmres::{Gmres, MAX_RESTART};
use crate::solver::{Cg, Idr, IterativeSolver, Stop, StopReason};

/// Rows of the piece.
pub(super) const ROWS: usize = 2400;
/// Entries that a row has on average at most: a hierarchy of fuller ones takes longer than it tells.
const ENTRIES: usize = 160;
/// Neighbourhoods that it is made of, around rows that are far apart in the numbering.
const PLACES: usize = 2;
/// A candidate that needs no more iterations than this is taken, without a look at the others.
const GOOD: u32 = 16;
/// Iterations with the diagonal that are tried before anybody has asked: they take no longer than the rest.
const AHEAD: u32 = 400;
/// Iterations after which a candidate is given up.
pub(super) const MOST: u32 = 100;
/// The share of the bytes of one candidate that another moves which is clearly better.
const CLEARLY: f64 = 0.8;
/// Bytes that another candidate may move for each of the first one's: where that needs many iterations on a
/// piece, it needs the more of them the larger the matrix is.
const MORE: f64 = 1.5;

/// A candidate and how it did.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trial {
    /// The parameters.
    pub params: Params,
    /// Iterations on the piece, of CG or GMRES; `None` where they were too many.
    pub iterations: Option<u32>,
    /// Bytes that they moved, for each entry of the piece.
    bytes: f64,
}

impl Trial {
    /// Whether it moved clearly fewer bytes.
    pub fn is_better_than(&self, other: &Trial) -> bool {
        self.bytes < CLEARLY * other.bytes
    }

    /// The default, of which nothing is known.
    fn unknown() -> Trial {
        Trial { params: Params::default(), iterations: None, bytes: f64::INFINITY }
    }
}

/// The candidate that solves a piece of the matrix `a` fastest, which has a positive diagonal: with CG where
/// it is symmetric, else with GMRES. The default where a trial fails.
///
/// Smoothed aggregation is the first, since it is set up in the shortest time. It does not see an anisotropy
/// that lies between the directions of the mesh, nor jumps of coefficients, nor which way a flow goes.
/// Classical coarsening with a high threshold does; but not in blocks, where `block` unknowns a node are more
/// than one.
pub(super) fn best(a: &Csr<f64>, block: usize) -> Trial {
    best_of_piece(Arc::new(piece(a, block, ROWS)), block)
}

/// A piece of a matrix without blocks, and [`best`] of it where that was tried, which another thread finds
/// before anybody knows that it will be asked for.
pub(super) struct Ahead(JoinHandle<Tried>);

/// What was tried of a matrix without blocks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tried {
    /// A piece of it.
    pub piece: Arc<Csr<f64>>,
    /// [`best`] of that; `None` where it is none of the matrices that this is for.
    pub best: Option<Trial>,
    /// The most iterations of CG with the diagonal that were tried, and what [`diagonal_iterations`] found.
    pub diagonal: Option<(u32, Option<u32>)>,
}

impl Tried {
    /// A piece alone.
    pub fn nothing(a: &Csr<f64>) -> Tried {
        Tried { piece: Arc::new(piece(a, 1, ROWS)), best: None, diagonal: None }
    }

    /// [`best`].
    pub fn best(&self) -> Trial {
        self.best.clone().unwrap_or_else(|| best_of_piece(self.piece.clone(), 1))
    }

    /// [`diagonal_iterations`].
    pub fn diagonal_iterations(&self, is_symmetric: bool, most: u32) -> Option<u32> {
        match self.diagonal.filter(|_| is_symmetric) {
            Some((_, Some(found))) => Some(found).filter(|&found| found <= most),
            Some((tried, None)) if most <= tried => None,
            _ => diagonal_iterations(&self.piece, is_symmetric, most),
        }
    }
}

impl Ahead {
    /// Begins.
    pub fn of(a: &Arc<Csr<f64>>) -> Ahead {
        let a = a.clone();
        Ahead(std::thread::spawn(move || {
            let nothing = Tried::nothing(&a);
            let piece = &nothing.piece;
            let is_made_for_it = piece.is_symmetric(check::ROUNDING).is_symmetric()
                && Survey::of(&**piece).has_positive_diagonal();
            if !is_made_for_it {
                return nothing;
            }
            std::thread::scope(|scope| {
                let counted = scope.spawn(|| diagonal_iterations(piece, true, AHEAD));
                let best = Some(best_of_piece(piece.clone(), 1));
                let diagonal = counted.join().ok().map(|found| (AHEAD, found));
                Tried { piece: piece.clone(), best, diagonal }
            })
        }))
    }

    /// Waits for what was found.
    pub fn found(self) -> Option<Tried> {
        self.0.join().ok()
    }
}

/// Classical coarsening with a high threshold.
pub(super) fn classical() -> Params {
    Params { coarsening: Coarsening::Pmis, strength: Some(0.35), ..Params::default() }
}

fn best_of_piece(piece: Arc<Csr<f64>>, block: usize) -> Trial {
    // So little work that waking other threads takes longer.
    let Ok(cpu) = Cpu::new(1) else { return Trial::unknown() };
    let attempt = |params: Params| run(&cpu, &piece, block, params);
    let first = attempt(Params::default());
    if block > 1 || first.iterations.is_some_and(|iterations| iterations <= GOOD) {
        return first;
    }
    let second = attempt(classical());
    if second.iterations.is_some() && second.bytes < MORE * first.bytes { second } else { first }
}

/// How CG's iterations with the diagonal grow with the rows of pieces of a symmetric matrix: as their power.
/// On one of the usual size they were so many.
pub(super) fn growth_with_diagonal(a: &Csr<f64>, iterations: u32) -> f64 {
    /// Times as many rows as the smaller piece has.
    const LARGER: usize = 4;
    let smaller = Arc::new(piece(a, 1, ROWS / LARGER));
    let of_smaller = diagonal_iterations(&smaller, true, iterations).unwrap_or(iterations);
    (f64::from(iterations) / f64::from(of_smaller.max(1))).ln() / (LARGER as f64).ln()
}

/// Iterations with the diagonal on a piece of a matrix, of CG where that is symmetric, and of IDR; `None`
/// where that takes more than so many.
pub(super) fn diagonal_iterations(piece: &Arc<Csr<f64>>, is_symmetric: bool, most: u32) -> Option<u32> {
    let cpu = Cpu::new(1).ok()?;
    let found = cpu.install(|| {
        let matrix = cpu.matrix(&Arc::new(AnyMatrix::Crs(piece.clone())))?;
        let mut m = Jacobi::setup(&cpu, piece)?;
        let n = piece.n_rows();
        match is_symmetric {
            true => iterations(&cpu, &mut Cg::new(&cpu, n, &m)?, &matrix, &mut m, most),
            false => iterations(&cpu, &mut Idr::new(&cpu, n)?, &matrix, &mut m, most),
        }
    });
    found.ok().flatten()
}

/// How incomplete factors did.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Factors {
    /// Which.
    pub kind: ilu::Kind,
    /// Iterations of GMRES on the piece.
    pub iterations: u32,
    /// Entries of the factors for each of the piece.
    pub fill: f64,
}

/// The incomplete factors that take few iterations of GMRES on a piece of a matrix: those of its pattern,
/// which are soon made, else those by size; `None` where they take more than so many. Factors by size of a
/// graph that is none of a mesh fill as no piece shows.
pub(super) fn factors(
    piece: &Arc<Csr<f64>>,
    params: &ilu::Params,
    is_mesh: bool,
    most: u32,
) -> Option<Factors> {
    let cpu = Cpu::new(1).ok()?;
    let attempt = |kind: ilu::Kind, most: u32| -> Result<Option<Factors>> {
        let matrix = cpu.matrix(&Arc::new(AnyMatrix::Crs(piece.clone())))?;
        let mut m = Ilu::setup(&cpu, piece, &ilu::Params { kind, ..params.clone() })?;
        let fill = m.info().entries as f64 / piece.nnz().max(1) as f64;
        let mut gmres = Gmres::new(&cpu, piece.n_rows(), (most as usize).clamp(1, MAX_RESTART))?;
        let found = iterations(&cpu, &mut gmres, &matrix, &mut m, most)?;
        Ok(found.map(|iterations| Factors { kind, iterations, fill }))
    };
    let found = |kind, most| cpu.install(|| attempt(kind, most)).ok().flatten();
    let by_size = || if is_mesh { found(ilu::Kind::Threshold, most) } else { None };
    found(ilu::Kind::Levels, most.min(GOOD)).or_else(by_size)
}

fn run(cpu: &Cpu, a: &Arc<Csr<f64>>, block: usize, params: Params) -> Trial {
    let (iterations, bytes) = cpu.install(|| solve(cpu, a, block, &params)).unwrap_or((None, f64::INFINITY));
    Trial { params, iterations, bytes }
}

/// Iterations, and bytes moved for each entry.
fn solve(cpu: &Cpu, a: &Arc<Csr<f64>>, block: usize, params: &Params) -> Result<(Option<u32>, f64)> {
    // A piece has fewer levels than the whole.
    let params = Params { coarse_rows: 60, ..params.clone() };
    let assembled = Hierarchies::<f64>::assembled(cpu, a, block)?;
    let matrix = Hierarchies::<f64>::operator(cpu, &assembled)?;
    let (mut m, info) = cpu.amg(assembled, Some(&matrix), &params, None, true)?;
    let n = matrix.n_rows();
    let found = match a.is_symmetric(check::ROUNDING).is_symmetric() {
        true => iterations(cpu, &mut Cg::new(cpu, n, &*m)?, &matrix, &mut *m, MOST)?,
        false => {
            iterations(cpu, &mut Gmres::new(cpu, n, Options::default().restart)?, &matrix, &mut *m, MOST)?
        }
    };
    let bytes = found.map(|count| (info.cycle_bytes + matrix.traffic()) as f64 * f64::from(count));
    Ok((found, bytes.map_or(f64::INFINITY, |bytes| bytes / a.nnz().max(1) as f64)))
}

/// Iterations of a method for a random right-hand side; `None` for more than so many.
fn iterations(
    cpu: &Cpu,
    method: &mut dyn IterativeSolver<f64, Cpu>,
    matrix: &CpuMatrix<f64>,
    m: &mut dyn Preconditioner<f64, Cpu>,
    most: u32,
) -> Result<Option<u32>> {
    let n = matrix.n_rows();
    let b: Vec<f64> = (0..n as u64).map(|i| uniform(1, i) - 0.5).collect();
    let (b, mut x) = (cpu.vector(&b)?, Memory::<f64>::zeros(cpu, n)?);
    let stop = Stop { rtol: 1e-8, atol: 0.0, max_iterations: most };
    let outcome = method.solve(cpu, matrix, m, &b, &mut x, &stop, &mut |_, _| ())?;
    Ok((outcome.reason == StopReason::Converged).then_some(outcome.iterations))
}

/// Rows of a piece.
fn rows_of_piece(a: &Csr<f64>, most: usize) -> usize {
    most.min(ENTRIES * most / a.nnz().div_ceil(a.n_rows().max(1)).max(1))
}

/// About as many entries as the piece of a matrix has.
pub(super) fn entries_of_piece(a: &Csr<f64>) -> usize {
    a.nnz() / a.n_rows().div_ceil(rows_of_piece(a, ROWS)).max(1)
}

/// The rows and columns of the unknowns around some places: so many, if there are so many and they have few
/// entries, in whole nodes of `block` unknowns.
fn piece(a: &Csr<f64>, block: usize, rows_at_most: usize) -> Csr<f64> {
    /// Zeros cost nothing until they are looked at.
    const OUTSIDE: u32 = 0;
    let n = a.n_rows();
    let most = rows_of_piece(a, rows_at_most);
    // Counted from 1.
    let mut number = vec![OUTSIDE; n];
    let mut rows: Vec<u32> = Vec::new();
    for place in 0..PLACES {
        let size = (rows.len() + most / PLACES).min(most);
        let start = (2 * place + 1) * n / (2 * PLACES);
        let mut next = rows.len();
        let mut enter = |unknown: usize, rows: &mut Vec<u32>| {
            let node = unknown - unknown % block;
            if number[node] == OUTSIDE {
                for i in node..node + block {
                    number[i] = 1;
                    rows.push(i as u32);
                }
            }
        };
        if n > 0 {
            enter(start, &mut rows);
        }
        // Breadth first.
        while next < rows.len() && rows.len() < size {
            for &j in a.row(rows[next] as usize).0 {
                if rows.len() < size {
                    enter(j as usize, &mut rows);
                }
            }
            next += 1;
        }
    }
    rows.sort_unstable();
    rows.iter().enumerate().for_each(|(k, &i)| number[i as usize] = k as u32 + 1);
    let entries = |k: usize| {
        let (columns, values) = a.row(rows[k] as usize);
        let numbered = columns.iter().zip(values).map(|(&j, &v)| (number[j as usize], v));
        numbered.filter(|(j, _)| *j != OUTSIDE).map(|(j, v)| (j - 1, v))
    };
    Csr::from_rows(
        rows.len(),
        rows.len(),
        |k| entries(k).count(),
        |k, columns, values| {
            for (at, (column, value)) in entries(k).enumerate() {
                (columns[at], values[at]) = (column, value);
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::generate;

    fn matrix(problem: &str) -> Csr<f64> {
        generate(&problem.parse().unwrap(), 1).unwrap()
    }

    #[test]
    fn isotropic_diffusion_takes_smoothed_aggregation() {
        for problem in ["poisson2d:90", "poisson3d:20", "tet:18", "anisotropic:80:0.01"] {
            let trial = best(&matrix(problem), 1);
            assert_eq!(trial.params, Params::default(), "{problem}");
            assert!(trial.iterations.is_some_and(|iterations| iterations <= GOOD), "{problem}: {trial:?}");
        }
    }

    /// Diffusion across the mesh, in the nine points of bilinear elements: the angle is 45 degrees.
    #[test]
    fn rotated_anisotropy_takes_classical_coarsening() {
        let (n, epsilon) = (70, 1e-3);
        let (straight, product) = (0.5 * (1.0 + epsilon), 0.5 * (1.0 - epsilon));
        let stencil = |dx: i64, dy: i64| match (dx.abs(), dy.abs()) {
            (0, 0) => 8.0 / 3.0 * straight,
            (1, 1) => -straight / 3.0 - 0.5 * product * (dx * dy) as f64,
            _ => -straight / 3.0,
        };
        let mut triplets = Vec::new();
        for i in 0..n * n {
            for (dx, dy) in (0..9).map(|k| (k % 3 - 1, k / 3 - 1)) {
                let (x, y) = (i % n + dx, i / n + dy);
                if (0..n).contains(&x) && (0..n).contains(&y) {
                    triplets.push((i as usize, (y * n + x) as usize, stencil(dx, dy)));
                }
            }
        }
        let size = (n * n) as usize;
        let trial = best(&Csr::from_triplets(size, size, triplets).unwrap(), 1);
        assert_eq!(trial.params.coarsening, Coarsening::Pmis, "{trial:?}");
    }

    /// Coefficients that jump, and neighbours that are not felt as much as they feel.
    #[test]
    fn a_drift_with_jumps_takes_classical_coarsening() {
        let mesh = matrix("poisson2d:100");
        let n = mesh.n_rows();
        let at = |i: usize, j: usize| (i * n + j) as u64;
        let jump = |i: usize, j: usize| 10f64.powf(4.0 * uniform(5, at(i.min(j), i.max(j))));
        let share = |i: usize, j: u32| jump(i, j as usize) * (0.2 + 1.6 * uniform(7, at(i, j as usize)));
        let links = |i: usize| {
            let (columns, values) = mesh.row(i);
            let beside = columns.iter().zip(values).filter(move |(j, _)| **j as usize != i);
            beside.map(move |(&j, &v)| (i, j as usize, v * share(i, j)))
        };
        let sum = |i: usize| (i, i, 1e-6 - links(i).map(|(_, _, v)| v).sum::<f64>());
        let drift = Csr::from_triplets(n, n, (0..n).flat_map(|i| links(i).chain([sum(i)]))).unwrap();
        let trial = best(&drift, 1);
        assert!(trial.iterations.is_some_and(|iterations| iterations <= 30), "{trial:?}");
        assert_eq!(trial.params.coarsening, Coarsening::Pmis, "{trial:?}");
    }

    #[test]
    fn another_thread_finds_the_same() {
        for problem in ["poisson2d:90", "tet:18"] {
            let a = Arc::new(matrix(problem));
            let found = Ahead::of(&a).found().unwrap();
            let alone = Tried::nothing(&a);
            for most in [1, 30, AHEAD, 1000] {
                let expected = alone.diagonal_iterations(true, most);
                assert_eq!(found.diagonal_iterations(true, most), expected, "{problem}: {most}");
            }
            let diagonal = Some((AHEAD, diagonal_iterations(&alone.piece, true, AHEAD)));
            assert_eq!(found, Tried { best: Some(best(&a, 1)), diagonal, ..alone }, "{problem}");
        }
        let unsymmetric = matrix("convection-diffusion:60:100");
        let negative = matrix("poisson2d:60").map_values(|v| -v);
        let empty = Csr::from_triplets(3, 3, []).unwrap();
        for a in [unsymmetric, negative, empty] {
            assert_eq!(Ahead::of(&Arc::new(a.clone())).found(), Some(Tried::nothing(&a)));
        }
    }

    /// With the length of the mesh, or not at all.
    #[test]
    fn pieces_show_how_iterations_grow() {
        let a = matrix("poisson2d:200");
        let of = |a: &Csr<f64>| {
            let found = diagonal_iterations(&Arc::new(piece(a, 1, ROWS)), true, 1000).unwrap();
            growth_with_diagonal(a, found)
        };
        let n = a.n_rows();
        let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
        let entries = (0..n).flat_map(row).chain((0..n).map(|i| (i, i, 4.0)));
        let of_step = of(&Csr::from_triplets(n, n, entries).unwrap());
        assert!(of(&a) > 0.35 && of_step < 0.1, "{} {of_step}", of(&a));
    }

    #[test]
    fn small_and_empty_matrices_are_pieces_of_themselves() {
        let a = matrix("poisson2d:7");
        assert_eq!(piece(&a, 1, ROWS), a);
        assert_eq!(piece(&Csr::from_triplets(0, 0, []).unwrap(), 1, ROWS).n_rows(), 0);
        let piece = piece(&matrix("poisson2d:90"), 1, ROWS);
        assert_eq!((piece.n_rows(), piece.n_cols()), (ROWS, ROWS));
        assert!(best(&a, 1).iterations.is_some());
    }

    #[test]
    fn a_piece_of_full_rows_is_smaller() {
        let n = 3000;
        let band = |i: usize| (i.saturating_sub(400)..(i + 400).min(n)).map(move |j| (i, j, 1.0));
        let a = Csr::from_triplets(n, n, (0..n).flat_map(band)).unwrap();
        let piece = piece(&a, 1, ROWS);
        assert!((100..ROWS / 4).contains(&piece.n_rows()), "{}", piece.n_rows());
    }

    #[test]
    fn a_piece_of_blocks_is_of_whole_nodes() {
        let a = matrix("bidomain:30");
        let (n, piece) = (a.n_rows(), piece(&a, 2, ROWS));
        assert!(n > ROWS && piece.n_rows().is_multiple_of(2), "{n} {}", piece.n_rows());
        assert!(piece.n_rows() <= ROWS + 1);
        let trial = best(&a, 2);
        assert_eq!(trial.params, Params::default(), "{trial:?}");
        assert!(trial.iterations.is_some(), "{trial:?}");
    }
}
