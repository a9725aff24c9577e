//! Named model problems, such as `tet:32` or `anisotropic:100:0.001`.

mod anisotropic;
mod bidomain;
mod by_row;
mod convection_diffusion;
mod elasticity;
pub(crate) mod kuhn;
mod poisson;
pub mod random;
mod random_spd;
mod rows;
mod slivers;
mod stencil;
#[cfg(test)]
mod tests;
mod tet;

pub use anisotropic::anisotropic;
pub use bidomain::bidomain;
pub use convection_diffusion::convection_diffusion;
pub use elasticity::{Elements, elasticity, elasticity_coordinates};
pub use poisson::{poisson2d, poisson3d};
pub use random_spd::random_spd;
pub use rows::Rows;
pub use slivers::with_slivers;
pub use tet::tet;

use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::memory::free_memory;
use crate::named::hint;
use cuda_std::Real;
use std::fmt;
use std::str::FromStr;

/// The problems as they are written: name, size, and the optional parameter.
pub const USAGE: [&str; 8] = [
    "tet:N",
    "poisson2d:N",
    "poisson3d:N",
    "anisotropic:N[:EPSILON]",
    "convection-diffusion:N[:PECLET]",
    "random-spd:N[:NNZ_PER_ROW]",
    "bidomain:N",
    "elasticity:N[:ELEMENTS]",
];

/// A model problem and its parameters. The function that generates it defines it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Problem {
    /// Anisotropic diffusion on tetrahedra, `n^3` nodes: [`tet`].
    Tet {
        /// Nodes along an edge of the box.
        n: usize,
    },
    /// Poisson's equation on a square: [`poisson2d`].
    Poisson2d {
        /// Inner points along an edge.
        n: usize,
    },
    /// Poisson's equation on a cube: [`poisson3d`].
    Poisson3d {
        /// Inner points along an edge.
        n: usize,
    },
    /// Anisotropic diffusion on a square: [`anisotropic`].
    Anisotropic {
        /// Inner points along an edge.
        n: usize,
        /// Diffusion along x; along y it is 1. By default 0.01.
        epsilon: f64,
    },
    /// Convection and diffusion on a square, nonsymmetric: [`convection_diffusion`].
    ConvectionDiffusion {
        /// Inner points along an edge.
        n: usize,
        /// Velocity times length over diffusivity. By default 100.
        peclet: f64,
    },
    /// A random symmetric positive definite matrix: [`random_spd`].
    RandomSpd {
        /// Rows.
        n: usize,
        /// Mean number of entries of a row, the diagonal included. By default 8.
        nnz_per_row: usize,
    },
    /// A time step of the bidomain equations on tetrahedra, `n^3` nodes, singular: [`bidomain`].
    Bidomain {
        /// Nodes along an edge of the box.
        n: usize,
    },
    /// An elastic bar, `4 (n - 1) n^2` free nodes: [`elasticity`].
    Elasticity {
        /// Nodes along an edge of the cross-section.
        n: usize,
        /// What it is made of. By default tetrahedra.
        elements: Elements,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Problem::Tet { n } => write!(f, "tet:{n}"),
            Problem::Poisson2d { n } => write!(f, "poisson2d:{n}"),
            Problem::Poisson3d { n } => write!(f, "poisson3d:{n}"),
            Problem::Anisotropic { n, epsilon } => write!(f, "anisotropic:{n}:{epsilon}"),
            Problem::ConvectionDiffusion { n, peclet } => write!(f, "convection-diffusion:{n}:{peclet}"),
            Problem::RandomSpd { n, nnz_per_row } => write!(f, "random-spd:{n}:{nnz_per_row}"),
            Problem::Bidomain { n } => write!(f, "bidomain:{n}"),
            Problem::Elasticity { n, elements: Elements::Tetrahedra } => write!(f, "elasticity:{n}"),
            Problem::Elasticity { n, elements } => write!(f, "elasticity:{n}:{elements}"),
        }
    }
}

impl FromStr for Problem {
    type Err = Error;

