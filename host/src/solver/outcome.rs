//! When a method stops, and what came of it.

use std::fmt;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Converged when `||b - A x||_2 <= max(rtol ||b||_2, atol)`.
    pub rtol: f64,
    /// The absolute part of that.
    pub atol: f64,
    /// Most iterations. With [`Stop::BY_RATE`] whoever chooses the method lets it go on for as long as its
    /// rate promises an end.
    pub max_iterations: u32,
}

impl Stop {
    /// Iterations that nobody has limited: so many at most, and no more than 6,000 where the last thousand
    /// promise no end within these.
    pub const BY_RATE: u32 = 20_000;

    /// The norm of a residual at which a solver has converged, where `||b||_2` is `norm_b`.
    pub fn threshold(&self, norm_b: f64) -> f64 {
        (self.rtol * norm_b).max(self.atol)
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop { rtol: 1e-8, atol: 0.0, max_iterations: Stop::BY_RATE }
    }
}

/// Why a solver stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum StopReason {
    /// The residual norm is small enough.
    Converged,
    /// The iteration limit is reached.
    IterationLimit,
    /// A scalar that the method divides by vanished; the text says which.
    Breakdown(&'static str),
    /// A residual norm is NaN or infinite.
    NotFinite,
    /// f64 does not hold the solution; the text says in which way, and what to do.
    OutOfRange(&'static str),
    /// The method's own residual norm is small enough, but that of its solution, recomputed, is not, and to
    /// start again from there did not help.
    Inaccurate {
        /// The method's own residual norm.
        claimed: f64,
        /// The true one.
        found: f64,
    },
    /// It was cancelled.
    Interrupted,
    /// The right-hand side is outside of the range of the matrix, which is singular in f64.
    NoSolution {
        /// `||b - A x||_2` is at least this, whatever x is; but for an x as large as rounding of A makes it,
        /// where it was found from factors.
        least: f64,
    },
    /// MINRES has found the x with the smallest residual in the norm of its preconditioner M, and that is not
    /// small: b is outside of the range of the matrix, which is singular.
    LeastSquares {
        /// `||A M r||` beside `||A|| ||M r||`: 0 where x is that x, but for rounding.
        gradient: f64,
    },
    /// The residual is what rounding of x leaves: f64 has no clearly better solution to offer.
    AtRounding,
    /// The residual went down no further.
    Stagnated,
    /// The residual of a stationary iteration grew: its spectral radius is above 1.
    Diverged,
    /// CG met `(p, A p) <= 0`: A is not positive definite; it may be singular.
    IndefiniteOperator,
    /// CG met `(r, M r) <= 0`: the preconditioner is not positive definite.
    IndefinitePreconditioner,
}

impl StopReason {
    /// The name in reports, without the breakdown's details.
    pub fn name(self) -> &'static str {
        match self {
            StopReason::Converged => "converged",
            StopReason::IterationLimit => "iteration_limit",
            StopReason::Breakdown(_) => "breakdown",
            StopReason::NotFinite => "not_finite",
            StopReason::OutOfRange(_) => "out_of_range",
            StopReason::Inaccurate { .. } => "inaccurate",
            StopReason::Interrupted => "interrupted",
            StopReason::NoSolution { .. } => "no_solution",
            StopReason::LeastSquares { .. } => "least_squares",
            StopReason::AtRounding => "at_rounding",
            StopReason::Stagnated => "stagnated",
            StopReason::Diverged => "diverged",
            StopReason::IndefiniteOperator => "indefinite_operator",
            StopReason::IndefinitePreconditioner => "indefinite_preconditioner",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            StopReason::Converged => "converged",
            StopReason::IterationLimit => "iteration limit reached",
            StopReason::Breakdown(which) => return write!(f, "breakdown: {which}"),
            StopReason::OutOfRange(how) => how,
            StopReason::NotFinite => "the residual became NaN or infinite",
            StopReason::Inaccurate { .. } => {
                "the method's own residual meets the tolerance, but b - A x, recomputed, does not, and to start \
                 again from there does not help"
            }
            StopReason::Interrupted => "interrupted",
            StopReason::NoSolution { least } => {
                return write!(
                    f,
                    "there is no solution: the matrix is singular in f64 and the right-hand side is outside of its \
                     range, so that every x of ordinary size leaves a residual norm of at least {least:.2e}"
                );
            }
            StopReason::LeastSquares { gradient } => {
                return write!(
                    f,
                    "x is the solution of least squares, or the condition of A is above {:.1e}: for the residual r and \
                     the preconditioner M, A M r is {gradient:.1e} of ||A|| ||M r||; where that is 0, no x leaves a \
                     smaller r in the norm of M",
                    1.0 / gradient
                );
            }
            StopReason::AtRounding => {
                "the residual is what rounding of x leaves: f64 has no clearly better solution to offer"
            }
            StopReason::Stagnated => "the residual went down too slowly, or no further",
            StopReason::Diverged => "the iteration diverges: its residual grew",
            StopReason::IndefiniteOperator => {
                "the matrix is not positive definite, but indefinite or singular (p, A p <= 0)"
            }
            StopReason::IndefinitePreconditioner => {
                "the preconditioner is not positive definite (r, M r <= 0)"
            }
        })
    }
}

/// What a solver did. The solution is in the vector it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Why it stopped.
    pub reason: StopReason,
    /// Iterations done.
    pub iterations: u32,
    /// `||r_k||_2` for k = 0, 1, ... as the method knows it; the true residual may differ by rounding.
    pub history: Vec<f64>,
    /// What the norms were compared with.
    pub threshold: f64,
}
