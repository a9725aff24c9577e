//! Lanes of a device that share a row of a product.

use gpu_kernels::setup::columns::LOADED;

use crate::setup::launch::{log2_lanes_for, mean};
use crate::setup::matrix::Size;

/// Logarithm of the number of lanes that share a row of A where the columns of A B are found.
pub(super) fn lanes_of_columns(a: Size, b: Size) -> u32 {
    // Products of multigrid have about 1.7 times as many columns a row as the root of the multiplications.
    lanes_for(b, 1.7 * (mean(a) * mean(b)).sqrt())
}

/// The same where C = A B is added up.
pub(super) fn lanes_of_values(b: Size, c: Size) -> u32 {
    lanes_for(b, mean(c))
}

/// About as many lanes as a row of B has entries, and enough for a row with a quarter more than so many
/// columns.
fn lanes_for(b: Size, columns: f64) -> u32 {
    log2_lanes_for(0.75 * mean(b), 1).max(log2_lanes_for(1.25 * columns, LOADED))
}
