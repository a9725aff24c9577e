//! The matrix of a job, from a file or a generator.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use warpsolve::backend::cpu::check_threads;
use warpsolve::io::matrix::{Summary, read_matrix};
use warpsolve::io::matrix_market::read_vectors;
use warpsolve::matrix::Csr;
use warpsolve::precond::amg::NearNull;
use warpsolve::problem::{Problem, generate, shuffle};
use warpsolve::{Error, Result};

use super::args::MatrixArgs;
use super::progress::Progress;

/// Where the matrix comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A file of any kind.
    File(PathBuf),
    /// A generator.
    Generated {
        /// The problem.
        problem: Problem,
        /// What random numbers start from.
        seed: u64,
        /// Whether the unknowns are numbered at random.
        shuffled: bool,
    },
}

impl From<MatrixArgs> for Source {
    fn from(args: MatrixArgs) -> Source {
        match (args.file, args.generate) {
            (_, Some(problem)) => Source::Generated { problem, seed: args.seed, shuffled: args.shuffle },
            (file, None) => Source::File(file.unwrap_or_default()),
        }
    }
}

impl Source {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Source::File(path) => Some(path),
            Source::Generated { .. } => None,
        }
    }

    /// The name in reports.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.display().to_string(),
            Source::Generated { problem, seed, shuffled } => {
                let shuffled = if *shuffled { ", shuffled" } else { "" };
                format!("{problem} (generated, seed {seed}{shuffled})")
            }
        }
    }

    /// The coordinates of the nodes, where it is a generated elastic body.
    pub fn coordinates(&self) -> Option<Vec<Vec<f64>>> {
        match self {
            Source::File(_) => None,
            Source::Generated { problem, seed, shuffled } => problem.coordinates(*seed, *shuffled),
        }
    }

    /// The matrix, and what was found in the file.
    pub fn matrix(&self, progress: &Progress) -> Result<(Csr<f64>, Option<Summary>)> {
        match self {
            Source::File(path) => {
                let read = read_matrix(path, &mut |done, all| progress.reading(done, all));
                let (a, summary) = read.map_err(or_model_problem)?;
                Ok((a, Some(summary)))
            }
            Source::Generated { problem, seed, shuffled } => {
                progress.stage("generating");
                let a = generate(problem, *seed)?;
                Ok((if *shuffled { shuffle(&a, problem.block(), *seed)? } else { a }, None))
            }
        }
    }
}

/// A missing file that has the name of a model problem was meant to be one.
fn or_model_problem(error: Error) -> Error {
    match error {
        Error::Io { action, path, source }
            if source.kind() == io::ErrorKind::NotFound
                && path.to_str().is_some_and(|name| name.parse::<Problem>().is_ok()) =>
        {
            let advice = format!("{source}; the model problem of this name is --gen {}", path.display());
            Error::Io { action, path, source: io::Error::new(io::ErrorKind::NotFound, advice) }
        }
        error => error,
    }
}

/// A system and how long it took to read.
pub struct System {
    pub a: Arc<Csr<f64>>,
    /// The right-hand sides, at least one.
    pub b: Vec<Vec<f64>>,
    pub summary: Option<Summary>,
    pub read_seconds: f64,
}

/// Reads or generates the system; without `rhs` the right-hand side is all ones.
pub fn system(source: &Source, rhs: Option<&Path>, progress: &Progress) -> Result<System> {
    let start = Instant::now();
    let (a, summary) = source.matrix(progress)?;
    let b = match rhs {
        Some(path) => right_hand_sides(path, a.n_rows())?,
        None => vec![vec![1.0; a.n_rows()]],
    };
    progress.clear();
    Ok(System { a: Arc::new(a), b, summary, read_seconds: start.elapsed().as_secs_f64() })
}

/// The columns of a file, which must be as long as the matrix has rows.
fn right_hand_sides(path: &Path, n_rows: usize) -> Result<Vec<Vec<f64>>> {
    let columns = read_vectors(path)?;
    match (columns.len(), columns.first().map_or(0, Vec::len)) {
        (_, length) if length == n_rows => Ok(columns),
        (count, found) => {
            let error = Error::Dimension { what: "right-hand side", found, expected: n_rows };
            let path = path.display();
            Err(Error::Option(format!("{error}: {path} holds a {found} x {count} array")))
        }
    }
}

/// A file of what multigrid is to interpolate well.
#[derive(Debug, Clone)]
pub enum NearNullFile {
    /// Coordinates of nodes, whose rigid motions are meant.
    Coordinates(PathBuf),
    /// The vectors, for so many unknowns a node.
    Vectors(PathBuf, usize),
}

impl NearNullFile {
    /// Its path.
    pub fn path(&self) -> &Path {
        let (NearNullFile::Coordinates(path) | NearNullFile::Vectors(path, _)) = self;
        path
    }

    /// What is in it.
    pub fn read(&self) -> Result<NearNull> {
        let (array, _) = read_matrix(self.path(), &mut |_, _| ())?;
        let mut columns = vec![vec![0.0; array.n_rows()]; array.n_cols()];
        for i in 0..array.n_rows() {
            let (which, values) = array.row(i);
            which.iter().zip(values).for_each(|(&j, &value)| columns[j as usize][i] = value);
        }
        let near_null = match self {
            NearNullFile::Coordinates(_) => NearNull::rigid_motions(&columns),
            NearNullFile::Vectors(_, unknowns) => NearNull::new(columns, *unknowns),
        };
        near_null.map_err(|error| Error::Option(format!("{}: {error}", self.path().display())))
    }

    /// Refuses vectors, or nodes, that are not those of a matrix of so many rows.
    ///
    /// # Errors
    /// [`Error::Option`] with the numbers.
    pub fn check(&self, near_null: &NearNull, rows: usize) -> Result<()> {
        let (found, each) = (near_null.vectors()[0].len(), near_null.unknowns());
        if found == rows {
            return Ok(());
        }
        let what = match self {
            NearNullFile::Coordinates(_) => {
                format!("coordinates of {} nodes with {each} unknowns each, {found} in all", found / each)
            }
            NearNullFile::Vectors(..) => format!("vectors of {found} entries"),
        };
        Err(Error::Option(format!("{}: {what}, and the matrix has {rows} rows", self.path().display())))
    }
}

/// Starts the threads of the host, which read, generate, check and are the CPU as a device; 0 for one a core.
pub fn start_threads(threads: usize) -> Result<()> {
    check_threads(threads)?;
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|e| Error::Option(format!("cannot start {threads} threads: {e}")))
}
