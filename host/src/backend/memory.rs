//! Memory: vectors and scalars that stay where they are computed on.

use cuda_std::Real;

use crate::error::{Error, Result};
use crate::pages::in_large_pages;

/// How many elements a vector, or an array of scalars, has.
pub trait Length {
    /// The number of elements.
    fn length(&self) -> usize;
}

impl<T> Length for Vec<T> {
    fn length(&self) -> usize {
        self.len()
    }
}

/// Vectors and scalars of numbers of type T, on the host or on a device.
///
/// Of all primitives only these and [`matrix`](super::Products::matrix) and
/// [`monitor`](super::Monitoring::monitor) allocate.
pub trait Memory<T: Real>: Sized {
    /// A vector.
    type Vector: Length + Send + Sync;
    /// An array of scalars.
    type Scalars: Length + Send;

    /// A vector of `n` zeros.
    #[track_caller]
    fn zeros(&self, n: usize) -> Result<Self::Vector>;
    /// A copy of `values`.
    #[track_caller]
    fn vector(&self, values: &[T]) -> Result<Self::Vector>;
    /// `count` vectors of `n` zeros, side by side: a basis.
    #[track_caller]
    fn vectors(&self, n: usize, count: usize) -> Result<Vec<Self::Vector>>;
    /// Fills `values` with the elements of `x`; waits for them.
    ///
    /// # Errors
    /// [`Error::Length`] where there are more or fewer of these.
    #[track_caller]
    fn copy_to_host(&self, x: &Self::Vector, values: &mut [T]) -> Result<()>;
    /// The elements of `x`; waits for them.
    #[track_caller]
    fn to_host(&self, x: &Self::Vector) -> Result<Vec<T>> {
        let mut values = in_large_pages(vec![T::ZERO; x.length()]);
        self.copy_to_host(x, &mut values)?;
        Ok(values)
    }
    /// `n` scalars, all 0.
    #[track_caller]
    fn scalars(&self, n: usize) -> Result<Self::Scalars>;
    /// The values of all scalars, in one copy; waits for them.
    #[track_caller]
    fn read_all(&self, scalars: &Self::Scalars) -> Result<Vec<T>>;
    /// The value of one scalar; waits for it.
    #[track_caller]
    fn read(&self, scalars: &Self::Scalars, slot: super::Slot) -> Result<T>;
    /// Sets the scalars from `first` on, after everything queued before.
    #[track_caller]
    fn write(&self, scalars: &Self::Scalars, first: super::Slot, values: &[T]) -> Result<()>;
    /// Waits until everything queued is done.
    #[track_caller]
    fn synchronize(&self) -> Result<()>;
}

/// [`Error::Length`] unless every vector of `operation` has `expected` elements.
pub(crate) fn check_lengths(
    operation: &'static str,
    expected: usize,
    vectors: &[(&'static str, usize)],
) -> Result<()> {
    match vectors.iter().find(|(_, found)| *found != expected) {
        None => Ok(()),
        Some(&(vector, found)) => Err(Error::Length { operation, vector, found, expected }),
    }
}

/// [`Error::Length`] unless `d` is a diagonal of n rows, or n rows of blocks of 2 x 2 or 3 x 3; otherwise
/// returns the size of its blocks.
pub(crate) fn check_diagonal(operation: &'static str, n: usize, d: usize) -> Result<usize> {
    match d.checked_div(n).unwrap_or(1) {
        block @ 1..=3 if d == block * n && n.is_multiple_of(block) => Ok(block),
        _ => Err(Error::Length { operation, vector: "d", found: d, expected: n }),
    }
}
