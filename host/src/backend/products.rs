//! Products with a sparse matrix: one operation, [`Products::multiply`], and what is done with its result,
//! [`Then`].

use std::sync::Arc;

use cuda_std::Real;

use super::memory::{Length, Memory, check_diagonal, check_lengths};
use super::monitoring::Monitoring;
use super::operator::Operator;
use super::scalars::Slot;
use crate::error::Result;
use crate::matrix::AnyMatrix;

/// What becomes of the rows of `A x`. All of it is done in the pass over A.
///
/// `D` is that of [`Vectors`](super::Vectors): a diagonal, or, with a matrix of such blocks, blocks on a
/// diagonal. Where an operation takes a diagonal alone it says so.
pub enum Then<'a, T: Real, B: Monitoring<T>> {
    /// `y = A x`.
    Store {
        /// Receives the product.
        y: &'a mut B::Vector,
    },
    /// `y = y + A x`: a multigrid prolongation with its correction.
    Add {
        /// Is added to.
        y: &'a mut B::Vector,
    },
    /// `y = A x`, `z = omega D y`: a multigrid restriction with the next level's first sweep from zero.
    Scaled {
        /// The weight.
        omega: T,
        /// D.
        d: &'a B::Vector,
        /// Receives the product.
        y: &'a mut B::Vector,
        /// Receives the scaled product.
        z: &'a mut B::Vector,
    },
    /// `r = b - A x`.
    Residual {
        /// The right-hand side.
        b: &'a B::Vector,
        /// Receives the residual.
        r: &'a mut B::Vector,
    },
    /// `y = x + omega D (b - A x)`: one weighted Jacobi sweep with `D = diag(A)^-1`. A is square.
    Sweep {
        /// The weight.
        omega: T,
        /// D.
        d: &'a B::Vector,
        /// The right-hand side.
        b: &'a B::Vector,
        /// Receives the new iterate.
        y: &'a mut B::Vector,
    },
    /// `y = y + omega d .* (b - A x)`, d a diagonal: a sweep from y with A x in place of the product of y.
    SweepAdd {
        /// The weight.
        omega: T,
        /// The diagonal.
        d: &'a B::Vector,
        /// The right-hand side.
        b: &'a B::Vector,
        /// The iterate.
        y: &'a mut B::Vector,
    },
    /// [`Then::Sweep`], d a diagonal, that also observes `||b - A x||_2`; `s[out]` receives its square.
    SweepNorm {
        /// The weight.
        omega: T,
        /// The diagonal.
        d: &'a B::Vector,
        /// The right-hand side.
        b: &'a B::Vector,
        /// Receives the new iterate.
        y: &'a mut B::Vector,
        /// Holds the slot.
        s: &'a B::Scalars,
        /// Receives the square.
        out: Slot,
        /// Observes the norm.
        monitor: &'a B::Monitor,
    },
    /// `y = A x`, `s[out] = (w, y)`, `s[out + 1] = (y, y)`.
    Dot {
        /// The other factor.
        w: &'a B::Vector,
        /// Receives the product.
        y: &'a mut B::Vector,
        /// Holds the slots.
        s: &'a B::Scalars,
        /// Receives the dot products.
        out: Slot,
    },
}

impl<T: Real, B: Monitoring<T>> Then<'_, T, B> {
    /// [`Error::Length`](crate::Error::Length) where a vector or slot does not fit a matrix of this size, and
    /// x.
    pub(crate) fn check(&self, (n_rows, n_cols): (usize, usize), x: &B::Vector) -> Result<()> {
        let fits = |vectors: &[(&'static str, &B::Vector)]| {
            let lengths: Vec<_> = vectors.iter().map(|(name, vector)| (*name, vector.length())).collect();
            check_lengths("a product", n_rows, &lengths)
        };
        let diagonal = |d: &B::Vector| check_lengths("a product", n_rows, &[("d", d.length())]);
        let slots =
            |s: &B::Scalars, out: Slot, count: usize| check_slots("a product", s.length(), out, count);
        check_lengths("a product", n_cols, &[("x", x.length())])?;
        match self {
            Then::Store { y } | Then::Add { y } => fits(&[("y", y)]),
            Then::Scaled { d, y, z, .. } => {
                check_diagonal("a product", n_rows, d.length())?;
                fits(&[("y", y), ("z", z)])
            }
            Then::Residual { b, r } => fits(&[("b", b), ("r", r)]),
            Then::Sweep { d, b, y, .. } => {
                check_diagonal("a product", n_rows, d.length())?;
                fits(&[("x", x), ("b", b), ("y", y)])
            }
            Then::SweepAdd { d, b, y, .. } => diagonal(d).and_then(|()| fits(&[("b", b), ("y", y)])),
            Then::SweepNorm { d, b, y, s, out, .. } => {
                slots(s, *out, 1)?;
                diagonal(d).and_then(|()| fits(&[("x", x), ("b", b), ("y", y)]))
            }
            Then::Dot { w, y, s, out } => slots(s, *out, 2).and_then(|()| fits(&[("w", w), ("y", y)])),
        }
    }
}

/// [`Error::Length`](crate::Error::Length) unless the `count` slots from `first` on are among this many
/// scalars.
pub(crate) fn check_slots(operation: &'static str, scalars: usize, first: Slot, count: usize) -> Result<()> {
    let end = first.0.saturating_add(count);
    if end <= scalars {
        return Ok(());
    }
    Err(crate::Error::Length { operation, vector: "the scalars", found: scalars, expected: end })
}

/// A column of a product with several: what its backend, under its guard, does with `A x`.
pub struct Column<'a, T: Real, B: Monitoring<T>> {
    /// The backend.
    pub backend: &'a B,
    /// The column.
    pub x: &'a B::Vector,
    /// What becomes of the product.
    pub then: Then<'a, T, B>,
}

/// Products with sparse matrices.
pub trait Products<T: Real>: Monitoring<T> {
    /// A sparse matrix, ready to be multiplied.
    type Matrix: Operator + Send + Sync;

    /// The matrix, where this backend computes.
    #[track_caller]
    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<Self::Matrix>;
    /// `A x`, and what is done with it.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) where vectors or slots do not fit; nothing is changed then.
    #[track_caller]
    fn multiply(&self, a: &Self::Matrix, x: &<Self as Memory<T>>::Vector, then: Then<T, Self>) -> Result<()>;
    /// [`Products::multiply`] for each column, all of them with the same kind of [`Then`]. A backend reads
    /// the matrix once for several where it can.
    ///
    /// # Errors
    /// As of [`Products::multiply`].
    fn multiply_columns(a: &Self::Matrix, columns: Vec<Column<T, Self>>) -> Result<()> {
        columns.into_iter().try_for_each(|Column { backend, x, then }| backend.multiply(a, x, then))
    }
}
