//! Lanes of a device that share a row of a product.

use gpu_kernels::setup::columns::{LOADED, SLOTS};

use crate::setup::launch::{log2_lanes_for, mean};
use crate::setup::matrix::Size;

/// Logarithm of the number of lanes that share a row of A where the columns of A B are found.
pub(super) fn lanes_of_columns(a: Size, b: Size) -> u32 {
    // Products of multigrid have about a tenth as many columns a row as multiplications. One lane has no room
    // for a row a little longer than most.
    log2_lanes_for(mean(a) * mean(b) / 4.0, SLOTS).max(1)
}

/// The same where C = A B is added up.
pub(super) fn lanes_of_values(c: Size) -> u32 {
    // A lane for four columns: with fewer lanes rows of B take more turns.
    log2_lanes_for(3.0 * mean(c), LOADED)
}
