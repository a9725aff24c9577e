//! The shortest way: a matrix, a right-hand side, a solution.

use std::sync::Mutex;

use crate::error::{Error, Result};
use crate::job::{Device, Solution, Solver};
use crate::matrix::IntoCsr;

/// Solves `A x = b` on the first GPU, or else on the CPU, with the defaults of the command line; see
/// [`Solver::solve`], and [`Solver::builder`] for everything else.
///
/// The device is opened at the first call and kept for later ones, until it fails.
///
/// # Errors
/// As [`Device::auto`], [`Builder::build`](crate::Builder::build) and [`Solver::solve`].
pub fn solve(a: impl IntoCsr, b: &[f64]) -> Result<Solution> {
    /// One call at a time uses it; another at the same time opens its own.
    static DEVICE: Mutex<Option<Device>> = Mutex::new(None);
    let mut kept = DEVICE.try_lock().ok();
    let device = match kept.as_deref() {
        Some(Some(device)) => device.clone(),
        _ => Device::auto()?,
    };
    if let Some(kept) = &mut kept {
        kept.get_or_insert_with(|| device.clone());
    }
    let solution = Solver::builder().device(device).solve(a, b);
    if let (Some(kept), Err(Error::Device { .. })) = (&mut kept, &solution) {
        **kept = None;
    }
    solution
}
