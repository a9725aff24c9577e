//! [`NearNullSpaces`] on the CPU.

use std::sync::Arc;

use crate::parallel::*;
use arithmetic::orthonormal::{Panel, orthonormalise};
use cuda_std::Real;

use super::{NearNullSpaces, Orthonormal, OrthonormalOf, dependent};
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::Transposes;
use crate::setup::rows::for_each_row;

/// Aggregates and rows of one task.
const CHUNK: usize = 64;

/// The vectors on one aggregate of m unknowns, decomposed.
struct Factors {
    vectors: usize,
    rank: usize,
    /// Row by row, an unknown after another.
    q: Vec<f64>,
    /// Row by row.
    r: Vec<f64>,
}

impl Panel for Factors {
    fn get(&self, i: usize, k: usize) -> f64 {
        self.q[i * self.vectors + k]
    }
    fn set(&mut self, i: usize, k: usize, value: f64) {
        self.q[i * self.vectors + k] = value;
    }
    fn get_r(&self, q: usize, k: usize) -> f64 {
        self.r[q * self.vectors + k]
    }
    fn set_r(&mut self, q: usize, k: usize, value: f64) {
        self.r[q * self.vectors + k] = value;
    }
}

impl Factors {
    fn of<T: Real>(members: &[u32], vectors: &[Vec<T>]) -> Factors {
        let elements = members.iter().flat_map(|&i| vectors.iter().map(move |v| v[i as usize].to_f64()));
        let q = elements.collect();
        let k = vectors.len();
        let mut factors = Factors { vectors: k, rank: 0, q, r: vec![0.0; k * k] };
        factors.rank = orthonormalise(&mut factors, members.len(), k, dependent::<T>());
        factors
    }

    /// Row i of Q.
    fn row(&self, i: usize) -> &[f64] {
        &self.q[i * self.vectors..i * self.vectors + self.rank]
    }
}

impl<T: Real> NearNullSpaces<T> for Cpu {
    fn magnitudes(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
        let mut magnitudes = Csr::clone(a);
        for_each_row(&mut magnitudes, |_, _, values| values.iter_mut().for_each(|v| *v = v.abs()));
        Ok(Arc::new(magnitudes))
    }

    fn gather(&self, x: &Vec<u32>, at: &Vec<u32>) -> Result<Vec<u32>> {
        Ok(at.par_iter().with_min_len(CHUNK).map(|&i| x[i as usize]).collect())
    }

    fn orthonormal(&self, tentative: &Arc<Csr<T>>, vectors: &[Vec<T>]) -> Result<OrthonormalOf<T, Self>> {
        let members = self.transpose(tentative)?;
        let all = (0..members.n_rows()).into_par_iter().with_min_len(CHUNK);
        let factors: Vec<Factors> = all.map(|k| Factors::of(members.row(k).0, vectors)).collect();
        let mut first = vec![0];
        for factors in &factors {
            first.push(first[first.len() - 1] + factors.rank);
        }
        let row = |i: usize| {
            let (first, q) = match tentative.row(i).0 {
                &[aggregate, ..] => {
                    let members = members.row(aggregate as usize).0;
                    let place = members.partition_point(|&member| member < i as u32);
                    (first[aggregate as usize] as u32, factors[aggregate as usize].row(place))
                }
                [] => (0, &[][..]),
            };
            (first..).zip(q.iter().map(|&q| T::from_f64(q))).filter(|(_, q)| *q != T::ZERO)
        };
        let n_coarse = first[factors.len()];
        let p = Csr::from_rows(
            tentative.n_rows(),
            n_coarse,
            |i| row(i).count(),
            |i, columns, values| {
                for (k, (column, q)) in row(i).enumerate() {
                    (columns[k], values[k]) = (column, q);
                }
            },
        );
        let on_coarser = |k: usize| {
            let of = |f: &Factors| (0..f.rank).map(|q| T::from_f64(f.get_r(q, k))).collect::<Vec<T>>();
            factors.iter().flat_map(of).collect()
        };
        let numbers = (0u32..).zip(&factors);
        Ok(Orthonormal {
            p: Arc::new(p),
            vectors: (0..vectors.len()).map(on_coarser).collect(),
            aggregates: numbers.flat_map(|(k, factors)| std::iter::repeat_n(k, factors.rank)).collect(),
        })
    }
}
