//! Why an iteration stopped; 0 while it runs. Kernels store these words, the host reads them.

/// Still running.
pub const RUNNING: u32 = 0;
/// The residual norm is at or under the threshold.
pub const CONVERGED: u32 = 1;
/// The iteration limit is reached.
pub const LIMIT: u32 = 2;
/// A residual norm is NaN or infinite.
pub const NOT_FINITE: u32 = 3;
/// CG met a direction with `(p, A p) <= 0`.
pub const INDEFINITE_OPERATOR: u32 = 4;
/// CG met a residual with `(r, M r) <= 0`.
pub const INDEFINITE_PRECONDITIONER: u32 = 5;
/// A coefficient's denominator vanished.
pub const BREAKDOWN: u32 = 6;
