//! The cycles: from a right-hand side to a correction, level by level.

use crate::backend::Then;
use cuda_std::Real;

use super::params::Cycle;
use super::smoother::Sweeps;
use crate::backend::{Backend, Coef, Slot};
use crate::error::Result;

/// How a level takes over the correction `x_c` of the next coarser one.
pub enum Correction<M> {
    /// `x += P x_c`.
    Interpolated(M),
    /// The same and the first sweep after it, with weight w, in one: `x += w d .* (r - Q x_c)`, where r is the residual from
    /// before and `Q = A P - (w D)^-1 P`.
    Swept(M),
}

/// A level's matrix and its connection to the next coarser one.
pub struct Grid<S: Real, B: Backend<S>> {
    /// The matrix.
    pub a: B::Matrix,
    /// The way back from the next coarser level.
    pub correction: Correction<B::Matrix>,
    /// Restriction to it.
    pub r: B::Matrix,
    /// The smoother.
    pub smoother: Sweeps<S, B>,
}

/// How the last level is solved.
pub enum Coarsest<S: Real, B: Backend<S>> {
    /// With its inverse: one product.
    Inverse(B::Matrix),
    /// With sweeps: it is too large for an inverse.
    Sweeps(B::Matrix, Sweeps<S, B>),
}

/// Steps of the smoother on a last level that has no inverse.
pub const COARSE_STEPS: u32 = 8;

/// The vectors of a level.
pub struct Vectors<V> {
    /// Right-hand side.
    pub b: V,
    /// Correction.
    pub x: V,
    /// Residual, and the other half of a sweep.
    r: V,
}

impl<V> Vectors<V> {
    /// How many they are.
    pub const COUNT: usize = 3;

    /// For `n` unknowns.
    pub fn new<S: Real, B: Backend<S, Vector = V>>(backend: &B, n: usize) -> Result<Self> {
        Ok(Vectors { b: backend.zeros(n)?, x: backend.zeros(n)?, r: backend.zeros(n)? })
    }
}

/// What flexible CG on a coarse level needs, for K-cycles.
pub struct Inner<S: Real, B: Backend<S>> {
    c: B::Vector,
    v: B::Vector,
    w: B::Vector,
    scalars: B::Scalars,
}

impl<S: Real, B: Backend<S>> Inner<S, B> {
    /// For `n` unknowns.
    pub fn new(backend: &B, n: usize) -> Result<Self> {
        let zeros = || backend.zeros(n);
        Ok(Inner { c: zeros()?, v: zeros()?, w: zeros()?, scalars: backend.scalars(8)? })
    }
}

/// All levels, ready to be cycled over.
pub struct Grids<S: Real, B: Backend<S>> {
    /// All levels but the last.
    pub grids: Vec<Grid<S, B>>,
    /// The last level.
    pub coarsest: Coarsest<S, B>,
    /// The vectors of every level.
    pub vectors: Vec<Vectors<B::Vector>>,
    /// Of every level but the finest and the last, with K-cycles; else none.
    pub inner: Vec<Inner<S, B>>,
    /// Order of visits.
    pub cycle: Cycle,
    /// Smoothing steps before the coarser level is visited.
    pub pre: u32,
    /// Smoothing steps afterwards.
    pub post: u32,
}

impl<S: Real, B: Backend<S>> Grids<S, B> {
    /// The sweep that a cycle begins with, where there is one, and the vectors of the finest level for it.
    #[allow(clippy::type_complexity)]
    pub fn first_sweep_and_vectors(&mut self) -> (Option<(S, &B::Vector)>, &mut Vectors<B::Vector>) {
        (first_sweep(&self.grids, &self.coarsest, self.pre, 0), &mut self.vectors[0])
    }

    /// `x = M b` with the `b` and `x` of the finest level; the first sweep has been done.
    pub fn cycle(&mut self, backend: &B) -> Result<()> {
        self.visit(backend, 0, self.cycle, true)
    }

