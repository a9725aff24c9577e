//! A matrix scaled and ordered for a factorisation: all that is done before numbers are computed, and what
//! they will take.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use super::apart::unless_cancelled;
use super::columns::Columns;
use super::kind::{Kind, has_zeros, kinds};
use super::minimum_degree::minimum_degree;
use super::pairs::Pairs;
use super::prediction::Prediction;
use super::scaling::Scaling;
use super::symbolic::{MANY_FLOPS, Pivots, Symbolic};
use crate::analysis::Matching;
use crate::error::Result;
use crate::matrix::Csr;

/// How many times as long as in blocks of `L D L^T` a multiply-add takes in LU of single entries.
const LU_COST: f64 = 4.0;

/// Columns in their order, and what their factors take.
pub struct Counted {
    /// The scaled matrix.
    pub columns: Columns,
    /// Order and structure.
    pub symbolic: Symbolic,
    /// What they come to.
    pub prediction: Prediction,
}

impl Counted {
    fn of(columns: Columns, kind: Kind, pivots: &Pivots) -> Result<Counted> {
        let (symbolic, prediction) = Symbolic::of(&columns, kind, pivots)?;
        Ok(Counted { columns, symbolic, prediction })
    }

    /// `L L^T` of normal equations.
    pub fn normal(a: &Csr<f64>) -> Result<Counted> {
        Counted::of(Columns::of(a), Kind::Normal, &Pivots::Diagonal)
    }

    /// LU with its pivots in these rows.
    pub fn lu(a: &Csr<f64>, row_of: Vec<u32>) -> Result<Counted> {
        Counted::of(Columns::of(a), Kind::Lu, &Pivots::Rows(row_of))
    }
}

/// `S = R A C`, ordered for the first of some kinds of factorisation that may serve it.
pub struct Ordered {
    /// R and C.
    pub scaling: Scaling,
    /// S.
    pub scaled: Csr<f64>,
    /// LU, where it takes less than pivots of two rows; what comes after it is for when it does not after
    /// all.
    pub rather: Option<Counted>,
    /// The factorisation.
    pub counted: Counted,
    /// The kinds after it.
    pub rest: Vec<Kind>,
}

impl Ordered {
    /// Equilibrates, and orders for the first of the `kinds` that may serve.
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn of(a: &Csr<f64>, kinds: &[Kind]) -> Result<Ordered> {
        let scaling = Scaling::of(a);
        let scaled = scaling.apply(a);
        Ordered::scaled(a, scaling, scaled, kinds)
    }

    /// LU, scaled [by means](Scaling::by_means).
    ///
    /// # Errors
    /// Where there is no memory for it.
    pub fn by_means(a: &Csr<f64>) -> Result<Ordered> {
        let scaling = Scaling::by_means(a);
        let scaled = scaling.apply(a);
        Ordered::scaled(a, scaling, scaled, &[Kind::Lu])
    }

    /// The same of a matrix that is scaled already, which pivots of two rows scale once more.
    pub fn scaled(a: &Csr<f64>, mut scaling: Scaling, scaled: Csr<f64>, kinds: &[Kind]) -> Result<Ordered> {
        let Some((&kind, rest)) = kinds.split_first().filter(|(kind, _)| **kind != Kind::Lu) else {
            let counted = Counted::lu(&scaled, Matching::of(&scaled).completed())?;
            return Ok(Ordered { scaling, scaled, rather: None, counted, rest: Vec::new() });
        };
        let Some(pairs) = Pairs::for_kind(&scaled, kind) else {
            if has_zeros(&scaled) {
                return Ordered::scaled(a, scaling, scaled, rest);
            }
            let counted = Counted::of(Columns::of(&scaled), kind, &Pivots::Diagonal)?;
            return Ok(Ordered { scaling, scaled, rather: None, counted, rest: rest.to_vec() });
        };
        scaling.multiply(&pairs.scales);
        let scaled = scaling.apply(a);
        let counted = Counted::of(pairs.columns(&scaled), kind, &Pivots::Pairs)?;
        let is_long = counted.prediction.flops > MANY_FLOPS;
        let rather = if is_long { less_by_lu(&scaled, &counted.prediction)? } else { None };
        Ok(Ordered { scaling, scaled, rather, counted, rest: rest.to_vec() })
    }

    /// What is tried first will take.
    pub fn prediction(&self) -> Prediction {
        self.rather.as_ref().unwrap_or(&self.counted).prediction
    }
}

/// LU of a symmetric matrix, where that takes less than `L D L^T` with its pairs, which are eliminated
/// together.
fn less_by_lu(a: &Csr<f64>, ldlt: &Prediction) -> Result<Option<Counted>> {
    let row_of = Matching::of(a).completed();
    let (_, lu) = minimum_degree(&Columns::of(a), &row_of)?;
    (LU_COST * lu.flops <= ldlt.flops).then(|| Counted::lu(a, row_of)).transpose()
}

/// Entries below which a matrix is ordered at once: a thread that can be left is not worth it.
pub const FEW: usize = 100_000;

/// What a direct solution of a matrix will take: ordered when it is asked for, and only once. Clones belong
/// together.
#[derive(Clone, Default)]
pub struct Outlook(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// The matrix, and what was found out of it; nothing where there is no memory for that.
    of: Option<(Arc<Csr<f64>>, Option<Prediction>)>,
    /// Until a factorisation takes it.
    ordered: Option<Ordered>,
}

impl fmt::Debug for Outlook {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Outlook")
    }
}

impl Outlook {
    /// What the first factorisation that would be tried for this matrix takes; `None` where there is no
    /// memory to find out.
    pub fn prediction(&self, a: &Arc<Csr<f64>>) -> Option<Prediction> {
        self.prediction_unless(a, &AtomicBool::new(false))
    }

    /// The same, and `None` once `cancelled` is raised.
    pub fn prediction_unless(&self, a: &Arc<Csr<f64>>, cancelled: &AtomicBool) -> Option<Prediction> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.of {
            Some((of, prediction)) if Arc::ptr_eq(of, a) => *prediction,
            _ => {
                let copy = a.clone();
                let order = move || Ok(Ordered::of(&copy, &kinds(&copy)).ok());
                state.ordered = unless_cancelled(a.nnz() < FEW, cancelled, order).ok()??;
                let prediction = state.ordered.as_ref().map(Ordered::prediction);
                state.of = Some((a.clone(), prediction));
                prediction
            }
        }
    }

    /// What was ordered for this matrix, if it was.
    pub fn take(&self, a: &Arc<Csr<f64>>) -> Option<Ordered> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = state.of.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, a));
        if is_same { state.ordered.take() } else { None }
    }
}
