//! Rows of model problems, without the others.

use std::ops::Range;

use super::by_row::{self, ByRow};
use super::{Problem, anisotropic, convection_diffusion, poisson, tet};
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::memory::free_memory;
use crate::parallel::*;

/// The rows of a model problem, any of which can be made without the others.
pub struct Rows {
    problem: Problem,
    made: Box<dyn ByRow>,
}

impl Rows {
    /// Those of the matrix that [`generate`](super::generate) makes.
    ///
    /// # Errors
    /// [`Error::Option`] for a problem whose rows are not computed each by itself.
    pub fn of(problem: &Problem, seed: u64) -> Result<Rows> {
        let made: Box<dyn ByRow> = match *problem {
            Problem::Tet { n } => Box::new(tet::Tet::new(n, seed)),
            Problem::Poisson2d { n } => Box::new(poisson::on_square(n)),
            Problem::Poisson3d { n } => Box::new(poisson::on_cube(n)),
            Problem::Anisotropic { n, epsilon } => Box::new(anisotropic::stencil(n, epsilon)),
            Problem::ConvectionDiffusion { n, peclet } => Box::new(convection_diffusion::stencil(n, peclet)),
            Problem::RandomSpd { .. } | Problem::Bidomain { .. } | Problem::Elasticity { .. } => {
                return Err(Error::Option(format!(
                    "{problem} is made as a whole; tet, poisson2d, poisson3d, anisotropic and convection-diffusion \
                     are made row by row"
                )));
            }
        };
        Ok(Rows { problem: *problem, made })
    }

    /// Rows of the whole matrix.
    pub fn n_rows(&self) -> usize {
        self.made.n_rows()
    }

    /// How many entries each of these rows has.
    pub fn lengths(&self, rows: Range<usize>) -> Vec<usize> {
        rows.into_par_iter().with_min_len(1024).map(|row| self.made.length(row)).collect()
    }

    /// These rows, with all columns.
    ///
    /// # Errors
    /// [`Error::Option`] for rows that do not fit into the machine's free memory.
    pub fn rows(&self, rows: Range<usize>) -> Result<Csr<f64>> {
        self.problem.check_memory(rows.len() as u64, free_memory())?;
        Ok(by_row::rows(&*self.made, rows))
    }
}
