//! What the solvers are written in: vectors, matrices and scalars that stay where they are computed on, and
//! some thirty primitives over them.
//!
//! | backend | runs | for |
//! |---|---|---|
//! | [`reference::Reference`] | plain sequential loops | the oracle of the tests |
//! | [`cpu::Cpu`] | rayon threads | machines without a GPU |
//! | [`gpu::Gpu`] | the kernels of `gpu-kernels`, on a driver or in the simulator | speed |
//!
//! Scalars (dot products, coefficients, the Hessenberg matrix) live beside the vectors: a primitive that
//! needs `alpha = rho / (p, A p)` is told the two [`Slot`]s, not the number, so that a GPU never waits for
//! the host. The decision to stop is taken there too, by a monitor; see [`Backend::guarded`].

use std::sync::Arc;

use cuda_std::Real;

use crate::error::Result;
use crate::matrix::AnyMatrix;

pub mod algebra;
pub mod cells;
pub mod cpu;
pub mod gpu;
mod host;
pub(crate) mod host_algebra;
pub mod reference;

pub use algebra::Algebra;
pub use cells::Cells;
pub use gpu_kernels::monitor::status;

/// The index of one scalar among a backend's [`Backend::Scalars`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub usize);

/// The coefficient `scale * product of (num / den)` of a vector update, with scalars that stay in place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coef {
    /// The constant factor.
    pub scale: f64,
    /// Numerators.
    pub num: [Option<Slot>; 2],
    /// Denominators.
    pub den: [Option<Slot>; 2],
}

impl Coef {
    /// The constant 0: a vector with this coefficient is not read.
    pub const ZERO: Coef = Coef::constant(0.0);
    /// The constant 1.
    pub const ONE: Coef = Coef::constant(1.0);

    /// A number known on the host.
    pub const fn constant(scale: f64) -> Self {
        Coef { scale, num: [None; 2], den: [None; 2] }
    }

    /// The scalar in a slot.
    pub const fn slot(slot: Slot) -> Self {
        Coef { scale: 1.0, num: [Some(slot), None], den: [None; 2] }
    }

    /// `num / den`.
    pub const fn ratio(num: Slot, den: Slot) -> Self {
        Coef { scale: 1.0, num: [Some(num), None], den: [Some(den), None] }
    }

    /// `1 / den`.
    pub const fn inverse(den: Slot) -> Self {
        Coef { scale: 1.0, num: [None; 2], den: [Some(den), None] }
    }

    /// This coefficient times a second ratio.
    pub const fn times(self, num: Slot, den: Slot) -> Self {
        Coef { scale: self.scale, num: [self.num[0], Some(num)], den: [self.den[0], Some(den)] }
    }

    /// The same with the other sign.
    pub const fn negated(self) -> Self {
        Coef { scale: -self.scale, num: self.num, den: self.den }
    }
}

/// How far an iteration has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// One of [`status`].
    pub status: u32,
    /// Residual norms observed, the initial one included.
    pub observed: u32,
    /// The newest of them; NaN before the first.
    pub norm: f64,
}

impl Progress {
    /// Whether the iteration goes on.
    pub fn running(self) -> bool {
        self.status == status::RUNNING
    }
}

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
        Self::HEAD + 5 * (self.restart + 1) + self.leading() * self.restart
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
        self.restart + 1
    }
}

/// What an iteration of CG does after its product with A works on: [`Backend::cg_step`]'s arguments, and p, which becomes
/// the next direction.
pub struct CgStep<'a, T: Real, B: Backend<T>> {
    /// Holds the slots.
    pub s: &'a B::Scalars,
    /// `(r, M r)` of the old r.
    pub rho: Slot,
    /// `(p, A p)`.
    pub p_ap: Slot,
    /// The direction.
    pub p: &'a mut B::Vector,
    /// A times it.
    pub ap: &'a B::Vector,
    /// The iterate.
    pub x: &'a mut B::Vector,
    /// The residual.
    pub r: &'a mut B::Vector,
    /// Receives `(r, M r)` of the new r, and in the slot behind `(r, r)`.
    pub out: Slot,
    /// To work with.
    pub scratch: Slot,
    /// Told `||r||`.
    pub monitor: &'a B::Monitor,
}

