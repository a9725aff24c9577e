//! The diagonal that multigrid smooths and interpolates with.

use cuda_std::Real;

/// What an independent set has for unknowns that are no candidates.
pub const SINGLETON: u32 = 2;

/// What the kernel `damp` multiplies a row by, and its diagonal entry afterwards. `sliver` is not 0 in a
/// sliver row, and then takes the place of `omega / diagonal`.
#[inline(always)]
pub fn damping<T: Real>(omega: T, diagonal: T, sliver: T) -> (T, T) {
    if sliver == T::ZERO { (omega / diagonal, T::ONE - omega) } else { (sliver, T::ONE - sliver * diagonal) }
}

/// A row is a sliver row only where its d is below this share of a neighbour's,
const SMALL: f64 = 1.0 / 3.0;
/// and where its g is large, or that of a row to which an entry of this share of the diagonal entry connects
/// it.
const COUPLED: f64 = 0.25;

/// What a row is compared with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Limits<T> {
    /// Where g is larger than this, d is made smaller.
    pub bound: T,
    /// Where g is larger than this, it is large.
    pub large: T,
}

impl<T: Real> Limits<T> {
    /// `d`, or `d bound / g` where g is larger than the bound.
    #[inline(always)]
    pub fn bounded(self, d: T, g: T) -> T {
        if g > self.bound { d * (self.bound / g) } else { d }
    }

    /// Whether `g` is large.
    #[inline(always)]
    pub fn is_large(self, g: T) -> bool {
        g > self.large
    }

    /// Whether the entry `v` of a row with `1 / a_ii = d` couples it to another strongly.
    #[inline(always)]
    pub fn couples(self, d: T, v: T) -> bool {
        (v * d).abs() >= T::from_f64(COUPLED)
    }

    /// Whether d is small beside `most`, the largest among the row's neighbours.
    #[inline(always)]
    pub fn is_small(self, d: T, most: T) -> bool {
        d.abs() < T::from_f64(SMALL) * most
    }
}
