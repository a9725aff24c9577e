//! Limits of GMRES.

/// Largest number of basis vectors of one cycle.
pub const MAX_RESTART: usize = 1024;

/// A column of the Hessenberg matrix of which the rotations leave no more than so many units of rounding
/// has nothing left but rounding: A M is singular on the space.
pub const SINGULAR: f64 = 32.0;
