//! [`BlockMatrices`] on the CPU.

use std::sync::Arc;

use arithmetic::blocks::{damped, norm};
use cuda_std::Real;

use super::BlockMatrices;
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::matrix::Blocks;
use crate::setup::rows::for_each_row;

impl<T: Real> BlockMatrices<T> for Cpu {
    fn norms(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<Arc<Csr<T>>> {
        let first = a.first();
        let mut norms = Csr::clone(first);
        for_each_row(&mut norms, |i, columns, values| {
            for ((e, v), &j) in (first.row_ptr()[i]..).zip(values).zip(columns) {
                let norm = norm(a.planes().iter().map(|plane| plane.values()[e]));
                *v = if j as usize == i { norm } else { -norm };
            }
        });
        Ok(Arc::new(norms))
    }

    fn damp_blocks(&self, s: &mut Blocks<Arc<Csr<T>>>, d: &Vec<T>, omega: T) -> Result<()> {
        match s.block() {
            2 => damp::<T, 2>(s, d, omega),
            _ => damp::<T, 3>(s, d, omega),
        }
        Ok(())
    }
}

fn damp<T: Real, const B: usize>(s: &mut Blocks<Arc<Csr<T>>>, d: &[T], omega: T) {
    let old = s.clone();
    let pattern = old.first().clone();
    for (kl, plane) in s.planes_mut().iter_mut().enumerate() {
        for_each_row(Arc::make_mut(plane), |i, columns, values| {
            let d = std::array::from_fn(|k| std::array::from_fn(|l| d[(i * B + k) * B + l]));
            for ((e, v), &j) in (pattern.row_ptr()[i]..).zip(values).zip(columns) {
                *v = damped(d, old.entry::<B>(e), omega, j as usize == i)[kl / B][kl % B];
            }
        });
    }
}
