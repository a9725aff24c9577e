//! All operations of a set-up in one bound.

use cuda_std::Real;

use super::aggregation::Aggregation;
use super::blocks::BlockMatrices;
use super::diagonal::Diagonals;
use super::format::CrsFormat;
use super::independent_set::IndependentSets;
use super::interpolation::Interpolation;
use super::inverse::Inverses;
use super::lanczos::LanczosSteps;
use super::near_null::NearNullSpaces;
use super::product::SparseProducts;
use super::strength::StrengthOfConnection;
use super::transpose::Transposes;

/// The operations of a multigrid set-up.
pub trait Algebra<T: Real>:
    StrengthOfConnection<T>
    + IndependentSets<T>
    + Aggregation<T>
    + Interpolation<T>
    + SparseProducts<T>
    + Transposes<T>
    + Diagonals<T>
    + BlockMatrices<T>
    + NearNullSpaces<T>
    + Inverses<T>
    + LanczosSteps<T>
    + CrsFormat<T>
{
}

impl<T: Real, B> Algebra<T> for B where
    B: StrengthOfConnection<T>
        + IndependentSets<T>
        + Aggregation<T>
        + Interpolation<T>
        + SparseProducts<T>
        + Transposes<T>
        + Diagonals<T>
        + BlockMatrices<T>
        + NearNullSpaces<T>
        + Inverses<T>
        + LanczosSteps<T>
        + CrsFormat<T>
{
}
