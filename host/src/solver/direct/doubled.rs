//! Residuals in doubled precision (Ogita, Rump and Oishi 2005, algorithm 5.3): what iterative refinement is
//! made with, and what no rounding of the products can spoil.

use crate::parallel::*;

use crate::matrix::Csr;

/// Rows of one task.
const CHUNK: usize = 4096;

/// `b_i - (A x)_i` as if computed with twice the digits, then rounded.
fn entry(a: &Csr<f64>, x: &[f64], b: &[f64], i: usize) -> f64 {
    let (columns, values) = a.row(i);
    let (mut sum, mut rest) = (b[i], 0.0);
    for (&j, &v) in columns.iter().zip(values) {
        // v x = product + lost, exactly
        let x = x[j as usize];
        let product = v * x;
        let lost = v.mul_add(x, -product);
        // sum - product = next + error, exactly
        let next = sum - product;
        let part = next - sum;
        let error = (sum - (next - part)) - (product + part);
        rest += error - lost;
        sum = next;
    }
    sum + rest
}

/// `b - A x`, rounded once.
pub fn residual(a: &Csr<f64>, x: &[f64], b: &[f64]) -> Vec<f64> {
    (0..a.n_rows()).into_par_iter().with_min_len(CHUNK).map(|i| entry(a, x, b, i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cancels_is_not_lost() {
        // 1e16 + 1 - 1e16 is 0 in f64; 0.1^2 is no f64.
        let a = Csr::new(2, 3, vec![0, 3, 4], vec![0, 1, 2, 0], vec![1e16, 1.0, -1e16, 0.1]).unwrap();
        let r = residual(&a, &[1.0, 1.0, 1.0], &[0.0, 0.0]);
        assert_eq!(r, [-1.0, -0.1]);
        let r = residual(&a, &[0.1, 0.0, 0.1], &[0.0, 0.1 * 0.1]);
        assert!(r[1] != 0.0 && r[1].abs() < 1e-17, "{r:?}");
    }
}
