//! [`Vectors`] of columns: one after the other.

use cuda_std::Real;

use super::{ColumnScalars, ColumnVector, Columns};
use crate::backend::{Coef, Slot, Vectors};
use crate::error::Result;

impl<T: Real, B: Vectors<T>> Vectors<T> for Columns<B> {
    fn copy(&self, x: &Self::Vector, y: &mut Self::Vector) -> Result<()> {
        self.each(|(c, g)| g.copy(x.column(c), &mut y.columns_mut()[c]))
    }
    fn fill(&self, value: T, x: &mut Self::Vector) -> Result<()> {
        self.each(|(c, g)| g.fill(value, &mut x.columns_mut()[c]))
    }
    fn scale(&self, s: &Self::Scalars, a: Coef, x: &mut Self::Vector) -> Result<()> {
        self.each(|(c, g)| g.scale(&s.0[c], a, &mut x.columns_mut()[c]))
    }
    fn axpby(
        &self,
        s: &Self::Scalars,
        a: Coef,
        x: &Self::Vector,
        b: Coef,
        y: &mut Self::Vector,
    ) -> Result<()> {
        self.each(|(c, g)| g.axpby(&s.0[c], a, x.column(c), b, &mut y.columns_mut()[c]))
    }
    fn axpbypcz(
        &self,
        s: &ColumnScalars<B::Scalars>,
        a: Coef,
        x: &ColumnVector<B::Vector>,
        b: Coef,
        y: &ColumnVector<B::Vector>,
        c: Coef,
        z: &mut ColumnVector<B::Vector>,
    ) -> Result<()> {
        self.each(|(k, g)| g.axpbypcz(&s.0[k], a, x.column(k), b, y.column(k), c, &mut z.columns_mut()[k]))
    }
    fn direction(
        &self,
        s: &Self::Scalars,
        d: Option<&Self::Vector>,
        z: &Self::Vector,
        beta: Coef,
        p: &mut Self::Vector,
    ) -> Result<()> {
        let d = |c: usize| d.map(|d| d.column(c));
        self.each(|(c, g)| g.direction(&s.0[c], d(c), z.column(c), beta, &mut p.columns_mut()[c]))
    }
    fn scale_rows(&self, a: T, d: &Self::Vector, x: &Self::Vector, y: &mut Self::Vector) -> Result<()> {
        self.each(|(c, g)| g.scale_rows(a, d.column(c), x.column(c), &mut y.columns_mut()[c]))
    }
    fn dot(&self, x: &Self::Vector, y: &Self::Vector, s: &Self::Scalars, out: Slot) -> Result<()> {
        self.each(|(c, g)| g.dot(x.column(c), y.column(c), &s.0[c], out))
    }
    fn sum(&self, x: &Self::Vector, s: &Self::Scalars, out: Slot) -> Result<()> {
        self.each(|(c, g)| g.sum(x.column(c), &s.0[c], out))
    }
    fn norm_max(&self, x: &Self::Vector, s: &Self::Scalars, out: Slot) -> Result<()> {
        self.each(|(c, g)| g.norm_max(x.column(c), &s.0[c], out))
    }
    fn angle_step(&self, s: &Self::Scalars, dots: Slot, square: Slot, out: Slot) -> Result<()> {
        self.each(|(c, g)| g.angle_step(&s.0[c], dots, square, out))
    }
}
