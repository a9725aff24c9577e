//! What the entries of a matrix are.

use std::fmt;

use arithmetic::survey::ROUNDING;
use serde::Serialize;

use super::closer::Closer;
use crate::matrix::{Diagonal, Survey};

/// What is known of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Values {
    /// Whether the matrix is symmetric, to rounding.
    pub is_symmetric: bool,
    /// Its diagonal.
    pub diagonal: Diagonal,
    /// Whether a symmetric matrix with a diagonal of one sign is indefinite all the same, as far as that
    /// shows.
    pub is_indefinite: bool,
    /// Rows with `|a_ii| >= sum_j |a_ij|`, j other than i.
    pub dominant_rows: usize,
    /// The share of `sum |a_ij|` off the diagonal in entries whose sign is not that of `a_ii`: 1 for an
    /// M-matrix.
    pub m_share: f64,
    /// Rows whose entries add up to 0.
    pub zero_sums: usize,
    /// The least magnitude that is not 0.
    pub least: f64,
    /// The largest magnitude.
    pub most: f64,
}

impl Values {
    /// Those of a matrix of which is known what a [survey](Survey) says, and whether it is symmetric;
    /// `closer` looks for more where that leaves something open.
    pub(super) fn of<C: Closer>(survey: &Survey, is_symmetric: bool, closer: &C) -> Result<Values, C::Error> {
        Ok(Values {
            is_symmetric,
            diagonal: survey.diagonal,
            is_indefinite: is_symmetric && is_indefinite(survey, closer)?,
            dominant_rows: survey.dominant_rows,
            m_share: survey.m_share,
            zero_sums: survey.zero_sums,
            least: survey.magnitudes.least,
            most: survey.magnitudes.most,
        })
    }
}

/// Whether `x^T A x` has the other sign than the diagonal, which has one sign, for x = 1 or for an x of two
/// unknowns.
fn is_indefinite<C: Closer>(survey: &Survey, closer: &C) -> Result<bool, C::Error> {
    let Diagonal { positive, negative, zero } = survey.diagonal;
    let n = positive + negative + zero;
    if n == 0 || positive.max(negative) < n {
        return Ok(false);
    }
    let sign = if positive == n { 1.0 } else { -1.0 };
    let is_shown = sign * survey.sum < -ROUNDING * survey.sum_of_magnitudes;
    Ok(is_shown || survey.dominant_rows < n && closer.has_indefinite_pair()?)
}

impl Values {
    /// Makes them those of the negative matrix.
    pub fn negate(&mut self) {
        let Diagonal { positive, negative, zero } = self.diagonal;
        self.diagonal = Diagonal { positive: negative, negative: positive, zero };
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Diagonal { positive, negative, zero } = self.diagonal;
        let n = (positive + negative + zero).max(1) as f64;
        let symmetric = if self.is_symmetric { "symmetric" } else { "not symmetric" };
        write!(
            f,
            "{symmetric}, diagonal with {positive} positive, {negative} negative and {zero} zero entries, "
        )?;
        let (dominant, m_share) = (100.0 * self.dominant_rows as f64 / n, 100.0 * self.m_share);
        write!(f, "{dominant:.0} % of the rows dominant, {m_share:.0} % an M-matrix, ")?;
        if self.is_indefinite {
            write!(f, "indefinite, ")?;
        } else if self.is_symmetric && negative > 0 && positive + zero == 0 {
            write!(f, "negative definite as far as it shows, so that -A x = -b is solved, ")?;
        }
        if self.zero_sums > 0 {
            write!(f, "{} rows add up to 0, ", self.zero_sums)?;
        }
        write!(f, "magnitudes from {:.1e} to {:.1e}", self.least, self.most)
    }
}
