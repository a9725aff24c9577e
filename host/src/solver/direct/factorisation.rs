//! A matrix equilibrated and factorised.

use std::sync::atomic::{AtomicBool, Ordering};

use super::factor::{Factor, Failure};
use super::kind::Kind;
use super::normal::Normal;
use super::ordered::{Counted, Ordered};
use super::prediction::Prediction;
use super::quality::Quality;
use super::scaling::Scaling;
use super::sparse_lu::SparseLu;
use super::symbolic::{Care, Effort};
use super::vectors::{orthonormalise, remove};
use crate::analysis::Matching;
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::problem::random::uniform;

/// What is put where a matrix lacks a pivot, in the scaled matrix: no more than rounding,
const SMALL: f64 = 1.0 / (1u64 << 50) as f64;
/// and where that is not enough.
const LESS_SMALL: f64 = 1.0 / (1u64 << 40) as f64;

/// What zeros on the diagonal become in a symmetric matrix scaled to entries near 1, where pivots vanish
/// without: half of the digits are left (Vanderbei 1995; Schenk and Gaertner 2006).
const HELD: f64 = 1.0 / (1u64 << 26) as f64;

/// `S = R A C` and its factors. Where S has no regular factors they are those of a matrix that differs from
/// it by rounding.
pub struct Factorisation {
    scaling: Scaling,
    /// S.
    pub scaled: Csr<f64>,
    /// Its factors.
    pub factor: Factor,
    /// What was known before.
    pub prediction: Prediction,
    /// Whether as many pivots are missing as must be, whatever the numbers of the matrix are.
    pub is_singular_by_structure: bool,
}

impl Factorisation {
    fn new(scaling: Scaling, scaled: Csr<f64>, (factor, prediction): (Factor, Prediction)) -> Factorisation {
        let n = scaled.n_rows();
        let rank = factor.sparse_lu().map_or(n, SparseLu::rank);
        let is_singular_by_structure = rank < n && Matching::of(&scaled).size() == rank;
        Factorisation { scaling, scaled, factor, prediction, is_singular_by_structure }
    }

    /// Factorises what was ordered, and by the kinds after that where it has no such factors; `None` where
    /// `cancelled` is raised meanwhile.
    ///
    /// # Errors
    /// [`Error::HostMemory`] where it does not fit, and [`Error::Outgrown`] where LU takes longer than it
    /// may.
    pub fn of(
        a: &Csr<f64>,
        mut ordered: Ordered,
        effort: Effort,
        cancelled: &AtomicBool,
    ) -> Result<Option<Factorisation>> {
        loop {
            let Ordered { scaling, scaled, rather, counted, rest } = ordered;
            let Prediction { kind, .. } = counted.prediction;
            let (is_lu, predicted) = (kind == Kind::Lu, counted.prediction.seconds());
            let care = if is_lu { effort.care } else { Care::Usual };
            for (counted, care) in rather.map(|lu| (lu, Care::Little)).into_iter().chain([(counted, care)]) {
                match numbers(counted, Effort { care, ..effort }, cancelled)? {
                    Ok(made) => return Ok(Some(Factorisation::new(scaling, scaled, made))),
                    Err(Failure::Cancelled) => return Ok(None),
                    Err(_) => {}
                }
            }
            if is_lu {
                let most = effort.most_seconds(predicted);
                return match Normal::of(&scaled, most, cancelled)? {
                    Some(made) => Ok(Some(Factorisation::with_normal(scaling, scaled, made))),
                    None if cancelled.load(Ordering::Relaxed) => Ok(None),
                    None => Factorisation::perturbed(scaling, scaled, effort, cancelled),
                };
            }
            ordered = Ordered::scaled(a, scaling, scaled, &rest)?;
        }
    }

    /// By [`Normal`] equations, in so many seconds at most; `None` where those do not serve, or nobody waits
    /// for them.
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn normal(a: &Csr<f64>, most_seconds: f64, cancelled: &AtomicBool) -> Result<Option<Factorisation>> {
        let scaling = Scaling::of(a);
        let scaled = scaling.apply(a);
        let made = Normal::of(&scaled, most_seconds, cancelled)?;
        Ok(made.map(|made| Factorisation::with_normal(scaling, scaled, made)))
    }

    fn with_normal(
        scaling: Scaling,
        scaled: Csr<f64>,
        (normal, prediction): (Normal, Prediction),
    ) -> Factorisation {
        Factorisation::new(scaling, scaled, (Factor::normal(normal), prediction))
    }

    /// LU of a matrix that differs by rounding, for one that has no regular factors.
    fn perturbed(
        scaling: Scaling,
        scaled: Csr<f64>,
        effort: Effort,
        cancelled: &AtomicBool,
    ) -> Result<Option<Factorisation>> {
        let row_of = Matching::of(&scaled).completed();
        for size in [SMALL, LESS_SMALL] {
            let counted = Counted::lu(&plus(&scaled, &row_of, size)?, row_of.clone())?;
            match numbers(counted, effort, cancelled)? {
                Ok(made) => return Ok(Some(Factorisation::new(scaling, scaled, made))),
                Err(Failure::Cancelled) => return Ok(None),
                Err(_) => {}
            }
        }
        // Pivots may be there, but so small that solutions overflow.
        Err(Error::Matrix(
            "the matrix is singular, or so nearly that solutions with its factors overflow f64, also where its pivots are \
             perturbed"
                .into(),
        ))
    }

