//! [`Algebra`] on the host, on rayon's threads, one file a concept. Every row is computed by one thread in the order
//! that the trait gives, so that the result does not depend on their number.

use std::sync::Arc;

use arithmetic::smoothing::Limits;
use cuda_std::Real;

use super::algebra::{Algebra, Blocks, Mixed, RowWeight, Size, Strength, Truncation};
use super::{Coef, Memory, Products, Slot, Vectors, cpu::Cpu, reference::Reference};
use crate::error::Result;
use crate::matrix::rounding::{Pivot, Rounding};
use crate::matrix::{AnyMatrix, BlockCsr, Choice, Csr, Target, choose};
use crate::solver::cg::{CgStep, CgSteps};

mod aggregate;
mod blocks;
mod extended_i;
mod independent_set;
mod interpolate;
mod near_null;
mod product;
mod rows;
mod strength;
#[cfg(test)]
pub(super) mod tests;

pub(crate) use interpolate::greedy_splitting;
pub(crate) use near_null::tentative as near_null_tentative;

macro_rules! host_algebra {
    ($($backend:ty),*) => {$(
        impl<T: Real> Algebra<T> for $backend {
            type Csr = Arc<Csr<T>>;
            type Indices = Vec<u32>;

            fn csr(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
                Ok(a.clone())
            }
            fn csr_to_host(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
                Ok(a.clone())
            }
            fn indices_to_host(&self, indices: &Vec<u32>) -> Result<Vec<u32>> {
                Ok(indices.clone())
            }
            fn indices(&self, values: &[u32]) -> Result<Vec<u32>> {
                Ok(values.to_vec())
            }
            fn size(&self, a: &Arc<Csr<T>>) -> Size {
                Size { n_rows: a.n_rows(), n_cols: a.n_cols(), nnz: a.nnz() }
            }
            fn set_values(&self, a: &mut Arc<Csr<T>>, values: &Csr<T>) -> Result<()> {
                Arc::make_mut(a).values_mut().copy_from_slice(values.values());
                Ok(())
            }

            fn strength(&self, a: &Arc<Csr<T>>, strength: Strength) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(strength::strong_entries(a, strength)))
            }
            fn strength_values(&self, a: &Arc<Csr<T>>, lumped: bool, s: &mut Arc<Csr<T>>) -> Result<()> {
                strength::strong_values(a, lumped, Arc::make_mut(s));
                Ok(())
            }
            fn independent_set(
                &self,
                s: &Arc<Csr<T>>,
                st: Option<&Arc<Csr<T>>>,
                distance: u32,
                isolated: bool,
                outlying: Option<&Vec<T>>,
            ) -> Result<Vec<u32>> {
                Ok(independent_set::independent_set(s, st.map(|st| &**st), distance, isolated, outlying))
            }
            fn aggregate(&self, s: &Arc<Csr<T>>, roots: &Vec<u32>) -> Result<(Vec<u32>, usize)> {
                Ok(aggregate::aggregates(s, roots))
            }
            fn tentative(&self, aggregates: &Vec<u32>, n_aggregates: usize) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(aggregate::tentative(aggregates, n_aggregates)))
            }
            fn aggregated(
                &self,
                s: &Arc<Csr<T>>,
                aggregates: &Vec<u32>,
                n_aggregates: usize,
            ) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(product::aggregated(s, aggregates, n_aggregates, None)))
            }
            fn damped_and_aggregated(
                &self,
                s: Arc<Csr<T>>,
                damping: (T, Option<&Vec<T>>),
                aggregates: &Vec<u32>,
                n_aggregates: usize,
            ) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(product::aggregated(&s, aggregates, n_aggregates, Some(damping))))
            }
            fn damp(&self, s: &mut Arc<Csr<T>>, omega: T, outlying: Option<&Vec<T>>) -> Result<()> {
                interpolate::damp(Arc::make_mut(s), omega, outlying);
                Ok(())
            }
            fn subtract_scaled(
                &self,
                c: &mut Arc<Csr<T>>,
                p: &Arc<Csr<T>>,
                omega: T,
                d: &Vec<T>,
            ) -> Result<()> {
                interpolate::subtract_scaled(Arc::make_mut(c), p, omega, d);
                Ok(())
            }
            fn averaging(&self, s: &Arc<Csr<T>>, coarse: &Vec<u32>) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(interpolate::averaging(s, coarse)))
            }
            fn extended_i(
                &self,
                a: &Arc<Csr<T>>,
                s: &Arc<Csr<T>>,
                coarse: &Vec<u32>,
                truncation: Truncation,
            ) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(extended_i::extended_i(a, s, coarse, truncation)))
            }

            fn product(&self, a: &Arc<Csr<T>>, b: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(product::multiply(a, b)))
            }
            fn product_values(&self, a: &Arc<Csr<T>>, b: &Arc<Csr<T>>, c: &mut Arc<Csr<T>>) -> Result<()> {
                product::values(a, b, Arc::make_mut(c), false);
                Ok(())
            }
            fn add_product(&self, a: &Arc<Csr<T>>, b: &Arc<Csr<T>>, c: &mut Arc<Csr<T>>) -> Result<()> {
                product::values(a, b, Arc::make_mut(c), true);
                Ok(())
            }
            fn scale_values(&self, a: &mut Arc<Csr<T>>, factor: T) -> Result<()> {
                product::scale(Arc::make_mut(a), factor);
                Ok(())
            }
            fn zeros_like(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(a.with_values(vec![T::ZERO; a.nnz()])))
            }
            fn transpose(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(a.transpose()))
            }
            fn transpose_values(&self, a: &Arc<Csr<T>>, at: &mut Arc<Csr<T>>) -> Result<()> {
                product::transpose_values(a, Arc::make_mut(at));
                Ok(())
            }

            fn row_weights(&self, a: &Arc<Csr<T>>, weight: RowWeight) -> Result<Vec<T>> {
                Ok(strength::row_weights(a, weight))
            }
            fn limit(
                &self,
                a: &Arc<Csr<T>>,
                g: &Vec<T>,
                d: &Vec<T>,
                limits: Limits<T>,
            ) -> Result<(Vec<T>, Vec<T>, usize)> {
                Ok(strength::limit(a, g, d, limits))
            }
            fn noise(&self, d: &Vec<T>, n: usize) -> Result<Vec<T>> {
                Ok(strength::noise(d, n))
            }
            fn blocks(&self, a: &BlockCsr<T>) -> Result<Blocks<Arc<Csr<T>>>> {
                let b = a.block();
                Ok(Blocks::of_planes((0..b * b).map(|kl| Arc::new(a.plane(kl / b, kl % b))).collect()))
            }
            fn norms(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<Arc<Csr<T>>> {
                Ok(Arc::new(blocks::norms(a)))
            }
            fn invert_diagonal(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<Vec<T>> {
                Ok(match a.block() {
                    1 => strength::row_weights(a.first(), RowWeight::InverseDiagonal),
                    2 => blocks::invert_diagonal::<T, 2>(a),
                    _ => blocks::invert_diagonal::<T, 3>(a),
                })
            }
            fn damp_blocks(&self, s: &mut Blocks<Arc<Csr<T>>>, d: &Vec<T>, omega: T) -> Result<()> {
                match s.block() {
                    2 => blocks::damp::<T, 2>(s, d, omega),
                    _ => blocks::damp::<T, 3>(s, d, omega),
                }
                Ok(())
            }
            fn in_crs(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<<$backend as Products<T>>::Matrix> {
                Ok(product::in_crs(a).into())
            }
        }

        impl<T: Real, S: Real> Mixed<T, S> for $backend {
            fn operator(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<(<$backend as Products<S>>::Matrix, Choice)> {
                let choice = choose(&**a.first(), Target::Cpu).of_blocks(a.block());
                let matrix = match a.block() {
                    1 => self.rounded(a.first()),
                    _ => Products::<S>::matrix(self, &Arc::new(AnyMatrix::BlockCrs(BlockCsr::from_planes(a.planes()))))?,
                };
                Ok((matrix, choice))
            }
            fn smoothing_operator(
                &self,
                a: &Blocks<Arc<Csr<T>>>,
                pivot: Pivot,
            ) -> Result<(<$backend as Products<S>>::Matrix, Choice, bool)> {
                let scalar_in_f32 = a.block() == 1 && S::NAME == f32::NAME;
                let rounding = if scalar_in_f32 { Rounding::of(a.first(), pivot) } else { None };
                let Some(rounding) = rounding else {
                    let (matrix, choice) = Mixed::<T, S>::operator(self, a)?;
                    return Ok((matrix, choice, false));
                };
                Ok((self.packed(&rounding, pivot), choose(&**a.first(), Target::Cpu), false))
            }
            fn cast_scaled(&self, x: &Vec<T>, omega: S, d: &Vec<S>, y: &mut Vec<S>, z: &mut Vec<S>) -> Result<()> {
                self.cast(x, y)?;
                self.scale_rows(omega, d, y, z)
            }
            fn cg_step_and_cast(
                &self,
                step: &mut CgStep<T, $backend>,
                scale: Option<(S, &Vec<S>)>,
                y: &mut Vec<S>,
                z: &mut Vec<S>,
            ) -> Result<()> {
                self.cg_step(step, None)?;
                let r = &*step.r;
                match scale {
                    Some((omega, d)) => self.cast_scaled(r, omega, d, y, z),
                    None => self.cast(r, y),
                }
            }
            fn cast_dot(
                &self,
                r: &Vec<S>,
                z: &Vec<T>,
                s: &<$backend as Memory<S>>::Scalars,
                out: Slot,
            ) -> Result<()> {
                if !self.guard.stopped() {
                    s.set(out, self.dot_of(r, z));
                }
                Ok(())
            }
            fn cast_direction(
                &self,
                s: &<$backend as Memory<S>>::Scalars,
                z: &Vec<T>,
                beta: Coef,
                p: &mut Vec<S>,
            ) -> Result<()> {
                if let Some([beta]) = self.guard.values(s, [beta])? {
                    self.direction_of(z, beta, p);
                }
                Ok(())
            }
            fn cast(&self, x: &Vec<T>, y: &mut Vec<S>) -> Result<()> {
                if !self.guard.stopped() {
                    product::cast(x, y);
                }
                Ok(())
            }
        }
    )*};
}

host_algebra!(Cpu, Reference);
