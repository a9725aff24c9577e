//! The one error type: what failed, where, and what to do about it.

use std::path::PathBuf;

use crate::io::binary::Fault;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong, with the position of the fault and advice.
///
/// Rows, columns and lines are printed 1-based, as in Matrix Market files; the fields hold what the
/// text prints unless they say otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: "read", "create", ...
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file is malformed.
    #[error("{}:{line}: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// The offending line, counted from 1.
        line: u64,
        /// What is wrong there, and what to do.
        message: String,
    },
    /// A binary matrix cannot be used.
    #[error("{}: {fault}", path.display())]
    Binary {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        fault: Fault,
    },
    /// A matrix is not what the operation needs.
    #[error("{0}")]
    Matrix(String),
    /// A mesh is not what the operation needs, or what a mesh file holds does not make one.
    #[error("{0}")]
    Mesh(String),
    /// A mesh has a fault that its reader can mend, or needs what the caller can choose.
    #[error("{message}")]
    MeshFault {
        /// Which fault.
        fault: MeshFault,
        /// What is wrong, and where.
        message: String,
    },
    /// A diagonal entry that must be inverted is missing, zero or not finite.
    #[error("row {row}: the diagonal entry is {what}, and {method} divides by it")]
    Diagonal {
        /// The row, counted from 1.
        row: usize,
        /// "missing", "zero", "too small" or "not finite".
        what: &'static str,
        /// Who needs it.
        method: &'static str,
    },
    /// A diagonal block that must be inverted is missing, singular or badly scaled.
    #[error("node {node} (rows {first} to {last}): the diagonal block is {what}, and {method} divides by it")]
    Block {
        /// The node, counted from 1.
        node: usize,
        /// Its first row, counted from 1.
        first: usize,
        /// Its last row.
        last: usize,
        /// "missing or zero" or "singular or badly scaled".
        what: &'static str,
        /// Who needs it.
        method: &'static str,
    },
    /// Two sizes that must agree do not.
    #[error("{what} has {found} entries, but the matrix has {expected} rows")]
    Dimension {
        /// Which vector.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length needed.
        expected: usize,
    },
    /// A vector, or an array of scalars, of an operation does not fit the others.
    #[error("{operation} needs {expected} elements of {vector}, which has {found}")]
    Length {
        /// Which operation.
        operation: &'static str,
        /// Which of its arguments.
        vector: &'static str,
        /// Its elements.
        found: usize,
        /// The elements needed.
        expected: usize,
    },
    /// A value that enters the computation is NaN or infinite.
    #[error("{what} is {value} at {position}; every entry must be a finite number")]
    NotFinite {
        /// "matrix entry" or "right-hand side".
        what: &'static str,
        /// The value, as it prints.
        value: f64,
        /// "row 3, column 4" or "entry 7".
        position: String,
    },
    /// All that a row or a column holds vanishes in f32, in which the matrix would be singular.
    #[error(
        "{line} {number}: the largest entry of the matrix is {ratio:.1e} times as large as any there, all of which \
         vanish beside it in f32"
    )]
    Vanishes {
        /// "row" or "column".
        line: &'static str,
        /// Which, counted from 1.
        number: usize,
        /// The largest magnitude of the matrix over the largest there.
        ratio: f64,
    },
    /// A padded format would take far more memory than the matrix is worth.
    #[error(
        "{format} would store {stored} entries for {nnz} nonzeros ({factor:.1} times as many: \
         the longest row has {longest}, the mean is {mean:.1})"
    )]
    Padding {
        /// The format refused.
        format: &'static str,
        /// Entries with padding.
        stored: u64,
        /// Entries without.
        nnz: u64,
        /// stored / nnz.
        factor: f64,
        /// The longest row.
        longest: usize,
        /// nnz / rows.
        mean: f64,
        /// A format that has less.
        advice: &'static str,
    },
    /// The device cannot hold the problem.
    #[error(
        "{device} has {} free of {}, but {} are needed ({detail})",
        mib(*free), mib(*total), mib(*needed)
    )]
    DeviceMemory {
        /// The device's name.
        device: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// Bytes in all.
        total: u64,
        /// What takes them.
        detail: String,
    },
    /// The host cannot hold the factors of a direct solution.
    #[error("the host has {} free, but the factors need {} ({detail})", mib(*free), mib(*needed))]
    HostMemory {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// What takes them.
        detail: String,
    },
    /// Pivots of a factorisation are not where they were thought to be, and its factors fill.
    #[error("the factors were predicted to take {predicted:.1e} s, and would take more than {most:.1e} s")]
    Outgrown {
        /// Seconds that were predicted.
        predicted: f64,
        /// Seconds that they may take where there is another way to solve.
        most: f64,
    },
    /// There is no usable GPU, driver or kernel image.
    #[error("no GPU: {0}")]
    NoDevice(String),
    /// A call of the driver or the simulator failed.
    #[error("{call} failed: {message}")]
    Device {
        /// The call, and the kernel or size it was made for.
        call: String,
        /// What the driver said.
        message: String,
    },
    /// More threads than the machine has use for.
    #[error("{asked} threads on {cores} cores would only wait for each other")]
    Threads {
        /// How many were asked for.
        asked: usize,
        /// Cores of the machine.
        cores: usize,
        /// Threads at most.
        most: usize,
    },
    /// A method and a preconditioner that do not go together.
    #[error("the method {method} is multigrid by itself, without the preconditioner {precond}")]
    Preconditioner {
        /// The method.
        method: &'static str,
        /// The preconditioner.
        precond: String,
    },
    /// A matrix has more entries than the set-up of multigrid on a device reaches.
    #[error("{nnz} entries are more than the 32-bit row pointers of the set-up on the device reach")]
    Reach {
        /// Its entries.
        nnz: u64,
    },
    /// One of several ranks has failed, and all of them with it.
    #[error("rank {rank}: {message}")]
    Rank {
        /// Which, counted from 0.
        rank: usize,
        /// What it said.
        message: String,
    },
    /// An option's value is out of range.
    #[error("{0}")]
    Option(String),
}

/// What a mesh is refused for, although there is a remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeshFault {
    /// Some tetrahedra are inside out while others are not; they can be turned.
    InsideOut,
    /// Nodes belong to no tetrahedron; they can be left out.
    UnreferencedNodes,
    /// The mesh is in several pieces; all but the largest can be left out.
    Components,
    /// There are no fibres; they can be given, or the tissue made isotropic.
    NoFibres,
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1024.0 * 1024.0))
}

impl Error {
    /// Wraps an operating-system error with the file it happened on.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io { action, path: path.into(), source }
    }

    /// A malformed line of a file.
    pub fn parse(path: impl Into<PathBuf>, line: u64, message: impl Into<String>) -> Self {
        Error::Parse { path: path.into(), line, message: message.into() }
    }
}
