//! Multigrid from the rows that ranks have, where nobody has the whole matrix.

use cuda_std::Real;

use super::{AmgOnRanks, Known, OnAll, OwnRows, are_set_up_together, whole_at_root};
use crate::backend::distributed::Distributed;
use crate::comm::agree;
use crate::error::Result;
use crate::precond::Gathered;
use crate::precond::amg::{Cycle, Params};

/// Multigrid with the same parameters on every rank. Where they cannot set it up together, or the matrix is
/// its own coarsest level, rank 0 gets all rows and computes all of it. All ranks call this.
///
/// # Errors
/// As of a set-up, and [`Error::Rank`](crate::Error::Rank) where another rank has failed.
pub(crate) fn amg_from_rows<T: Real, B: AmgOnRanks<T>>(
    backend: &Distributed<B>,
    own: OwnRows<T, B>,
    params: &Params,
    known: &Known,
) -> Result<OnAll<T, B>> {
    let (comm, inner) = (&**backend.comm(), backend.inner());
    // What is there with all columns is given back as soon as the rows are numbered.
    let again = OwnRows { there: None, ..own };
    if params.smoother.is_of_sweeps()
        && are_set_up_together(params, own.a.block())
        && let Some(m) = B::amg_set_up_together(backend, own, params, known.clone())?
    {
        return Ok(m);
    }
    let whole = whole_at_root(backend, again, known.clone())?;
    let made = whole.map(|(a, partition)| {
        let (m, _) = inner.amg_of(a, None, params, None, known.in_f32)?;
        Ok((m, partition))
    });
    let m = agree(comm, made.transpose())?;
    Ok(Box::new(Gathered::new(backend, m, params.cycle != Some(Cycle::K))?))
}