    /// Reads `name:size` or `name:size:parameter`; [`Error::Option`] says what was expected.
    fn from_str(text: &str) -> Result<Self> {
        let mut fields = text.split(':');
        let name = fields.next().unwrap_or_default();
        let usage = USAGE.into_iter().find(|usage| usage.split(':').next() == Some(name));
        let Some(usage) = usage else { return Err(unknown(name)) };
        let fault = |what: &str| Error::Option(format!("problem '{text}': {what}; write {usage}"));

        let size = fields.next().ok_or_else(|| fault("the size is missing"))?;
        let n: usize =
            size.parse().map_err(|_| fault(&format!("the size '{size}' is not a whole number")))?;
        let parameter = fields.next();
        if fields.next().is_some() || (parameter.is_some() && !usage.contains('[')) {
            return Err(fault("too many fields"));
        }
        let real = |default: f64, least: &str, valid: fn(f64) -> bool| match parameter.map(str::parse) {
            None => Ok(default),
            Some(Ok(value)) if valid(value) => Ok(value),
            _ => Err(fault(&format!("the parameter must be {least}"))),
        };
        let problem = match name {
            "tet" => Problem::Tet { n },
            "bidomain" => Problem::Bidomain { n },
            "elasticity" => {
                let elements = parameter.unwrap_or("tetrahedra").parse();
                let elements = elements.map_err(|_| fault("the elements are tetrahedra or hexahedra"))?;
                Problem::Elasticity { n, elements }
            }
            "poisson2d" => Problem::Poisson2d { n },
            "poisson3d" => Problem::Poisson3d { n },
            "anisotropic" => {
                let epsilon = real(0.01, "a positive number", |e| e > 0.0 && e.is_finite())?;
                Problem::Anisotropic { n, epsilon }
            }
            "convection-diffusion" => {
                let peclet = real(100.0, "a number of at least 0", |p| p >= 0.0 && p.is_finite())?;
                Problem::ConvectionDiffusion { n, peclet }
            }
            _ => {
                let is_count = |m: f64| m >= 1.0 && m.fract() == 0.0 && m <= f64::from(u32::MAX);
                let nnz_per_row = real(8.0, "a whole number of at least 1", is_count)? as usize;
                Problem::RandomSpd { n, nnz_per_row }
            }
        };
        problem.check_size(u64::MAX)?;
        Ok(problem)
    }
}

/// The error for an unknown name, with the nearest known one.
fn unknown(name: &str) -> Error {
    let hint = hint(name, &USAGE.map(|usage| usage.split(':').next().unwrap_or(usage)));
    Error::Option(format!("unknown problem '{name}'{hint} the problems are {}", USAGE.join(", ")))
}

impl Problem {
    /// Unknowns of a node, numbered node by node.
    pub fn block(&self) -> usize {
        match self {
            Problem::Bidomain { .. } => 2,
            Problem::Elasticity { .. } => 3,
            _ => 1,
        }
    }

    /// The coordinates of the nodes of an elastic body, an array for each axis: its rigid motions are what
    /// multigrid must interpolate well. `None` for other problems. `seed` is that of [`generate`], and
    /// `shuffled` says whether [`shuffle`] follows.
    pub fn coordinates(&self, seed: u64, shuffled: bool) -> Option<Vec<Vec<f64>>> {
        let Problem::Elasticity { n, .. } = *self else { return None };
        let coordinates = elasticity_coordinates(n, seed);
        if !shuffled {
            return Some(coordinates);
        }
        let nodes = random::permutation(coordinates[0].len() as u32, seed);
        let shuffle = |x: &Vec<f64>| nodes.iter().map(|&node| x[node as usize]).collect();
        Some(coordinates.iter().map(shuffle).collect())
    }

    /// Rows, and an upper bound of the nonzeros; `None` where they overflow.
    fn size(&self) -> Option<(u64, u64)> {
        let power = |n: usize, exponent| (n as u64).checked_pow(exponent);
        let (rows, per_row) = match *self {
            Problem::Tet { n } => (power(n, 2)?.checked_mul(n as u64 - 1)?, 15),
            Problem::Poisson2d { n } => (power(n, 2)?, 5),
            Problem::Poisson3d { n } => (power(n, 3)?, 7),
            Problem::Anisotropic { n, .. } | Problem::ConvectionDiffusion { n, .. } => (power(n, 2)?, 5),
            Problem::RandomSpd { n, nnz_per_row } => (n as u64, nnz_per_row as u64),
            Problem::Bidomain { n } => (power(n, 3)?.checked_mul(2)?, 30),
            Problem::Elasticity { n, elements } => {
                let per_row = if elements == Elements::Tetrahedra { 45 } else { 81 };
                (power(n, 2)?.checked_mul((n as u64).checked_sub(1)?.checked_mul(12)?)?, per_row)
            }
        };
        Some((rows, rows.checked_mul(per_row)?))
    }

