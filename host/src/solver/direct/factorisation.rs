//! A matrix equilibrated and factorised.

use super::columns::Columns;
use super::factor::{Factor, Failure};
use super::kind::{Kind, has_zeros};
use super::minimum_degree::minimum_degree;
use super::pairs::Pairs;
use super::prediction::Prediction;
use super::scaling::Scaling;
use super::symbolic::{Care, MANY_FLOPS, Pivots, Symbolic};
use super::vectors::remove;
use crate::analysis::Matching;
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::problem::random::uniform;

/// What is put where a matrix lacks a pivot, in the scaled matrix: no more than rounding,
const SMALL: f64 = 1.0 / (1u64 << 50) as f64;
/// and where that is not enough.
const LESS_SMALL: f64 = 1.0 / (1u64 << 40) as f64;

/// How many times as long as in blocks of `L D L^T` a multiply-add takes in LU of single entries.
const LU_COST: f64 = 4.0;

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
}

impl Factorisation {
    /// Factorises by the first of the `kinds` that serves; by LU before pivots of two rows where it takes
    /// less, and at last.
    ///
    /// # Errors
    /// [`Error::HostMemory`] where it does not fit.
    pub fn of(a: &Csr<f64>, kinds: &[Kind], care: Care) -> Result<Factorisation> {
        let mut scaling = Scaling::of(a);
        let mut scaled = scaling.apply(a);
        for &kind in kinds.iter().filter(|kind| **kind != Kind::Lu) {
            let pairs = Pairs::for_kind(&scaled, kind);
            let (columns, pivots) = match &pairs {
                None if has_zeros(&scaled) => continue,
                None => (Columns::of(&scaled), Pivots::Diagonal),
                Some(pairs) => {
                    scaling.multiply(&pairs.scales);
                    scaled = scaling.apply(a);
                    (pairs.columns(&scaled), Pivots::Pairs)
                }
            };
            let counted = Symbolic::of(&columns, kind, &pivots)?;
            if pairs.is_some() && is_lu_less(&scaled, &counted.1)? {
                let (columns, pivots) =
                    (Columns::of(&scaled), Pivots::Rows(Matching::of(&scaled).completed()));
                let lu = Symbolic::of(&columns, Kind::Lu, &pivots)?;
                if let Ok((factor, prediction)) = numbers(&columns, lu, Care::Little)? {
                    return Ok(Factorisation { scaling, scaled, factor, prediction });
                }
            }
            if let Ok((factor, prediction)) = numbers(&columns, counted, Care::Usual)? {
                return Ok(Factorisation { scaling, scaled, factor, prediction });
            }
        }
        let row_of = Matching::of(&scaled).completed();
        let pivots = Pivots::Rows(row_of.clone());
        for size in [0.0, SMALL, LESS_SMALL] {
            let columns = Columns::of(&plus(&scaled, &row_of, size)?);
            let counted = Symbolic::of(&columns, Kind::Lu, &pivots)?;
            if let Ok((factor, prediction)) = numbers(&columns, counted, care)? {
                return Ok(Factorisation { scaling, scaled, factor, prediction });
            }
        }
        Err(Error::Matrix("the matrix has no factors, even with its pivots perturbed".into()))
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

    /// The vectors `R u` for some u: with `S^T u = 0` those that A^T maps to 0.
    pub fn unscaled(&self, left: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let scale = |u: &Vec<f64>| u.iter().zip(&self.scaling.rows).map(|(u, r)| u * r).collect();
        left.iter().map(scale).collect()
    }
}

/// What the first of the `kinds` will take for a matrix, from its pattern and its matching; LU, where pivots
/// of two rows take more.
///
/// # Errors
/// Where there is no memory to find out.
pub fn predict(a: &Csr<f64>, kinds: &[Kind]) -> Result<Prediction> {
    let kind = kinds[0];
    let pairs = Pairs::for_kind(a, kind);
    let lu = || Symbolic::of(&Columns::of(a), Kind::Lu, &Pivots::Rows(Matching::of(a).completed()));
    let (_, prediction) = match &pairs {
        Some(pairs) => Symbolic::of(&pairs.columns(a), kind, &Pivots::Pairs)?,
        None if kind == Kind::Lu || has_zeros(a) => lu()?,
        None => Symbolic::of(&Columns::of(a), kind, &Pivots::Diagonal)?,
    };
    if pairs.is_some() && is_lu_less(a, &prediction)? {
        return Ok(lu()?.1);
    }
    Ok(prediction)
}

/// Whether LU of a symmetric matrix takes less than `L D L^T` with its pairs, which are eliminated together,
/// where that takes so much that it is worth counting.
fn is_lu_less(a: &Csr<f64>, ldlt: &Prediction) -> Result<bool> {
    let lu = || minimum_degree(&Columns::of(a), &Matching::of(a).completed());
    Ok(ldlt.flops > MANY_FLOPS && LU_COST * lu()?.1.flops <= ldlt.flops)
}

/// The factors, if they are there and finite.
fn numbers(
    a: &Columns,
    (symbolic, prediction): (Symbolic, Prediction),
    care: Care,
) -> Result<std::result::Result<(Factor, Prediction), Failure>> {
    prediction.check_memory()?;
    let mut factor = match Factor::of(a, symbolic, prediction.kind == Kind::Cholesky, care)? {
        Ok(factor) => factor,
        Err(failure) => return Ok(Err(failure)),
    };
    // A pivot that vanished shows in every solve.
    let mut trial: Vec<f64> = (0..a.n).map(|i| uniform(3, i as u64) - 0.5).collect();
    factor.solve(&mut trial);
    Ok(match trial.iter().all(|v| v.is_finite()) {
        true => Ok((factor, prediction)),
        false => Err(Failure::Singular),
    })
}

/// The matrix with numbers of this size added where pivots may be.
fn plus(a: &Csr<f64>, row_of: &[u32], size: f64) -> Result<Csr<f64>> {
    if size == 0.0 {
        return Ok(a.clone());
    }
    let sign = |j: usize| if uniform(17, j as u64) < 0.5 { -size } else { size };
    let added = row_of.iter().enumerate().map(|(j, &i)| (i as usize, j, sign(j)));
    let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v));
    Csr::from_triplets(a.n_rows(), a.n_cols(), (0..a.n_rows()).flat_map(row).chain(added))
}