    /// One cycle on level `l`: `x` becomes a better solution of `A x = b`. With `zero` it was 0, and the first sweep,
    /// `x = w d .* b`, has been done if there is one.
    fn visit(&mut self, g: &B, l: usize, cycle: Cycle, zero: bool) -> Result<()> {
        let Some(grid) = self.grids.get(l) else { return self.solve_coarsest(g, zero) };
        let (fine, coarse) = self.vectors.split_at_mut(l + 1);
        let (fine, coarse) = (&mut fine[l], &mut coarse[0]);
        let Vectors { b, x, r } = fine;
        let done = zero as usize;
        grid.smoother.smooth(g, &grid.a, b, x, r, grid.smoother.weights(self.pre).skip(done))?;

        // b_c = R (b - A x), and the coarser level's first sweep with it
        let no_iterate = zero && self.pre == 0;
        if !no_iterate {
            g.multiply(&grid.a, x, Then::Residual { b, r })?;
        }
        let residual = if no_iterate { &*b } else { &*r };
        match first_sweep(&self.grids, &self.coarsest, self.pre, l + 1) {
            Some((omega, d)) => {
                let (y, z) = (&mut coarse.b, &mut coarse.x);
                g.multiply(&grid.r, residual, Then::Scaled { omega, d, y, z })?;
            }
            None => g.multiply(&grid.r, residual, Then::Store { y: &mut coarse.b })?,
        }
        let last = l + 1 == self.grids.len();
        match cycle {
            Cycle::K if !last => self.two_flexible_steps(g, l + 1)?,
            Cycle::W if !last => {
                self.visit(g, l + 1, Cycle::W, true)?;
                self.visit(g, l + 1, Cycle::W, false)?;
            }
            Cycle::F if !last => {
                self.visit(g, l + 1, Cycle::F, true)?;
                self.visit(g, l + 1, Cycle::V, false)?;
            }
            _ => self.visit(g, l + 1, cycle, true)?,
        }

        // x += P x_c, and the sweeps with their weights in reverse: M stays symmetric.
        let grid = &self.grids[l];
        let (fine, coarse) = self.vectors.split_at_mut(l + 1);
        let (Vectors { b, x, r }, coarse) = (&mut fine[l], &coarse[0]);
        let weights: Vec<S> = grid.smoother.weights(self.post).collect();
        let mut done = 0;
        match &grid.correction {
            Correction::Interpolated(p) if no_iterate => g.multiply(p, &coarse.x, Then::Store { y: x })?,
            Correction::Interpolated(p) => g.multiply(p, &coarse.x, Then::Add { y: x })?,
            Correction::Swept(q) => {
                if no_iterate {
                    g.fill(S::ZERO, x)?;
                }
                let residual = if no_iterate { &*b } else { &*r };
                let (weight, d) = grid.smoother.last();
                let sweep = Then::SweepAdd { omega: weight, d, b: residual, y: x };
                g.multiply(q, &coarse.x, sweep)?;
                done = 1;
            }
        }
        grid.smoother.smooth(g, &grid.a, b, x, r, weights.into_iter().rev().skip(done))
    }

    fn solve_coarsest(&mut self, g: &B, zero: bool) -> Result<()> {
        let Some(Vectors { b, x, r }) = self.vectors.last_mut() else { return Ok(()) };
        match &self.coarsest {
            Coarsest::Inverse(inverse) => g.multiply(inverse, b, Then::Store { y: x }),
            Coarsest::Sweeps(a, smoother) => {
                smoother.smooth(g, a, b, x, r, smoother.weights(COARSE_STEPS).skip(zero as usize))
            }
        }
    }

    /// Two steps of flexible CG on level `l` from zero, preconditioned by the cycle (Notay and Vassilevski 2008,
    /// algorithm 3.2, without its test for an early end). The cycle's first sweep has been done.
    fn two_flexible_steps(&mut self, g: &B, l: usize) -> Result<()> {
        const ALPHA: Slot = Slot(0);
        const RHO: Slot = Slot(1);
        const GAMMA: Slot = Slot(3);
        const ALPHA_2: Slot = Slot(4);
        const RHO_2: Slot = Slot(5);
        // c = M b,  v = A c,  b -= alpha / rho v  with alpha = (c, b), rho = (c, v)
        self.visit(g, l, Cycle::K, true)?;
        let (a, Vectors { b, x, .. }) = (&self.grids[l].a, &mut self.vectors[l]);
        let Inner { c, v, scalars: s, .. } = &mut self.inner[l - 1];
        g.copy(x, c)?;
        g.multiply(a, c, Then::Dot { w: c, y: v, s, out: RHO })?;
        g.dot(c, b, s, ALPHA)?;
        g.axpby(s, Coef::ratio(ALPHA, RHO).negated(), v, Coef::ONE, b)?;
        // x = M b, made A-orthogonal to c
        if let Some((weight, d)) = first_sweep(&self.grids, &self.coarsest, self.pre, l) {
            g.scale_rows(weight, d, b, x)?;
        }
        self.visit(g, l, Cycle::K, true)?;
        let (a, Vectors { b, x, .. }) = (&self.grids[l].a, &mut self.vectors[l]);
        let Inner { c, v, w, scalars: s } = &mut self.inner[l - 1];
        g.dot(x, v, s, GAMMA)?;
        g.axpby(s, Coef::ratio(GAMMA, RHO).negated(), c, Coef::ONE, x)?;
        g.multiply(a, x, Then::Dot { w: x, y: w, s, out: RHO_2 })?;
        g.dot(x, b, s, ALPHA_2)?;
        // The correction: alpha / rho c + alpha_2 / rho_2 x
        g.axpby(s, Coef::ratio(ALPHA, RHO), c, Coef::ratio(ALPHA_2, RHO_2), x)
    }
}

/// The sweep that a visit of level `l` from zero begins with: its weight and its diagonal.
#[allow(clippy::type_complexity)]
fn first_sweep<'a, S: Real, B: Backend<S>>(
    grids: &'a [Grid<S, B>],
    coarsest: &'a Coarsest<S, B>,
    pre: u32,
    l: usize,
) -> Option<(S, &'a B::Vector)> {
    match (grids.get(l), coarsest) {
        (Some(grid), _) => (pre > 0).then(|| grid.smoother.first()),
        (None, Coarsest::Inverse(_)) => None,
        (None, Coarsest::Sweeps(_, smoother)) => Some(smoother.first()),
    }
}
