//! The cycles: from a right-hand side to a correction, level by level.

use cuda_std::Real;

use super::coarsest::{self, Coarsest, Solve};
use super::flexible::FlexibleCg;
use super::level::{Correction, Level, Vectors};
use super::params::Cycle;
use super::smoother::Smoother;
use crate::backend::{Backend, Coef, Slot, Then};
use crate::error::Result;

/// All levels, ready to be cycled over.
pub struct Multigrid<S: Real, B: Backend<S>> {
    /// All levels except for the coarsest, from the finest on.
    pub levels: Vec<Level<S, B>>,
    /// The coarsest.
    pub coarsest: Coarsest<S, B>,
    /// Order of visits.
    pub cycle: Cycle,
    /// Smoothing steps before the coarser level is visited.
    pub pre: u32,
    /// Smoothing steps afterwards.
    pub post: u32,
}

/// The weight and the diagonal of the sweep that a visit from zero begins with, where there is one.
pub type FirstSweep<'a, S, V> = Option<(S, &'a V)>;

impl<S: Real, B: Backend<S>> Multigrid<S, B> {
    /// The sweep that a cycle begins with, and the vectors of the finest level for it.
    pub fn first_sweep_and_vectors(&mut self) -> (FirstSweep<'_, S, B::Vector>, &mut Vectors<B::Vector>) {
        entry(&mut self.levels, &mut self.coarsest, self.pre)
    }

    /// The correction of the finest level.
    pub fn correction(&self) -> &B::Vector {
        self.levels.first().map_or(&self.coarsest.vectors.x, |level| &level.vectors.x)
    }

    /// `x = M b` with the `b` and `x` of the finest level; the first sweep has been done.
    pub fn cycle(&mut self, backend: &B) -> Result<()> {
        self.visit(backend, 0, self.cycle, true)
    }

    /// One cycle on level `l`: `x` becomes a better solution of `A x = b`. With `zero` it was 0, and the
    /// first sweep, `x = w d .* b`, has been done if there is one.
    fn visit(&mut self, g: &B, l: usize, cycle: Cycle, zero: bool) -> Result<()> {
        let count = self.levels.len();
        let (above, below) = self.levels.split_at_mut((l + 1).min(count));
        let Some(Level { a, r: restriction, smoother, vectors, .. }) = above.get_mut(l) else {
            return self.coarsest.visit(g, cycle, zero);
        };
        smooth_down(g, &**smoother, &a.matrix, vectors, self.pre, zero)?;

        // b_c = R (b - A x), and the coarser level's first sweep with it
        let Vectors { b, x, r } = vectors;
        let no_iterate = zero && self.pre == 0;
        if !no_iterate {
            g.multiply(&a.matrix, x, Then::Residual { b, r })?;
        }
        let residual = if no_iterate { &*b } else { &*r };
        let (first_sweep, coarse) = entry(below, &mut self.coarsest, self.pre);
        let restriction = &restriction.matrix;
        match first_sweep {
            Some((weight, d)) => {
                let then = Then::Scaled { omega: weight, d, y: &mut coarse.b, z: &mut coarse.x };
                g.multiply(restriction, residual, then)?;
            }
            None => g.multiply(restriction, residual, Then::Store { y: &mut coarse.b })?,
        }
        self.visit_below(g, l + 1, cycle)?;
        self.correct(g, l, no_iterate)
    }

    /// What a cycle on the next finer level does on level `l`, from zero; the first sweep has been done.
    pub(super) fn visit_below(&mut self, g: &B, l: usize, cycle: Cycle) -> Result<()> {
        let last = l == self.levels.len();
        match cycle {
            Cycle::K if !last => self.two_flexible_steps(g, l),
            Cycle::W if !last => {
                self.visit(g, l, Cycle::W, true)?;
                self.visit(g, l, Cycle::W, false)
            }
            Cycle::F if !last => {
                self.visit(g, l, Cycle::F, true)?;
                self.visit(g, l, Cycle::V, false)
            }
            _ => self.visit(g, l, cycle, true),
        }
    }

    /// `x += P x_c` on level `l`, and the smoothing steps after it. Without an iterate `x` is 0, whatever it
    /// holds, and the residual is b.
    fn correct(&mut self, g: &B, l: usize, no_iterate: bool) -> Result<()> {
        let (above, below) = self.levels.split_at_mut(l + 1);
        let Level { a, correction, smoother, vectors, .. } = &mut above[l];
        let coarse = below.first().map_or(&self.coarsest.vectors.x, |level| &level.vectors.x);
        let Vectors { b, x, r } = &mut *vectors;
        match correction {
            Correction::Interpolated(p) if no_iterate => {
                g.multiply(&p.matrix, coarse, Then::Store { y: x })?
            }
            Correction::Interpolated(p) => g.multiply(&p.matrix, coarse, Then::Add { y: x })?,
            Correction::Swept(q) => {
                let Some(sweeps) = smoother.as_sweeps() else { unreachable!("a correction swept by sweeps") };
                if no_iterate {
                    g.fill(S::ZERO, x)?;
                }
                let residual = if no_iterate { &*b } else { &*r };
                let (weight, d) = sweeps.last();
                g.multiply(&q.matrix, coarse, Then::SweepAdd { omega: weight, d, b: residual, y: x })?;
                sweeps.post_but_first(g, &a.matrix, b, x, r)?;
            }
        }
        let done = u32::from(matches!(correction, Correction::Swept(_)));
        (done..self.post).try_for_each(|_| smoother.post(g, &a.matrix, b, x, r))
    }

