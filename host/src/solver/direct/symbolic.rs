//! Order and structure of the factors, and what they will cost, before any number is computed.

use std::sync::atomic::{AtomicBool, Ordering};

use faer::Side;
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering,
    factorize_symbolic_cholesky,
};

use super::blocks::Blocks;
use super::columns::Columns;
use super::dissection::nested_dissection;
use super::kind::Kind;
use super::minimum_degree::minimum_degree;
use super::prediction::{Prediction, failed};
use super::sparse_lu::Order;
use crate::error::Result;

/// Blocks are taken where single entries would need more multiply-adds than this share of what blocks need
/// at most, for any pivots,
const SHARE: f64 = 5.0;
/// but neither for fewer than these, nor more, if blocks do not take as long.
const FEW_FLOPS: f64 = 2e7;
pub const MANY_FLOPS: f64 = 2e9;
/// So many times the multiply-adds that were expected come of pivots in other rows.
const SURPRISE: f64 = 4.0;

/// Multiply-adds for an entry of the matrix from which on a second order is worth looking for: one for any
/// pivots, which takes as long as about a third of them,
const WORTH_A_LOOK: f64 = 300.0;
/// and nested dissection.
pub const WORTH_DISSECTING: f64 = 2e4;

/// Where pivots are thought to be.
pub enum Pivots {
    /// On the diagonal of a symmetric matrix.
    Diagonal,
    /// There, and in pairs of rows in turn.
    Pairs,
    /// In a row for each column, if they can be: for LU.
    Rows(Vec<u32>),
}

/// How much is done for pivots that are large, and for few entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// Only if it takes about as little as pivots on the diagonal would: another factorisation is the next.
    Little,
    /// Pivots that are rather small are taken before blocks are.
    Usual,
    /// They are not.
    Most,
}

/// How much is done for factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// For their pivots.
    pub care: Care,
    /// How many times as long as predicted they may take.
    pub excess: f64,
}

impl Effort {
    /// Seconds at most, of factors that were predicted to take so many.
    pub fn most_seconds(self, predicted: f64) -> f64 {
        /// What is predicted to take less is worth as much.
        const LITTLE: f64 = 0.1;
        self.excess * predicted.max(LITTLE)
    }
}

/// The structure of a factorisation.
pub enum Symbolic {
    /// `P A P^T = L L^T` or `L D L^T`, P by approximate minimum degree or nested dissection.
    Symmetric(SymbolicCholesky<usize>),
    /// `P A Q = L U`.
    General(General),
}

/// That of LU, whose row order is found with the numbers.
pub struct General {
    /// The order of elimination.
    pub order: Order,
    /// The pivot row of each column that fill was thought of with; `u32::MAX` for none.
    pub preferred: Vec<u32>,
    /// Multiply-adds that pivots in these rows take.
    pub expected_flops: f64,
    /// Those beyond which dense blocks are faster.
    pub most_flops: f64,
    /// Those, and what they take at most, where they were looked for.
    pub blocks: Option<(Blocks, Prediction)>,
}

impl Symbolic {
    /// Orders and counts. `a` has both triangles; of a symmetric matrix only one is looked at.
    pub fn of(a: &Columns, kind: Kind, pivots: &Pivots) -> Result<(Symbolic, Prediction)> {
        match pivots {
            Pivots::Rows(row_of) => general(a, row_of),
            Pivots::Diagonal => of_two_orders(a, kind, CholeskySymbolicParams::default()),
            Pivots::Pairs => {
                // Outside of blocks of columns there are no pivots of two rows.
                let supernodal_flop_ratio_threshold = SupernodalThreshold::FORCE_SUPERNODAL;
                let parameters =
                    CholeskySymbolicParams { supernodal_flop_ratio_threshold, ..Default::default() };
                of_two_orders(a, kind, parameters)
            }
        }
    }
}

impl General {
    /// Multiply-adds beyond which pivots are not where they were thought to be.
    pub fn surprising_flops(&self) -> f64 {
        (SURPRISE * self.expected_flops).max(FEW_FLOPS / SHARE)
    }
}

/// Multiply-adds that single entries may take before blocks, which take so many at most, are tried.
pub fn flops_before(any_pivots: &Prediction) -> f64 {
    let as_long = Prediction::entry_flops(any_pivots.seconds());
    (any_pivots.flops / SHARE).clamp(FEW_FLOPS, MANY_FLOPS.max(as_long))
}

