//! The system with rows and columns scaled and rows permuted, as somebody asked: `S y = P R b` with
//! `S = P R A C`, and `x = C y`. What is reported is of the system that was given.

use std::sync::Arc;

use super::options::{Options, Permute, Scale};
use crate::analysis::ProductMatching;
use crate::error::{Error, Result};
use crate::matrix::{Csr, check};
use crate::precond::NullSpace;
use crate::precond::schur::Split;
use crate::solver::Stop;
use crate::solver::direct::Scaling;

/// What was asked for, for reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaled {
    /// How rows and columns were scaled.
    pub scaling: Scale,
    /// How rows were permuted.
    pub permute: Permute,
}

/// The scaling and permutation that are solved with.
#[derive(Clone)]
pub(super) struct ScaledSystem {
    /// A.
    pub given: Arc<Csr<f64>>,
    /// Row k of S is row `rows[k]` of A.
    rows: Vec<u32>,
    /// R and C, in the order of A.
    pub scales: Scaling,
    /// When the solution of the given system is good enough.
    pub stop: Stop,
    /// The null space of A, where that is known. That of S is another.
    pub null_space: Option<NullSpace>,
    pub info: Scaled,
    block_size: usize,
}

impl ScaledSystem {
    /// The one that `options` ask for, and S; `None` where they ask for nothing. The options become those
    /// that S is solved with.
    ///
    /// # Errors
    /// [`Error::Matrix`] for a matrix that is not square, or structurally singular where a matching is asked
    /// for; [`Error::NotFinite`]; [`Error::Option`] with near-null vectors, which are of A, and for a
    /// permutation of blocks.
    pub fn of(a: &Arc<Csr<f64>>, options: &mut Options) -> Result<Option<(ScaledSystem, Arc<Csr<f64>>)>> {
        let info = Scaled { scaling: options.scaling, permute: options.permute };
        if info == (Scaled { scaling: Scale::None, permute: Permute::None }) {
            return Ok(None);
        }
        check::check_square(a)?;
        check::check_finite(a)?;
        if options.near_null.is_some() {
            return Err(Error::Option("scaling and permutation do not go with near-null vectors".into()));
        }
        if options.split != Split::Zeros && info.permute != Permute::None {
            return Err(Error::Option(
                "a permutation of rows does not go with a split of the unknowns".into(),
            ));
        }
        if options.block_size > 1 && info.permute != Permute::None {
            return Err(Error::Option("a permutation of rows does not go with blocks".into()));
        }
        let n = a.n_rows();
        let is_matched = info.scaling == Scale::Matching || info.permute == Permute::Matching;
        let matching = is_matched.then(|| ProductMatching::of(a));
        if let Some(size) = matching.as_ref().map(|matching| matching.size).filter(|size| *size < n) {
            return Err(Error::Matrix(format!(
                "the matrix is structurally singular: of its {n} rows only {size} can be matched with columns"
            )));
        }
        let scales = match (info.scaling, &matching) {
            (Scale::Ruiz, _) => Scaling::of(a),
            (Scale::Matching, Some(matching)) => of_matching(a, matching, info.permute),
            _ => Scaling { rows: vec![1.0; n], columns: vec![1.0; n] },
        };
        let rows = match (info.permute, matching) {
            (Permute::Matching, Some(matching)) => matching.row_of,
            _ => (0..n as u32).collect(),
        };
        let null_space = NullSpace::of_any(a, options.block_size);
        let (given, stop, block_size) = (a.clone(), options.stop, options.block_size);
        let system = ScaledSystem { given, rows, scales, stop, null_space, info, block_size };
        // Norms of S are others: what is left of the given system is solved for again.
        let rtol = if options.stop.rtol > 0.0 { options.stop.rtol } else { Stop::default().rtol };
        options.stop = Stop { rtol, atol: 0.0, ..options.stop };
        let s = system.matrix(a);
        Ok(Some((system, s)))
    }

    /// S of another matrix of the same pattern.
    pub fn matrix(&self, a: &Csr<f64>) -> Arc<Csr<f64>> {
        let row = |k: usize| self.rows[k] as usize;
        Arc::new(Csr::from_rows(
            a.n_rows(),
            a.n_cols(),
            |k| a.row_len(row(k)),
            |k, columns, values| {
                let (from, v) = a.row(row(k));
                columns.copy_from_slice(from);
                for ((value, &j), &v) in values.iter_mut().zip(from).zip(v) {
                    *value = v * (self.scales.rows[row(k)] * self.scales.columns[j as usize]);
                }
            },
        ))
    }

    /// The same for another matrix.
    pub fn with(&self, given: Arc<Csr<f64>>) -> ScaledSystem {
        let null_space = NullSpace::of_any(&given, self.block_size);
        ScaledSystem { given, null_space, ..self.clone() }
    }

    /// The largest factor of a row.
    pub fn largest_row(&self) -> f64 {
        self.scales.rows.iter().copied().fold(0.0, f64::max)
    }

    /// `P R b`.
    pub fn rhs(&self, b: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|&i| b[i as usize] * self.scales.rows[i as usize]).collect()
    }
}

/// The scales of a matching; the same for rows and columns where a symmetric matrix stays symmetric.
fn of_matching(a: &Csr<f64>, matching: &ProductMatching, permute: Permute) -> Scaling {
    if permute == Permute::Matching || !a.is_symmetric(check::ROUNDING).is_symmetric() {
        return Scaling { rows: matching.rows.clone(), columns: matching.columns.clone() };
    }
    let scales = matching.symmetric_scales();
    Scaling { rows: scales.clone(), columns: scales }
}
