//! What a multigrid set-up is written in: sparse matrices that are computed where they will be used.
//!
//! [`Backend`](crate::backend::Backend) has what an iteration needs; the traits here add what makes a
//! hierarchy. Each folder is one concept. Its `mod.rs` defines the results, `host.rs` computes them on the
//! CPU's threads, `device.rs` on a GPU or in the simulator, `distributed.rs` on several ranks, each of which
//! uses one of these, and `reference.rs` in plain sequential loops, which the tests compare the first two
//! with.
//!
//! | folder | trait | what |
//! |---|---|---|
//! | `matrix` | [`Matrices`] | matrices in CRS and in planes, sizes, values |
//! | `strength` | [`StrengthOfConnection`] | strong entries, the filtered matrix |
//! | `independent_set` | [`IndependentSets`] | splittings, roots of aggregates |
//! | `aggregation` | [`Aggregation`] | aggregates, and the interpolation that is constant on each |
//! | `interpolation` | [`Interpolation`] | smoothed, averaged, extended+i |
//! | `product` | [`SparseProducts`] | A B |
//! | `transpose` | [`Transposes`] | A^T |
//! | `diagonal` | [`Diagonals`] | what smoothers divide by, and numbers of rows |
//! | `lanczos` | [`LanczosSteps`] | what bounds the spectrum, step by step |
//! | `blocks` | [`BlockMatrices`] | rows merged into blocks; norms and damping of these |
//! | `near_null` | [`NearNullSpaces`] | interpolation of given vectors |
//! | `parts` | [`Parts`] | rows and elements that ranks take from each other |
//! | `inverse` | [`Inverses`] | the dense inverse of the coarsest matrix |
//! | `format` | [`Formats`], [`CrsFormat`] | from the set-up's CRS to what is multiplied fast |
//!
//! `numbering` lets a GPU find another numbering of the unknowns; the host's is in `analysis`.
//!
//! Every operation but [`Inverses::inverse`] and [`LanczosSteps::lanczos_step`] has a result that is defined
//! to the last bit, in the order of additions too, so that the hierarchy depends neither on the number of
//! threads nor on the device. Sums run over a row's entries from left to right, and multiply and add round
//! separately.

pub mod aggregation;
pub mod algebra;
pub mod blocks;
pub mod diagonal;
pub mod format;
pub mod independent_set;
pub mod interpolation;
pub mod inverse;
pub mod lanczos;
pub mod matrix;
pub mod near_null;
pub(crate) mod numbering;
mod others;
pub mod parts;
pub mod product;
pub mod strength;
pub mod transpose;

mod launch;
mod rows;
mod scan;
mod sequential;
mod survey;

#[cfg(test)]
pub(crate) mod testing;

pub use aggregation::{Aggregation, NO_AGGREGATE};
pub use algebra::Algebra;
pub use blocks::BlockMatrices;
pub use diagonal::{Diagonals, RowWeight};
pub use format::{BorderFormat, CrsFormat, Formats, RoundedRows};
pub use independent_set::{IndependentSets, IndependentSetsOnRanks, SINGLETON};
pub use interpolation::{Interpolation, Truncation};
pub use inverse::Inverses;
pub use lanczos::{LanczosStep, LanczosSteps};
pub use matrix::device::DeviceCsr;
pub(crate) use matrix::distributed::DistributedCsr;
pub use matrix::indices::DeviceIndices;
pub(crate) use matrix::pattern::KnownPattern;
pub use matrix::{Blocks, Matrices, Size};
pub use near_null::{NearNullSpaces, Orthonormal};
pub use parts::Parts;
pub use product::SparseProducts;
pub use strength::{Strength, StrengthOfConnection};
pub use transpose::Transposes;
