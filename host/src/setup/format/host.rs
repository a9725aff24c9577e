//! [`Formats`] on the host.

use std::sync::Arc;

use cuda_std::Real;

use super::{CrsFormat, Formats};
use crate::backend::Products;
use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::rounding::{Pivot, Rounding};
use crate::matrix::{AnyMatrix, BlockCsr, Csr, Target, choose};
use crate::setup::matrix::Blocks;

macro_rules! formats_of_the_host {
    ($($backend:ty),*) => {$(
        impl<T: Real> CrsFormat<T> for $backend {
            fn in_crs(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<<$backend as Products<T>>::Matrix> {
                Ok(match a.block() {
                    1 => AnyMatrix::Crs(a.first().clone()).into(),
                    _ => AnyMatrix::BlockCrs(BlockCsr::from_planes(a.planes())).into(),
                })
            }
        }

        impl<T: Real, S: Real> Formats<T, S> for $backend {
            fn operator(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<<$backend as Products<S>>::Matrix> {
                let choice = choose(&**a.first(), Target::Cpu).for_blocks(a.block());
                let matrix = match a.block() {
                    1 => self.rounded(a.first()),
                    _ => {
                        let blocks = AnyMatrix::BlockCrs(BlockCsr::from_planes(a.planes()));
                        Products::<S>::matrix(self, &Arc::new(blocks))?
                    }
                };
                Ok(self.chosen(matrix, choice.reason))
            }

            fn with_reason(
                &self,
                matrix: <$backend as Products<S>>::Matrix,
                reason: String,
            ) -> <$backend as Products<S>>::Matrix {
                self.chosen(matrix, reason)
            }

            fn smoothing_operator(
                &self,
                a: &Blocks<Arc<Csr<T>>>,
                pivot: Pivot,
            ) -> Result<<$backend as Products<S>>::Matrix> {
                let scalar_in_f32 = a.block() == 1 && S::NAME == f32::NAME;
                let rounding = if scalar_in_f32 { Rounding::of(a.first(), pivot) } else { None };
                let Some(rounding) = rounding else { return self.operator(a) };
                Ok(self.chosen(self.compressed(&rounding, pivot), choose(&**a.first(), Target::Cpu).reason))
            }
        }
    )*};
}

formats_of_the_host!(Cpu, Reference);