/// The primitives. All vectors of a call have the length that the equation needs.
///
/// `d` stands for a matrix D that is cheap to multiply by: with as many elements as rows it is diagonal, `d .* x`; with b
/// times as many it has blocks of b x b on its diagonal, row after row (element `b i + l` is the l-th of row i in its
/// block), in [`Backend::scale_rows`], [`Backend::spmv_scaled`] and [`Backend::sweep`] with a matrix of such blocks.
///
/// Work is queued and carried out in order; [`Backend::to_host`], [`Backend::read`] and [`Backend::wait`]
/// wait for it. Nothing but `zeros`, `vector`, `vectors`, `scalars`, `matrix` and `monitor` allocates.
#[allow(clippy::too_many_arguments)]
pub trait Backend<T: Real>: Sized {
    /// A vector.
    type Vector;
    /// A sparse matrix in any format.
    type Matrix;
    /// An array of scalars.
    type Scalars;
    /// The state of one iteration.
    type Monitor;
    /// Work to be queued again and again.
    type Recording;

    /// A vector of `n` zeros.
    fn zeros(&self, n: usize) -> Result<Self::Vector>;
    /// A copy of `values`.
    fn vector(&self, values: &[T]) -> Result<Self::Vector>;
    /// `count` vectors of `n` zeros, side by side, as [`Backend::gram_schmidt`] wants them.
    fn vectors(&self, n: usize, count: usize) -> Result<Vec<Self::Vector>>;
    /// The elements of `x`.
    fn to_host(&self, x: &Self::Vector) -> Result<Vec<T>>;
    /// `n` scalars, all 0.
    fn scalars(&self, n: usize) -> Result<Self::Scalars>;
    /// The value of one scalar; waits for it.
    fn read(&self, scalars: &Self::Scalars, slot: Slot) -> Result<T>;
    /// The values of all of them, in one copy; waits for them.
    fn read_all(&self, scalars: &Self::Scalars) -> Result<Vec<T>>;
    /// The matrix, where this backend computes.
    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<Self::Matrix>;
    /// Where products with `a` move fewer bytes than in CRS, so that other matrices of its level, which do not, may be
    /// better left out: the entries in CRS that are as many bytes.
    fn worth_in_crs(&self, _a: &Self::Matrix) -> Option<usize> {
        None
    }
    /// Waits until everything queued is done.
    fn synchronize(&self) -> Result<()>;

    /// A monitor which stops at `norm <= threshold` or after `limit` iterations.
    fn monitor(&self, limit: u32, threshold: f64) -> Result<Self::Monitor>;
    /// This backend under the guard of `monitor`: once that has stopped, no primitive changes anything.
    ///
    /// So the host may queue iterations ahead; neither the iterate nor the count depends on when it learns
    /// of the stop.
    fn guarded(&self, monitor: &Self::Monitor) -> Self;
    /// Waits until `observed` norms are known or the iteration has stopped.
    fn wait(&self, monitor: &Self::Monitor, observed: u32) -> Result<Progress>;
    /// The norms observed so far.
    fn history(&self, monitor: &Self::Monitor) -> Result<Vec<f64>>;
    /// Records the primitives of `work` instead of queueing them, so that [`Backend::replay`] queues all of them
    /// at once.
    ///
    /// `None` where there is no recording: on the host, and where `work` asked for a primitive that allocates or
    /// waits, which fails in it. Then nothing of `work` is carried out.
    fn record(&self, work: &mut dyn FnMut(&Self) -> Result<()>) -> Result<Option<Self::Recording>>;
    /// Queues the primitives of a recording of this backend.
    ///
    /// # Safety
    /// A recording holds addresses: every vector, matrix, array of scalars and monitor that its primitives were
    /// given is still there.
    unsafe fn replay(&self, recording: &Self::Recording) -> Result<()>;
    /// Enters `sqrt(scalars[square])` as the next residual norm.
    fn observe(&self, scalars: &Self::Scalars, square: Slot, monitor: &Self::Monitor) -> Result<()>;

    /// `y = x`.
    fn copy(&self, x: &Self::Vector, y: &mut Self::Vector) -> Result<()>;
    /// `x = value`.
    fn fill(&self, value: T, x: &mut Self::Vector) -> Result<()>;
    /// `x = a x`.
    fn scale(&self, s: &Self::Scalars, a: Coef, x: &mut Self::Vector) -> Result<()>;
    /// `y = a x + b y`.
    fn axpby(
        &self,
        s: &Self::Scalars,
        a: Coef,
        x: &Self::Vector,
        b: Coef,
        y: &mut Self::Vector,
    ) -> Result<()>;
    /// `z = a x + b y + c z`.
    fn axpbypcz(
        &self,
        s: &Self::Scalars,
        a: Coef,
        x: &Self::Vector,
        b: Coef,
        y: &Self::Vector,
        c: Coef,
        z: &mut Self::Vector,
    ) -> Result<()>;
    /// `y = a d .* x`; with `d = 1 / diag(A)` the Jacobi iteration's first step from zero.
    fn scale_rows(&self, a: T, d: &Self::Vector, x: &Self::Vector, y: &mut Self::Vector) -> Result<()>;

