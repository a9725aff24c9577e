//! The unknowns in another numbering, in which products with the matrix find theirs in the caches.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use super::options::{Options, Reorder};
use super::{Method, Precision, Precond};
use crate::analysis::{Neighbours, lines_per_entry, reverse_cuthill_mckee, reverse_cuthill_mckee_of_compact};
use crate::error::{Error, Result};
use crate::matrix::{BlockCsr, Csr, check};
use crate::precond::schur::Split;

/// With fewer lines an entry than this the given numbering is good.
const GOOD: f64 = 0.4;
/// What another numbering may leave of the lines.
const WORTHWHILE: f64 = 0.7;
/// Below this many unknowns x is in every cache.
const SMALL: usize = 1 << 16;

/// What a numbering gave, for reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reordered {
    /// Cache lines of x that products need for each entry, in the given numbering.
    pub lines_before: f64,
    /// And in the one that is used.
    pub lines_after: f64,
    /// What it took.
    pub seconds: f64,
}

/// A numbering that is used.
pub(super) struct Numbering {
    /// The unknown in each place.
    order: Vec<u32>,
    pub info: Reordered,
}

impl Numbering {
    /// The one that `options` ask for, and the matrix in it, which may be known to be symmetric; `None` for
    /// the given one.
    ///
    /// # Errors
    /// [`Error::Matrix`] for a matrix that is not square; [`Error::Option`] with near-null vectors, which are
    /// in the given numbering.
    pub fn of(
        a: &Arc<Csr<f64>>,
        options: &Options,
        is_symmetric: bool,
    ) -> Result<Option<(Numbering, Arc<Csr<f64>>)>> {
        let start = Instant::now();
        if options.reorder == Reorder::Rcm {
            check::check_square(a)?;
            if options.near_null.is_some() {
                return Err(Error::Option("a reordering does not go with near-null vectors".into()));
            }
            if options.split != Split::Zeros {
                return Err(Error::Option("a reordering does not go with a split of the unknowns".into()));
            }
        }
        let Some(lines_before) = lines_where_bad(a, options) else { return Ok(None) };
        let Some(order) = order(a, options, is_symmetric)? else { return Ok(None) };
        let reordered = Arc::new(a.permute_symmetric(&order)?);
        let lines_after = lines_per_entry(&reordered);
        if !is_better(options.reorder, lines_before, lines_after) {
            return Ok(None);
        }
        let info = Reordered { lines_before, lines_after, seconds: start.elapsed().as_secs_f64() };
        Ok(Some((Numbering { order, info }, reordered)))
    }

    /// Another matrix of the same pattern in this numbering.
    pub fn matrix(&self, a: &Csr<f64>) -> Result<Arc<Csr<f64>>> {
        a.permute_symmetric(&self.order).map(Arc::new)
    }

    /// A vector in this numbering.
    pub fn vector(&self, v: &[f64]) -> Vec<f64> {
        self.order.iter().map(|&i| v[i as usize]).collect()
    }

    /// A vector in the given numbering.
    pub fn given(&self, v: &[f64]) -> Vec<f64> {
        let mut given = vec![0.0; v.len()];
        self.order.iter().zip(v).for_each(|(&i, &v)| given[i as usize] = v);
        given
    }
}

/// Whether the numbering that was asked for is left to a GPU that solves alone, which has the matrix where it
/// is used: where it converts it, and what was asked for is made of what is there.
pub(super) fn is_left_to_gpu(options: &Options) -> bool {
    let Options { precision, format, block_size, method, precond, .. } = options;
    let has_format = *precision == Precision::F64 && format.is_none() && *block_size == 1;
    let gains = method.is_none_or(is_of_products) && precond.is_none_or(is_of_matrix_alone);
    has_format && gains && options.name_a_way() && !is_tied(options)
}

/// Whether something is given that is in the given numbering.
pub(super) fn is_tied(options: &Options) -> bool {
    options.near_null.is_some() || options.split != Split::Zeros
}

/// Whether iterations gain by another numbering: those of products with the matrix, or of multigrid.
pub(super) fn gain(method: Method, precond: Precond) -> bool {
    is_of_products(method) && is_of_matrix_alone(precond)
}

fn is_of_products(method: Method) -> bool {
    let description = method.description();
    !description.is_on_host && description.own_preconditioner().is_none()
}

/// Whether a preconditioner is made where the matrix is, and takes its numbering.
fn is_of_matrix_alone(precond: Precond) -> bool {
    matches!(precond, Precond::None | Precond::Jacobi | Precond::Amg)
}

/// Levels of a graph at most that `auto` goes through. On an H200 a level takes about 80 us in all searches
/// together, and another numbering saves about 0.8 ns an entry in the set-up and a solve with multigrid, of
/// which there are mostly more than one, and more iterations without it.
pub(super) fn most_levels(nnz: usize) -> u32 {
    const OF_AN_ENTRY: f64 = 2e-5;
    (OF_AN_ENTRY * nnz as f64) as u32
}

/// The lines of the given numbering, where another is looked for: with `auto` for large matrices of many
/// lines.
pub(super) fn lines_where_bad(a: &Csr<f64>, options: &Options) -> Option<f64> {
    match options.reorder {
        Reorder::None => None,
        Reorder::Rcm => Some(lines_per_entry(a)),
        Reorder::Auto if a.n_rows() < SMALL || is_tied(options) => None,
        Reorder::Auto => Some(lines_per_entry(a)).filter(|&lines| lines >= GOOD),
    }
}

/// Whether another numbering is taken.
pub(super) fn is_better(reorder: Reorder, lines_before: f64, lines_after: f64) -> bool {
    reorder != Reorder::Auto || lines_after <= WORTHWHILE * lines_before
}

/// Of nodes, where an unknown is not one; `None` where `auto` does not wait for it.
fn order(a: &Csr<f64>, options: &Options, is_symmetric: bool) -> Result<Option<Vec<u32>>> {
    let nodes = match options.block_size {
        1 => Cow::Borrowed(a),
        b => Cow::Owned(BlockCsr::from_csr(a, b)?.plane(0, 0)),
    };
    let graph = Neighbours::of(&nodes, is_symmetric);
    let order = match options.reorder {
        Reorder::Auto => reverse_cuthill_mckee_of_compact(&graph, most_levels(nodes.nnz())),
        _ => Some(reverse_cuthill_mckee(&graph)),
    };
    let b = options.block_size as u32;
    Ok(order.map(|order| order.into_iter().flat_map(|node| b * node..b * (node + 1)).collect()))
}
