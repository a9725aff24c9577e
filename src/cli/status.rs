//! Exit statuses.

use warpsolve::Error;
use warpsolve::solver::StopReason;

/// Everything went well; for `solve`, the solver converged.
pub const SUCCESS: u8 = 0;
/// Something failed, which was said on stderr.
pub const FAILURE: u8 = 1;
/// The solver stopped without converging; for `example`, the result is wrong.
pub const UNCONVERGED: u8 = 2;
/// Ended by a signal, with everything written: what shells say of a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// That of a solve that ended for this reason, after which these things failed.
pub fn of_solve(reason: StopReason, failures: &[Error]) -> u8 {
    match reason {
        _ if !failures.is_empty() => FAILURE,
        StopReason::Converged => SUCCESS,
        StopReason::Interrupted => INTERRUPTED,
        _ => UNCONVERGED,
    }
}
