//! The best x of an iteration whose own residual rounding may have parted from b - A x.

use cuda_std::Real;

use crate::backend::{Backend, Progress, Slot, Then, status};
use crate::error::Result;
use crate::precond::Preconditioner;

/// `(r, r)` with `r = b - A x`.
const SQUARE: Slot = Slot(0);
/// The largest elements of a vector and of its product with A, from which follows how large A is.
const OF_ANY: [Slot; 2] = [Slot(1), Slot(2)];
/// The same of `M r` and `A M r`.
const OF_R: [Slot; 2] = [Slot(3), Slot(4)];
/// The largest element of x.
const OF_X: Slot = Slot(5);
const SLOTS: usize = 6;

/// The true residual beside the one that is updated, at most: more is no rounding.
const FAR: f64 = 1.1;
/// The power of a unit of rounding that, of `||A|| ||x||`, says nothing of a residual any more: more than the
/// unit, which iterations have enlarged.
const HIDING: f64 = 0.75;
/// What a norm that goes down is of the one before.
const LOWER: f64 = 0.999;
/// The same of a gradient.
const GAINED: f64 = 0.9;
/// Units of rounding of a gradient that is 0 but for these.
const ROUNDING: f64 = 16.0;

/// How an iteration goes on.
pub(super) enum Verdict {
    GoOn,
    /// From x, to which rounding has done no harm, and its true residual.
    Again,
    /// x becomes no better, or the iteration has stopped.
    End,
}

/// What is known of the residual r of an x.
#[derive(Clone, Copy)]
struct Found {
    /// `||r||`.
    norm: f64,
    /// `||A M r|| / ||M r||` in the norm of largest elements, whose squares neither vanish nor overflow.
    product: f64,
}

/// An x, and what is known of its residual.
pub(super) struct Kept<T: Real, B: Backend<T>> {
    x: B::Vector,
    scalars: B::Scalars,
    found: Found,
    /// `||A||` at least.
    largest: f64,
    /// Of the x that the solve began with.
    begun: Found,
    /// Of the x from which the iteration has begun, or begun again.
    from: Found,
}

impl<T: Real, B: Backend<T>> Kept<T, B> {
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        let (x, scalars) = (backend.zeros(n)?, backend.scalars(SLOTS)?);
        let nothing = Found { norm: 0.0, product: 0.0 };
        Ok(Kept { x, scalars, found: nothing, largest: 0.0, begun: nothing, from: nothing })
    }

    /// `||b - A x||`.
    pub fn norm(&self) -> f64 {
        self.found.norm
    }

    /// `||A M r|| / (||A|| ||M r||)`: 0 where no x leaves a smaller r in the norm of M.
    pub fn gradient(&self) -> f64 {
        self.gradient_of(self.found)
    }

    fn gradient_of(&self, found: Found) -> f64 {
        if found.product == 0.0 { 0.0 } else { found.product / self.largest }
    }

    /// Begins with x, of which r, `M r` and `A M r` are given.
    pub fn begin(
        &mut self,
        backend: &B,
        x: &B::Vector,
        (r, mr, amr): (&B::Vector, &B::Vector, &B::Vector),
    ) -> Result<()> {
        backend.copy(x, &mut self.x)?;
        backend.dot(r, r, &self.scalars, SQUARE)?;
        self.compare(backend, (mr, amr), OF_R)?;
        self.compare(backend, (mr, amr), OF_ANY)?;
        self.largest = 0.0;
        self.found = self.read(backend)?.0;
        (self.begun, self.from) = (self.found, self.found);
        Ok(())
    }

    /// Looks at x where the iteration has come so far. `z` and `az` are a vector and its product with A.
    pub fn look(
        &mut self,
        backend: &B,
        (a, m, b): (&B::Matrix, &mut dyn Preconditioner<T, B>, &B::Vector),
        x: &mut B::Vector,
        (z, az): (&mut B::Vector, &mut B::Vector),
        progress: Progress,
    ) -> Result<Verdict> {
        if progress.running() {
            self.compare(backend, (z, az), OF_ANY)?;
        }
        backend.multiply(a, x, Then::Residual { b, r: az })?;
        backend.dot(az, az, &self.scalars, SQUARE)?;
        // NaN is far.
        let is_near = |norm: f64| norm <= FAR * progress.norm;
        if progress.status == status::CONVERGED {
            let norm = backend.read(&self.scalars, SQUARE)?.to_f64().sqrt();
            if is_near(norm) {
                self.found.norm = norm;
                return Ok(Verdict::End);
            }
        }
        m.apply(backend, az, z)?;
        backend.multiply(a, z, Then::Store { y: az })?;
        self.compare(backend, (z, az), OF_R)?;
        backend.norm_max(x, &self.scalars, OF_X)?;
        let (found, largest_x) = self.read(backend)?;
        let is_hidden = T::EPSILON.to_f64().powf(HIDING) * self.largest * largest_x > self.begun.norm;
        let is_near = is_near(found.norm);
        let is_better = !is_hidden && self.is_better(found, is_near);
        if is_better {
            backend.copy(x, &mut self.x)?;
            self.found = found;
        } else {
            backend.copy(&self.x, x)?;
        }
        if is_better && is_near {
            let is_rounding = self.gradient() <= ROUNDING * T::EPSILON.to_f64();
            return Ok(if is_rounding { Verdict::End } else { Verdict::GoOn });
        }
        let from = std::mem::replace(&mut self.from, self.found);
        let has_gained = self.found.norm < LOWER * from.norm || self.found.product < GAINED * from.product;
        Ok(if has_gained { Verdict::Again } else { Verdict::End })
    }

    /// Whether x, of which that was found, is better than what was kept. Near the residual that is updated it
    /// is, but where the residual is as small as any, and goes no further down. Where rounding has taken over
    /// it must be clearly so.
    fn is_better(&self, found: Found, is_near: bool) -> bool {
        /// What a gradient may be where the residual is as small as any.
        const SMALL: f64 = 1e-6;
        const CLEAR: f64 = 0.1;
        if !is_near {
            return found.norm < CLEAR * self.found.norm;
        }
        let is_at_end = self.gradient() <= SMALL && self.gradient_of(found) > self.gradient();
        !is_at_end || found.norm <= LOWER * self.found.norm
    }

    /// The largest elements of a vector and of its product with A.
    fn compare(&self, backend: &B, (v, av): (&B::Vector, &B::Vector), out: [Slot; 2]) -> Result<()> {
        backend.norm_max(v, &self.scalars, out[0])?;
        backend.norm_max(av, &self.scalars, out[1])
    }

    /// What was computed last, with the largest element of x.
    fn read(&mut self, backend: &B) -> Result<(Found, f64)> {
        let all: Vec<f64> = backend.read_all(&self.scalars)?.into_iter().map(Real::to_f64).collect();
        let ratio = |[v, av]: [Slot; 2]| all[av.0] / all[v.0];
        self.largest = self.largest.max(ratio(OF_ANY)).max(ratio(OF_R));
        Ok((Found { norm: all[SQUARE.0].sqrt(), product: ratio(OF_R) }, all[OF_X.0]))
    }
}
