//! [`Vectors`] of parts: updates are those of the parts, reductions are added up over ranks.

use cuda_std::Real;

use super::peers::OverRanks;
use super::{Borders, Distributed};
use crate::backend::{Coef, Slot, Vectors};
use crate::error::Result;

impl<T: Real, B: Borders<T>> Vectors<T> for Distributed<B> {
    fn copy(&self, x: &B::Vector, y: &mut B::Vector) -> Result<()> {
        self.inner.copy(x, y)
    }
    fn fill(&self, value: T, x: &mut B::Vector) -> Result<()> {
        self.inner.fill(value, x)
    }
    fn scale(&self, s: &B::Scalars, a: Coef, x: &mut B::Vector) -> Result<()> {
        self.inner.scale(s, a, x)
    }
    fn axpby(&self, s: &B::Scalars, a: Coef, x: &B::Vector, b: Coef, y: &mut B::Vector) -> Result<()> {
        self.inner.axpby(s, a, x, b, y)
    }
    fn axpbypcz(
        &self,
        s: &B::Scalars,
        a: Coef,
        x: &B::Vector,
        b: Coef,
        y: &B::Vector,
        c: Coef,
        z: &mut B::Vector,
    ) -> Result<()> {
        self.inner.axpbypcz(s, a, x, b, y, c, z)
    }
    fn direction(
        &self,
        s: &B::Scalars,
        d: Option<&B::Vector>,
        z: &B::Vector,
        beta: Coef,
        p: &mut B::Vector,
    ) -> Result<()> {
        self.inner.direction(s, d, z, beta, p)
    }
    fn scale_rows(&self, a: T, d: &B::Vector, x: &B::Vector, y: &mut B::Vector) -> Result<()> {
        self.inner.scale_rows(a, d, x, y)
    }

    fn dot(&self, x: &B::Vector, y: &B::Vector, s: &B::Scalars, out: Slot) -> Result<()> {
        self.inner.dot(x, y, s, out)?;
        self.sum_over_ranks(s, out, 1)
    }
    fn sum(&self, x: &B::Vector, s: &B::Scalars, out: Slot) -> Result<()> {
        self.inner.sum(x, s, out)?;
        self.sum_over_ranks(s, out, 1)
    }
    fn norm_max(&self, x: &B::Vector, s: &B::Scalars, out: Slot) -> Result<()> {
        self.inner.norm_max(x, s, out)?;
        self.reduce(s, OverRanks { first: out, count: 1, total: None, is_max: true })
    }
    fn angle_step(&self, s: &B::Scalars, dots: Slot, square: Slot, out: Slot) -> Result<()> {
        self.inner.angle_step(s, dots, square, out)
    }
}
