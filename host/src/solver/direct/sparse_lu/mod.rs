//! LU decomposition column by column (Gilbert and Peierls 1988), with threshold pivoting. Columns in which
//! no pivot is left are put off to the end, so that it finds the rank.
//!
//! | file | what |
//! |---|---|
//! | `order`, `pivots` | what comes when, and what becomes a pivot |
//! | `entries`, `factors` | entries of columns, L and U, and solves with them |
//! | `work` | a column that is being eliminated |
//! | `elimination` | all of them |
//! | `full`, `dense` | the last columns of a block, which are full, as a dense matrix |

mod dense;
mod elimination;
mod entries;
mod factors;
mod full;
mod order;
mod pivots;
mod work;

pub use factors::SparseLu;
pub use full::{are_many, flops as flops_of_full, is_full};
pub use order::Order;
pub use pivots::Choice;
