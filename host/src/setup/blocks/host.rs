//! [`BlockMatrices`] on the CPU.

use std::sync::Arc;

use arithmetic::blocks::{damped, is_regular, norm};
use cuda_std::Real;

use super::BlockMatrices;
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::block::{block_lengths, blocks_in};
use crate::matrix::{BlockCsr, Csr};
use crate::parallel::*;
use crate::setup::matrix::Blocks;
use crate::setup::rows::for_each_row;

impl<T: Real> BlockMatrices<T> for Cpu {
    fn count_blocks(&self, a: &Arc<Csr<T>>, block: usize) -> Result<usize> {
        Ok(blocks_in(&block_lengths(a, block)?) as usize)
    }

    fn merged(&self, a: &Arc<Csr<T>>, block: usize) -> Result<Blocks<Arc<Csr<T>>>> {
        let a = BlockCsr::from_csr(a, block)?;
        let plane = |kl: usize| Arc::new(a.plane(kl / block, kl % block));
        Ok(Blocks::from_planes((0..block * block).map(plane).collect()))
    }

    fn singular_blocks(&self, a: &Blocks<Arc<Csr<T>>>) -> Result<usize> {
        Ok(match a.block() {
            2 => singular_blocks::<T, 2>(a),
            _ => singular_blocks::<T, 3>(a),
        })
    }

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

fn singular_blocks<T: Real, const B: usize>(a: &Blocks<Arc<Csr<T>>>) -> usize {
    let pattern = a.first();
    let singular = |i: usize| match pattern.row(i).0.binary_search(&(i as u32)) {
        Ok(place) => usize::from(!is_regular(a.entry::<B>(pattern.row_ptr()[i] + place))),
        Err(_) => 1,
    };
    (0..pattern.n_rows()).into_par_iter().with_min_len(1024).map(singular).sum()
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
