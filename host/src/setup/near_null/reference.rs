//! [`NearNullSpaces`] as it is defined.

use std::sync::Arc;

use cuda_std::Real;

use super::{NearNullSpaces, Orthonormal, OrthonormalOf, dependent};
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::sequential::{entries, from_entries};

impl<T: Real> NearNullSpaces<T> for Reference {
    fn magnitudes(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
        let row = |i: usize| entries(a, i).map(|(j, v)| (j, v.abs()));
        Ok(Arc::new(from_entries(a.n_cols(), (0..a.n_rows()).map(row))))
    }

    fn gather(&self, x: &Vec<u32>, at: &Vec<u32>) -> Result<Vec<u32>> {
        Ok(at.iter().map(|&i| x[i as usize]).collect())
    }

    fn orthonormal(&self, tentative: &Arc<Csr<T>>, vectors: &[Vec<T>]) -> Result<OrthonormalOf<T, Self>> {
        let members = tentative.transpose();
        let mut rows: Vec<Vec<(usize, T)>> = vec![Vec::new(); tentative.n_rows()];
        let mut coarse = vec![Vec::new(); vectors.len()];
        let mut aggregate_of = Vec::new();
        for aggregate in 0..members.n_rows() {
            let unknowns = members.row(aggregate).0;
            let on_aggregate = |v: &Vec<T>| unknowns.iter().map(|&i| v[i as usize].to_f64()).collect();
            let vectors: Vec<Vec<f64>> = vectors.iter().map(on_aggregate).collect();
            let (q, r) = decomposed(&vectors, dependent::<T>());
            for (k, q) in q.iter().enumerate() {
                for (&i, &v) in unknowns.iter().zip(q) {
                    rows[i as usize].push((aggregate_of.len() + k, T::from_f64(v)));
                }
            }
            for row in &r {
                coarse.iter_mut().zip(row).for_each(|(coarse, &v)| coarse.push(T::from_f64(v)));
            }
            aggregate_of.extend(q.iter().map(|_| aggregate as u32));
        }
        let rows = rows.into_iter().map(|row| row.into_iter().filter(|(_, v)| *v != T::ZERO));
        let p = Arc::new(from_entries(aggregate_of.len(), rows));
        Ok(Orthonormal { p, vectors: coarse, aggregates: aggregate_of })
    }
}

/// `B = Q R` with `Q^T Q = m I` by Gram and Schmidt's method, every vector twice: the columns of Q and the
/// rows of R.
fn decomposed(vectors: &[Vec<f64>], dependent: f64) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let m = vectors[0].len() as f64;
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0, |sum, (x, y)| sum + x * y);
    let mut q: Vec<Vec<f64>> = Vec::new();
    let mut r: Vec<Vec<f64>> = Vec::new();
    for (k, v) in vectors.iter().enumerate() {
        let mut w = v.clone();
        for _ in 0..2 {
            for (q, r) in q.iter().zip(&mut r) {
                let h = dot(q, &w) / m;
                w.iter_mut().zip(q).for_each(|(w, q)| *w -= h * q);
                r[k] += h;
            }
        }
        let length = dot(&w, &w).sqrt();
        if q.len() < v.len() && length > dependent * dot(v, v).sqrt() {
            let scale = length / m.sqrt();
            r.push((0..vectors.len()).map(|l| if l == k { scale } else { 0.0 }).collect());
            q.push(w.iter().map(|w| w / scale).collect());
        }
    }
    (q, r)
}