    /// Two steps of flexible CG on level `l` from zero, preconditioned by the cycle (Notay and Vassilevski
    /// 2008, algorithm 3.2, without its test for an early end). The cycle's first sweep has been done.
    fn two_flexible_steps(&mut self, g: &B, l: usize) -> Result<()> {
        const ALPHA: Slot = Slot(0);
        const RHO: Slot = Slot(1);
        const GAMMA: Slot = Slot(3);
        const ALPHA_2: Slot = Slot(4);
        const RHO_2: Slot = Slot(5);
        // c = M b,  v = A c,  b -= alpha / rho v  with alpha = (c, b), rho = (c, v)
        self.visit(g, l, Cycle::K, true)?;
        let pre = self.pre;
        let Level { a, smoother, vectors: Vectors { b, x, .. }, flexible, .. } = &mut self.levels[l];
        let Some(FlexibleCg { c, v, scalars: s, .. }) = flexible else { return Ok(()) };
        g.copy(x, c)?;
        g.multiply(&a.matrix, c, Then::Dot { w: c, y: v, s, out: RHO })?;
        g.dot(c, b, s, ALPHA)?;
        g.axpby(s, Coef::ratio(ALPHA, RHO).negated(), v, Coef::ONE, b)?;
        // x = M b, made A-orthogonal to c
        if let Some((weight, d)) = first_sweep(&**smoother, pre) {
            g.scale_rows(weight, d, b, x)?;
        }
        self.visit(g, l, Cycle::K, true)?;
        let Level { a, vectors: Vectors { b, x, .. }, flexible, .. } = &mut self.levels[l];
        let Some(FlexibleCg { c, v, w, scalars: s }) = flexible else { return Ok(()) };
        g.dot(x, v, s, GAMMA)?;
        g.axpby(s, Coef::ratio(GAMMA, RHO).negated(), c, Coef::ONE, x)?;
        g.multiply(&a.matrix, x, Then::Dot { w: x, y: w, s, out: RHO_2 })?;
        g.dot(x, b, s, ALPHA_2)?;
        // The correction: alpha / rho c + alpha_2 / rho_2 x
        g.axpby(s, Coef::ratio(ALPHA, RHO), c, Coef::ratio(ALPHA_2, RHO_2), x)
    }
}

impl<S: Real, B: Backend<S>> Coarsest<S, B> {
    /// Solves `A x = b`, as [`Multigrid::visit`].
    fn visit(&mut self, g: &B, cycle: Cycle, zero: bool) -> Result<()> {
        match &mut self.solve {
            Solve::Inverse(inverse) => {
                let Vectors { b, x, .. } = &mut self.vectors;
                g.multiply(&inverse.matrix, b, Then::Store { y: x })
            }
            Solve::Smoothed(a, smoother) => {
                smooth_down(g, &**smoother, &a.matrix, &mut self.vectors, coarsest::STEPS, zero)
            }
            Solve::Below(below) => {
                let Vectors { b, x, .. } = &mut self.vectors;
                below.visit(g, cycle, b, x)
            }
        }
    }
}

/// This many steps of the smoother; with `zero` from 0, and the first sweep has been done if there is one.
fn smooth_down<S: Real, B: Backend<S>>(
    g: &B,
    smoother: &dyn Smoother<S, B>,
    a: &B::Matrix,
    Vectors { b, x, r }: &mut Vectors<B::Vector>,
    steps: u32,
    zero: bool,
) -> Result<()> {
    for step in 0..steps {
        match (zero && step == 0, smoother.as_sweeps()) {
            (true, Some(sweeps)) => sweeps.pre_but_first(g, a, b, x, r)?,
            (true, None) => smoother.smooth_from_zero(g, a, b, x, r)?,
            (false, _) => smoother.pre(g, a, b, x, r)?,
        }
    }
    Ok(())
}

/// The first sweep of a visit with this many steps.
fn first_sweep<S: Real, B: Backend<S>>(
    smoother: &dyn Smoother<S, B>,
    steps: u32,
) -> FirstSweep<'_, S, B::Vector> {
    smoother.as_sweeps().filter(|_| steps > 0).map(|sweeps| sweeps.first())
}

/// The first sweep of a visit of the first of `levels`, or else of the coarsest, and the vectors that it
/// works on.
#[allow(clippy::type_complexity)]
fn entry<'a, S: Real, B: Backend<S>>(
    levels: &'a mut [Level<S, B>],
    coarsest: &'a mut Coarsest<S, B>,
    pre: u32,
) -> (FirstSweep<'a, S, B::Vector>, &'a mut Vectors<B::Vector>) {
    match levels.first_mut() {
        Some(Level { smoother, vectors, .. }) => (first_sweep(&**smoother, pre), vectors),
        None => {
            let first = match &coarsest.solve {
                Solve::Inverse(_) | Solve::Below(_) => None,
                Solve::Smoothed(_, smoother) => first_sweep(&**smoother, coarsest::STEPS),
            };
            (first, &mut coarsest.vectors)
        }
    }
}
