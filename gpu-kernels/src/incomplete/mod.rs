//! Incomplete factorisations by colours: from a matrix to the triangles that `triangular` solves with.
//!
//! ```text
//! facts      what decides how the matrix is factorised
//! colour     a colour for each unknown, neighbours of different ones, in rounds
//! arranged   the matrix in f64, its unknowns in the order of their colours
//! eliminate  L and U on its pattern, the rows of a colour at once
//! triangles  L, and U from its last row on, as they are solved with
//! inverse    sparse matrices that are multiplied with instead
//! ```

mod colours;
mod elimination;
mod facts;
mod inverse;
mod search;
mod split;

pub use colours::*;
pub use elimination::*;
pub use facts::*;
pub use inverse::*;
pub use split::*;