    /// `s[out] = (x, y)`.
    fn dot(&self, x: &Self::Vector, y: &Self::Vector, s: &Self::Scalars, out: Slot) -> Result<()>;
    /// `s[out] = sum_i x_i`.
    fn sum(&self, x: &Self::Vector, s: &Self::Scalars, out: Slot) -> Result<()>;
    /// `s[out] = max_i |x_i|`; NaN if any element is.
    fn norm_max(&self, x: &Self::Vector, s: &Self::Scalars, out: Slot) -> Result<()>;

    /// `y = A x`.
    fn spmv(&self, a: &Self::Matrix, x: &Self::Vector, y: &mut Self::Vector) -> Result<()>;
    /// `y = y + A x`: a multigrid prolongation with its correction.
    fn spmv_add(&self, a: &Self::Matrix, x: &Self::Vector, y: &mut Self::Vector) -> Result<()>;
    /// `y = A x`, `z = omega d .* y`: a multigrid restriction with the next level's first Jacobi sweep from zero.
    fn spmv_scaled(
        &self,
        a: &Self::Matrix,
        x: &Self::Vector,
        omega: T,
        d: &Self::Vector,
        y: &mut Self::Vector,
        z: &mut Self::Vector,
    ) -> Result<()>;
    /// `r = b - A x`.
    fn residual(
        &self,
        a: &Self::Matrix,
        x: &Self::Vector,
        b: &Self::Vector,
        r: &mut Self::Vector,
    ) -> Result<()>;
    /// `y = x + omega d .* (b - A x)`, one weighted Jacobi sweep with `d = 1 / diag(A)`.
    fn sweep(
        &self,
        a: &Self::Matrix,
        omega: T,
        d: &Self::Vector,
        b: &Self::Vector,
        x: &Self::Vector,
        y: &mut Self::Vector,
    ) -> Result<()>;
    /// `y = y + omega d .* (b - A x)`, d a diagonal: a sweep from y with A x in place of the product of y.
    fn sweep_add(
        &self,
        a: &Self::Matrix,
        omega: T,
        d: &Self::Vector,
        b: &Self::Vector,
        x: &Self::Vector,
        y: &mut Self::Vector,
    ) -> Result<()>;
    /// A [`Backend::sweep`] that also observes `||b - A x||_2`; `s[out]` receives its square.
    fn sweep_norm(
        &self,
        a: &Self::Matrix,
        omega: T,
        d: &Self::Vector,
        b: &Self::Vector,
        x: &Self::Vector,
        y: &mut Self::Vector,
        s: &Self::Scalars,
        out: Slot,
        monitor: &Self::Monitor,
    ) -> Result<()>;
    /// `y = A x`, `s[out] = (w, y)`, `s[out + 1] = (y, y)`.
    fn spmv_dot(
        &self,
        a: &Self::Matrix,
        x: &Self::Vector,
        w: &Self::Vector,
        y: &mut Self::Vector,
        s: &Self::Scalars,
        out: Slot,
    ) -> Result<()>;

    /// The middle of a CG iteration: `alpha = s[rho] / s[p_ap]`, `x += alpha p`, `r -= alpha A p`,
    /// `s[out] = (r, d .* r)`, `s[out + 1] = (r, r)`, and `||r||` is observed. `d = None` means 1.
    ///
    /// Where `s[rho]` or `s[p_ap]` is not positive, nothing changes and the monitor stops.
    fn cg_step(
        &self,
        s: &Self::Scalars,
        rho: Slot,
        p_ap: Slot,
        p: &Self::Vector,
        ap: &Self::Vector,
        d: Option<&Self::Vector>,
        x: &mut Self::Vector,
        r: &mut Self::Vector,
        out: Slot,
        monitor: &Self::Monitor,
    ) -> Result<()>;
    /// `p = d .* z + beta p`. `d = None` means 1.
    fn direction(
        &self,
        s: &Self::Scalars,
        d: Option<&Self::Vector>,
        z: &Self::Vector,
        beta: Coef,
        p: &mut Self::Vector,
    ) -> Result<()>;

    /// Makes `w` orthogonal to `basis` by classical Gram-Schmidt done twice: `h = V^T w`, `w -= V h`, twice;
    /// `s[h + j]` is the sum of both passes' products, `s[NORM2] = (w, w)` afterwards.
    fn gram_schmidt(
        &self,
        basis: &[Self::Vector],
        w: &mut Self::Vector,
        s: &Self::Scalars,
        slots: GmresSlots,
        h: Slot,
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
