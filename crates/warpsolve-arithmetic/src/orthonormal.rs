//! The QR decomposition of some vectors on a few unknowns.

use cuda_std::Real;

/// Vectors on m unknowns, which become columns of Q in place, and the factor R.
pub trait Panel {
    /// Element i of vector, or of column, k.
    fn get(&self, i: usize, k: usize) -> f64;
    /// Overwrites it.
    fn set(&mut self, i: usize, k: usize, value: f64);
    /// Element (q, k) of R.
    fn get_r(&self, q: usize, k: usize) -> f64;
    /// Overwrites it.
    fn set_r(&mut self, q: usize, k: usize, value: f64);
}

/// `B = Q R` with `Q^T Q = m I` for `vectors` on `m` unknowns: Gram and Schmidt's method, every vector twice.
/// A vector of which no more than the share `dependent` is left gives no column. Returns the number of
/// columns; what is behind them, and R's rows behind theirs, is left over.
#[inline(always)]
pub fn orthonormalise(panel: &mut impl Panel, m: usize, vectors: usize, dependent: f64) -> usize {
    let mut rank = 0;
    for k in 0..vectors {
        // No column is right of its vector.
        for i in 0..m {
            panel.set(i, rank, panel.get(i, k));
        }
        let before = dot(panel, m, rank, rank).sqrt();
        for q in 0..vectors {
            panel.set_r(q, k, 0.0);
        }
        for _ in 0..2 {
            for q in 0..rank {
                let h = dot(panel, m, q, rank) / m as f64;
                for i in 0..m {
                    panel.set(i, rank, panel.get(i, rank) - h * panel.get(i, q));
                }
                panel.set_r(q, k, panel.get_r(q, k) + h);
            }
        }
        let length = dot(panel, m, rank, rank).sqrt();
        if rank < m && length > dependent * before {
            let scale = length / Real::sqrt(m as f64);
            panel.set_r(rank, k, scale);
            for i in 0..m {
                panel.set(i, rank, panel.get(i, rank) / scale);
            }
            rank += 1;
        }
    }
    rank
}

/// The product of two columns, from the first element on.
#[inline(always)]
fn dot(panel: &impl Panel, m: usize, k: usize, l: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..m {
        sum += panel.get(i, k) * panel.get(i, l);
    }
    sum
}
