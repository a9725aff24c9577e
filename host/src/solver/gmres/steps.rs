//! The steps of GMRES: its small dense problem, and passes over the basis.

use cuda_std::Real;

use crate::backend::memory::check_lengths;
use crate::backend::{Backend, Length, Slot, check_slots};
use crate::error::Result;

/// Vectors of a basis that are one array: those from `32 k` to `32 k + 31`. A launch handles so many.
pub const SIDE_BY_SIDE: usize = 32;

/// Where GMRES keeps its small dense problem among the scalars.
///
/// `restart` is the longest cycle; column `j` of the Hessenberg matrix (later of `R`) is at [`Self::column`].
#[derive(Debug, Clone, Copy)]
pub struct GmresSlots {
    /// The longest cycle.
    pub restart: usize,
}

impl GmresSlots {
    /// Square of the norm of the newest vector.
    pub const NORM2: Slot = Slot(0);
    /// Norm of the cycle's first residual.
    pub const BETA: Slot = Slot(1);
    /// Norm of the newest basis vector before it is normalised.
    pub const LENGTH: Slot = Slot(2);
    /// Columns done in this cycle.
    pub const COLUMNS: Slot = Slot(3);
    const HEAD: usize = 4;

    /// Scalars needed.
    pub fn count(self) -> usize {
        let columns = self.leading().saturating_mul(self.restart.saturating_add(5));
        columns.saturating_add(Self::HEAD)
    }
    /// Cosines of the rotations.
    pub fn cosines(self) -> Slot {
        Slot(Self::HEAD)
    }
    /// Sines of the rotations.
    pub fn sines(self) -> Slot {
        Slot(Self::HEAD + self.leading())
    }
    /// Right-hand side of the least-squares problem.
    pub fn g(self) -> Slot {
        Slot(Self::HEAD + 2 * self.leading())
    }
    /// Its solution, with the sign turned.
    pub fn y(self) -> Slot {
        Slot(Self::HEAD + 3 * self.leading())
    }
    /// The newest dot products.
    pub fn dots(self) -> Slot {
        Slot(Self::HEAD + 4 * self.leading())
    }
    /// Column `j`.
    pub fn column(self, j: usize) -> Slot {
        Slot(Self::HEAD + 5 * self.leading() + j * self.leading())
    }
    /// Distance between columns.
    pub fn leading(self) -> usize {
        self.restart.saturating_add(1)
    }
}

/// A backend with the steps of GMRES. Scalars have at least [`GmresSlots::count`] elements.
pub trait GmresSteps<T: Real>: Backend<T> {
    /// Makes `w` orthogonal to `basis` by classical Gram-Schmidt done twice: `h = V^T w`, `w -= V h`, twice;
    /// `s[h + j]` is the sum of both passes' products, `s[NORM2] = (w, w)` afterwards.
    ///
    /// The basis comes from [`Memory::vectors`](crate::backend::Memory::vectors), in one piece or in pieces
    /// of [`SIDE_BY_SIDE`].
    fn gram_schmidt(
        &self,
        basis: &[Self::Vector],
        w: &mut Self::Vector,
        s: &Self::Scalars,
        slots: GmresSlots,
        h: Slot,
    ) -> Result<()>;
    /// `s[out + j] = (v_j, w)` for a basis of the kind above.
    fn basis_products(
        &self,
        basis: &[Self::Vector],
        w: &Self::Vector,
        s: &Self::Scalars,
        out: Slot,
    ) -> Result<()>;
    /// `w -= sum_j s[c + j] v_j`.
    fn subtract_combination(
        &self,
        basis: &[Self::Vector],
        s: &Self::Scalars,
        c: Slot,
        w: &mut Self::Vector,
    ) -> Result<()>;
    /// `s[BETA] = sqrt(s[NORM2])`, `g = BETA e_1`, no columns.
    fn gmres_start(&self, s: &Self::Scalars, slots: GmresSlots) -> Result<()>;
    /// Takes Hessenberg column `j` into the QR factorisation; `s[LENGTH] = sqrt(s[NORM2])`; observes
    /// `|g_{j+1}|`.
    fn gmres_rotate(
        &self,
        s: &Self::Scalars,
        slots: GmresSlots,
        j: usize,
        monitor: &Self::Monitor,
    ) -> Result<()>;
    /// `u = V y` with `R y = g`, for the columns done. Not subject to the guard.
    fn gmres_solution(
        &self,
        s: &Self::Scalars,
        slots: GmresSlots,
        basis: &[Self::Vector],
        u: &mut Self::Vector,
    ) -> Result<()>;
}

/// [`Error::Length`](crate::Error::Length) unless the scalars hold the slots, and column `j` is one of them.
pub(super) fn check_scalars(s: &impl Length, slots: GmresSlots, j: usize) -> Result<()> {
    check_slots("GMRES", s.length(), Slot(0), slots.count())?;
    check_lengths("GMRES", slots.restart, &[("a column", slots.restart.max(j + 1))])
}

/// [`Error::Length`](crate::Error::Length) unless all vectors are as long as `w`, and at most `restart + 1`.
pub(super) fn check_basis<V: Length>(basis: &[V], w: &V, slots: GmresSlots) -> Result<()> {
    check_lengths("GMRES", slots.restart + 1, &[("the basis", basis.len().max(slots.restart + 1))])?;
    check_basis_lengths(basis, w)
}

/// [`Error::Length`](crate::Error::Length) unless all vectors are as long as `w`.
pub(super) fn check_basis_lengths<V: Length>(basis: &[V], w: &V) -> Result<()> {
    basis
        .iter()
        .try_for_each(|v| check_lengths("GMRES", w.length(), &[("a vector of the basis", v.length())]))
}
