//! Rigid motions of elastic bodies, handed to multigrid.

use std::sync::Arc;

use warpsolve::Result;
use warpsolve::job::{Options, Permute, Precond, Reorder, Scale};
use warpsolve::precond::amg::{Coarsening, NearNull};

/// The options with the motions, where multigrid by smoothed aggregation is chosen and takes them, or nothing
/// is chosen; the same options elsewhere. Motions are those of the given numbering and scale.
pub fn with_rigid_motions(options: Options, motions: impl FnOnce() -> Result<NearNull>) -> Result<Options> {
    let own = options.method.and_then(|method| method.description().own_preconditioner());
    let multigrid = match (own, options.precond) {
        (None, precond) => precond.is_none_or(|precond| precond == Precond::Amg),
        (Some(own), _) => own == Precond::Amg,
    };
    let as_given = options.block_size == 1
        && options.reorder != Reorder::Rcm
        && options.scaling == Scale::None
        && options.permute == Permute::None;
    let takes_them = options.amg.coarsening == Coarsening::SmoothedAggregation && as_given;
    if !multigrid || !takes_them || options.near_null.is_some() {
        return Ok(options);
    }
    let precond = if own.is_none() { Some(Precond::Amg) } else { options.precond };
    Ok(Options { precond, near_null: Some(Arc::new(motions()?)), ..options })
}