    /// A condition from which on these factors do not tell whether the matrix is singular: those whose zeros
    /// on the diagonal became others, which a singular matrix becomes regular by.
    pub fn doubtful(&self) -> f64 {
        /// Of a matrix that is regular.
        const SINGULAR: f64 = 1e15;
        /// A singular one has a condition of about `1 / HELD` then.
        const NEAR: f64 = 1e-2;
        if self.factor.is_of_other() { NEAR / HELD } else { SINGULAR }
    }

    /// Rows.
    pub fn n(&self) -> usize {
        self.scaled.n_rows()
    }

    /// `A^-1 r = C S^-1 R r`. Of a singular matrix `left` and `right` span what S^T and S map to 0: R r is
    /// kept out of the one, and the solution out of the other.
    pub fn solve(&mut self, r: &[f64], left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<f64> {
        let mut d = self.scaled_rhs(r);
        remove(left, &mut d);
        self.factor.solve(&mut d);
        remove(right, &mut d);
        d.iter_mut().zip(&self.scaling.columns).for_each(|(d, scale)| *d *= scale);
        d
    }

    /// `A^-T r = R S^-T C r`.
    pub fn solve_transposed(&mut self, r: &[f64]) -> Vec<f64> {
        let mut d: Vec<f64> = r.iter().zip(&self.scaling.columns).map(|(r, scale)| r * scale).collect();
        self.factor.solve_transposed(&mut d);
        d.iter_mut().zip(&self.scaling.rows).for_each(|(d, scale)| *d *= scale);
        d
    }

    /// `R b`.
    pub fn scaled_rhs(&self, b: &[f64]) -> Vec<f64> {
        b.iter().zip(&self.scaling.rows).map(|(b, scale)| b * scale).collect()
    }

    /// An orthonormal basis of what A maps to 0, where `v` is one of what S maps to 0.
    pub fn vanishing(&self, right: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let scale = |v: &Vec<f64>| v.iter().zip(&self.scaling.columns).map(|(v, c)| v * c).collect();
        let mut vanishing = right.iter().map(scale).collect();
        orthonormalise(&mut vanishing);
        vanishing
    }

    /// The vectors `R u` for some u: with `S^T u = 0` those that A^T maps to 0.
    pub fn unscaled(&self, left: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let scale = |u: &Vec<f64>| u.iter().zip(&self.scaling.rows).map(|(u, r)| u * r).collect();
        left.iter().map(scale).collect()
    }
}

type Made = std::result::Result<(Factor, Prediction), Failure>;

/// The factors, if they are there and finite.
fn numbers(counted: Counted, effort: Effort, cancelled: &AtomicBool) -> Result<Made> {
    counted.prediction.check_memory()?;
    if cancelled.load(Ordering::Relaxed) {
        return Ok(Err(Failure::Cancelled));
    }
    let Counted { mut columns, symbolic, prediction } = counted;
    let (is_definite, care) = (prediction.kind == Kind::Cholesky, effort.care);
    let predicted = prediction.seconds();
    let most = effort.most_seconds(predicted);
    let mut factor = match Factor::of(&columns, symbolic, is_definite, care, most, cancelled)? {
        Ok(factor) => factor,
        // With little care it is another factorisation that would do.
        Err(Failure::Filled) if care != Care::Little => return Err(Error::Outgrown { predicted, most }),
        Err(failure) => return Ok(Err(failure)),
    };
    let mut quality = Quality::of(|x| factor.solve(x), &columns);
    // Leading blocks of a saddle point may be singular, or nearly, and the matrix regular all the same.
    let may_be_held = prediction.kind == Kind::Ldlt && quality != Quality::Usual;
    if may_be_held && columns.fill_diagonal(HELD) {
        if !factor.recompute(&columns, cancelled)? {
            return Ok(Err(Failure::Cancelled));
        }
        quality = Quality::of(|x| factor.solve(x), &columns);
    }
    Ok(if quality == Quality::NotFinite { Err(Failure::Singular) } else { Ok((factor, prediction)) })
}

/// The matrix with numbers of this size added where pivots may be.
fn plus(a: &Csr<f64>, row_of: &[u32], size: f64) -> Result<Csr<f64>> {
    let sign = |j: usize| if uniform(17, j as u64) < 0.5 { -size } else { size };
    let added = row_of.iter().enumerate().map(|(j, &i)| (i as usize, j, sign(j)));
    let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
    Csr::from_triplets(a.n_rows(), a.n_cols(), (0..a.n_rows()).flat_map(row).chain(added))
}
