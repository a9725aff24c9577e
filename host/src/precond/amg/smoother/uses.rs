//! Which parameters a smoother uses.

use crate::precond::amg::params::Params;

/// The parameters that some smoothers use and others do not.
pub(in crate::precond::amg) struct Uses {
    /// The weight `omega`.
    pub omega: bool,
    /// The degree of a polynomial.
    pub degree: bool,
    /// The spectral radius of `D^-1 A`, with these parameters.
    pub spectral_radius: fn(&Params) -> bool,
}

impl Uses {
    pub(super) const NOTHING: Uses = Uses { omega: false, degree: false, spectral_radius: |_| false };
}
