//! Lanes of a device that share a row of a product.

use gpu_kernels::setup::columns::{LOADED, SLOTS};

use crate::setup::launch::{log2_lanes_for, mean};
use crate::setup::matrix::Size;

/// Logarithm of the number of lanes that share a row of A where the columns of A B are found.
pub(super) fn lanes_of_columns(a: Size, b: Size) -> u32 {
    // Products of multigrid have about a tenth as many columns a row as multiplications, some rows more.
    lanes_on(b, log2_lanes_for(mean(a) * mean(b) / 4.0, SLOTS))
}

/// The same where C = A B is added up.
pub(super) fn lanes_of_values(b: Size, c: Size) -> u32 {
    // Room for rows that are longer than most, as those of circuits are.
    lanes_on(b, log2_lanes_for(3.0 * mean(c), LOADED))
}

/// About as many lanes as a row of B has entries, and no fewer than `needed`.
fn lanes_on(b: Size, needed: u32) -> u32 {
    log2_lanes_for(0.75 * mean(b), 1).max(needed)
}