/// Of two orders the one that takes less: minimum degree, and nested dissection, where it may be worth it.
/// Both keep columns with the same entries together.
fn of_two_orders(
    a: &Columns,
    kind: Kind,
    parameters: CholeskySymbolicParams,
) -> Result<(Symbolic, Prediction)> {
    // The one takes about as long as the other, and one thread.
    let is_enough = AtomicBool::new(false);
    let by_degree = || {
        let made = symmetric(a, kind, SymmetricOrdering::Amd, parameters)?;
        is_enough.store(made.1.flops < WORTH_DISSECTING * a.row_idx.len() as f64, Ordering::Relaxed);
        Ok(made)
    };
    let (by_degree, dissection) = rayon::join(by_degree, || nested_dissection(a, &is_enough));
    let by_degree: (Symbolic, Prediction) = by_degree?;
    if is_enough.into_inner() {
        return Ok(by_degree);
    }
    let dissected = in_order(a, kind, &dissection?, parameters)?;
    Ok(if dissected.1.flops < by_degree.1.flops { dissected } else { by_degree })
}

/// In this order.
fn in_order(
    a: &Columns,
    kind: Kind,
    forward: &[usize],
    parameters: CholeskySymbolicParams,
) -> Result<(Symbolic, Prediction)> {
    let mut inverse = vec![0; a.n];
    forward.iter().enumerate().for_each(|(k, &j)| inverse[j] = k);
    let order = SymmetricOrdering::Custom(PermRef::new_checked(forward, &inverse, a.n));
    symmetric(a, kind, order, parameters)
}

/// Orders and counts a symmetric matrix.
pub fn symmetric(
    a: &Columns,
    kind: Kind,
    order: SymmetricOrdering<usize>,
    parameters: CholeskySymbolicParams,
) -> Result<(Symbolic, Prediction)> {
    let symbolic =
        factorize_symbolic_cholesky(a.symbolic(), Side::Lower, order, parameters).map_err(failed)?;
    let entries = symbolic.len_val() as f64;
    let in_blocks = matches!(symbolic.raw(), SymbolicCholeskyRaw::Supernodal(_));
    let (flops, index) = match symbolic.raw() {
        SymbolicCholeskyRaw::Simplicial(l) => {
            let count = |k: usize| (l.col_ptr()[k + 1] - l.col_ptr()[k]) as f64;
            ((0..a.n).map(|k| count(k).powi(2)).sum::<f64>(), entries)
        }
        SymbolicCholeskyRaw::Supernodal(l) => {
            let of = |s: usize| {
                let columns = (l.supernode_end()[s] - l.supernode_begin()[s]) as f64;
                let below = (l.col_ptr_for_row_idx()[s + 1] - l.col_ptr_for_row_idx()[s]) as f64;
                columns * (columns.powi(2) / 3.0 + columns * below + below.powi(2))
            };
            // A number for each, while a system is solved.
            ((0..l.n_supernodes()).map(of).sum(), 2.0 * l.row_idx().len() as f64)
        }
    };
    // Values and indices, and intermediate results while they are computed.
    let bytes = 8.0 * (entries + index) + 16.0 * a.row_idx.len() as f64;
    Ok((Symbolic::Symmetric(symbolic), Prediction { kind, entries, flops, in_blocks, bytes }))
}

/// Of two orders the one that promises less work: minimum degree with pivots where the matching says, and
/// COLAMD's, which is for any pivots.
fn general(a: &Columns, row_of: &[u32]) -> Result<(Symbolic, Prediction)> {
    let (order, on_diagonal) = minimum_degree(a, row_of)?;
    let few = FEW_FLOPS.min(WORTH_A_LOOK * a.row_idx.len() as f64).max(FEW_FLOPS / SHARE);
    if on_diagonal.flops <= few {
        let (preferred, expected_flops) = (row_of.to_vec(), on_diagonal.flops);
        let general = General { order, preferred, expected_flops, most_flops: FEW_FLOPS, blocks: None };
        return Ok((Symbolic::General(general), on_diagonal));
    }
    let (blocks, any_pivots) = Blocks::of(a)?;
    let limit = match blocks.is_worthwhile(&any_pivots) {
        true => flops_before(&any_pivots),
        false => f64::INFINITY,
    };
    let is_on_diagonal = on_diagonal.flops <= any_pivots.flops;
    let (order, preferred, prediction) = match is_on_diagonal {
        true => (order, row_of.to_vec(), on_diagonal),
        false => (Order::of(blocks.forward.clone()), vec![u32::MAX; a.n], any_pivots),
    };
    let expected_flops = prediction.flops;
    // What is predicted for pivots on the diagonal is rather too little.
    let (most_flops, prediction) = match prediction.flops > limit {
        true => (0.0, any_pivots),
        false => (limit, Prediction { in_blocks: false, ..prediction }),
    };
    let general =
        General { order, preferred, expected_flops, most_flops, blocks: Some((blocks, any_pivots)) };
    Ok((Symbolic::General(general), prediction))
}
