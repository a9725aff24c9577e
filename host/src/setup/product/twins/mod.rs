//! Twins: rows with the columns of the row before them, as where a node has several unknowns. Products of
//! matrices with many of them cost less than row by row.

mod device;
mod host;

pub(super) use device::may_have_twins;
pub(super) use host::Twins;

/// Rows that are looked at to see whether many are twins, at most.
const SAMPLES: usize = 1024;

/// From one of them to the next, of `n` rows.
fn step(n: usize) -> usize {
    (n / SAMPLES).max(1)
}

/// Whether two in five are twins or more, as half of them are where nodes have two unknowns.
fn are_many(twins: usize, samples: usize) -> bool {
    samples > 0 && 5 * twins >= 2 * samples
}