    /// Refuses a size that is too small, too large for 32-bit indices, or that takes more than `memory`
    /// bytes.
    fn check_size(&self, memory: u64) -> Result<()> {
        let fault = |what: String| Err(Error::Option(format!("problem '{self}': {what}")));
        let (n, least) = match *self {
            Problem::Tet { n } | Problem::Bidomain { n } | Problem::Elasticity { n, .. } => (n, 2),
            Problem::Poisson2d { n }
            | Problem::Poisson3d { n }
            | Problem::Anisotropic { n, .. }
            | Problem::ConvectionDiffusion { n, .. }
            | Problem::RandomSpd { n, .. } => (n, 1),
        };
        if n < least {
            return fault(format!("the size must be at least {least}"));
        }
        if let Problem::RandomSpd { n, nnz_per_row } = *self
            && !(1..=n).contains(&nnz_per_row)
        {
            return fault(format!("{nnz_per_row} entries in a row of {n}"));
        }
        match self.size() {
            Some((rows, _)) if rows <= u64::from(u32::MAX) => self.check_memory(rows, memory),
            _ => fault(format!("more rows than 32-bit indices reach ({})", u32::MAX)),
        }
    }

    /// Refuses so many of its rows where they take more than `memory` bytes.
    fn check_memory(&self, rows: u64, memory: u64) -> Result<()> {
        let (all, nnz) = self.size().unwrap_or((1, u64::MAX));
        let per_row = nnz / all.max(1);
        // An entry takes 12 bytes and a row pointer 8. Random pairs that are sorted take 16 more for an
        // entry; so do the mesh, and the parts of the bidomain matrix.
        let assembled =
            matches!(self, Problem::RandomSpd { .. } | Problem::Bidomain { .. } | Problem::Elasticity { .. });
        let per_entry = if assembled { 28 } else { 12 };
        let bytes = rows.saturating_mul(per_row).saturating_mul(per_entry).saturating_add(8 * rows);
        if bytes > memory {
            let gib = |bytes: u64| bytes as f64 / (1u64 << 30) as f64;
            return Err(Error::Option(format!(
                "problem '{self}': {rows} rows take {:.1} GiB, and {:.1} GiB are free; use a smaller size",
                gib(bytes),
                gib(memory)
            )));
        }
        Ok(())
    }
}

/// The matrix of a problem. `seed` decides the random numbers of `tet`, `bidomain`, `elasticity` and
/// `random-spd`; the others have none. It has the same bits on every machine and for any number of threads.
///
/// # Errors
/// [`Error::Option`] for a size that is too small, too large for 32-bit indices, or whose matrix does not fit
/// into the machine's free memory.
pub fn generate(problem: &Problem, seed: u64) -> Result<Csr<f64>> {
    problem.check_size(free_memory())?;
    Ok(match *problem {
        Problem::Tet { n } => tet(n, seed),
        Problem::Poisson2d { n } => poisson2d(n),
        Problem::Poisson3d { n } => poisson3d(n),
        Problem::Anisotropic { n, epsilon } => anisotropic(n, epsilon),
        Problem::ConvectionDiffusion { n, peclet } => convection_diffusion(n, peclet),
        Problem::RandomSpd { n, nnz_per_row } => random_spd(n, nnz_per_row, seed),
        Problem::Bidomain { n } => bidomain(n, seed)?,
        Problem::Elasticity { n, elements } => elasticity(n, elements, seed)?,
    })
}

/// The matrix with its nodes of `block` unknowns permuted at random: P A P^T.
///
/// # Errors
/// [`Error::Matrix`] for a rectangular matrix.
pub fn shuffle<T: Real>(a: &Csr<T>, block: usize, seed: u64) -> Result<Csr<T>> {
    let b = block as u32;
    let nodes = random::permutation(a.n_rows() as u32 / b, seed);
    a.permute_symmetric(&nodes.iter().flat_map(|&node| b * node..b * (node + 1)).collect::<Vec<_>>())
}
