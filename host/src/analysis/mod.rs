//! What a matrix is, before anything is solved with it: structure and values, as far as some passes over its
//! entries tell. A plan is made from that.

use std::fmt;

use serde::Serialize;

use crate::matrix::{Csr, Survey};

mod asymmetry;
mod closer;
mod components;
mod contraction;
mod cuthill_mckee;
mod expansion;
mod locality;
mod matching;
mod product_matching;
mod structure;
mod values;

pub use asymmetry::asymmetry;
pub(crate) use closer::{Closer, Mirrored};
pub use components::components;
pub use contraction::contraction;
pub(crate) use cuthill_mckee::{Neighbours, reverse_cuthill_mckee, reverse_cuthill_mckee_of_compact};
pub use expansion::{expansion, width};
pub(crate) use locality::lines_per_entry;
pub use matching::{Deficiency, Matching};
pub use product_matching::ProductMatching;
pub use structure::Structure;
pub use values::Values;

/// What is known of a square matrix.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Analysis {
    /// Where entries are.
    pub structure: Structure,
    /// What they are.
    pub values: Values,
}

impl Analysis {
    /// Looks at a square matrix: one pass over its entries, others where that has not shown that it is
    /// symmetric and definite, and a matching where the diagonal has zeros.
    pub fn of(a: &Csr<f64>) -> Analysis {
        let Ok(analysis) = Analysis::after(a, &Survey::of(a), a);
        analysis
    }

    /// The same after the first pass; `closer` makes the others.
    ///
    /// # Errors
    /// Those of `closer`.
    pub(crate) fn after<C: Closer>(a: &Csr<f64>, survey: &Survey, closer: &C) -> Result<Analysis, C::Error> {
        let Mirrored { is_symmetric, share } =
            if survey.is_mirrored { Mirrored::SYMMETRIC } else { closer.mirrored()? };
        let values = Values::of(survey, is_symmetric, closer)?;
        Ok(Analysis { structure: Structure::of(a, survey, share), values })
    }

    /// Whether the matrix may be positive definite: symmetric, with a positive diagonal, and nothing that
    /// says otherwise.
    pub fn may_be_definite(&self) -> bool {
        self.values.is_symmetric
            && !self.values.is_indefinite
            && self.values.diagonal.positive == self.structure.rows
    }

    /// Whether its negative may be.
    pub fn may_be_negative_definite(&self) -> bool {
        self.values.is_symmetric
            && !self.values.is_indefinite
            && self.values.diagonal.negative == self.structure.rows
    }

    /// Whether the entries of every row add up to 0: `A 1 = 0`.
    pub fn maps_constants_to_zero(&self) -> bool {
        self.structure.rows > 0 && self.values.zero_sums == self.structure.rows
    }

    /// Whether multigrid's coarsenings are made for it: nearly an M-matrix, as discretised diffusion is. An
    /// unsymmetric one must be diagonally dominant too in most rows.
    pub fn is_like_diffusion(&self) -> bool {
        /// The share of off-diagonal weight with the sign of an M-matrix.
        const MOST: f64 = 0.8;
        /// The share of rows that are diagonally dominant.
        const ROWS: f64 = 0.5;
        let Values { is_symmetric, is_indefinite, diagonal, m_share, dominant_rows, .. } = &self.values;
        diagonal.zero == 0
            && !is_indefinite
            && (diagonal.positive == 0 || diagonal.negative == 0)
            && *m_share >= MOST
            && (*is_symmetric || *dominant_rows as f64 >= ROWS * self.structure.rows as f64)
    }
}

impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}; {}", self.structure, self.values)
    }
}

#[cfg(test)]
mod tests;
