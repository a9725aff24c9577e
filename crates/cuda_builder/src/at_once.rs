//! Work that each runs on one core.

use crate::error::BuildError;
use std::panic::resume_unwind;
use std::thread;

/// What `work` makes of each item, in their order; all run at the same time. The error is that of the first
/// that fails.
pub(crate) fn map<I: Sync, R: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<R, BuildError> + Sync,
) -> Result<Vec<R>, BuildError> {
    let work = &work;
    thread::scope(|scope| {
        let all: Vec<_> = items.iter().map(|item| scope.spawn(move || work(item))).collect();
        all.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
