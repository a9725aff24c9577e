//! What no x reaches in a right-hand side, as far as the places of entries tell.

use crate::analysis::Matching;
use crate::matrix::Csr;
use crate::norm::norm;

/// Steps at most, and entries that all of them go through.
const STEPS: usize = 10_000;
const ENTRIES: usize = 2_000_000_000;
/// `||B^T r|| / ||r||` of a matrix with columns of length 1, which is 0 at the solution of least squares:
/// where it is good enough, and where it proves something.
const GOOD: f64 = 1e-13;
const PROOF: f64 = 1e-10;

/// The norm of what every x leaves of b: in the rows that are more than the columns in which they have
/// entries, such as rows without any, and in those alone where no more is proven.
pub(super) fn out_of_reach(a: &Csr<f64>, b: &[f64]) -> f64 {
    let (rows, columns) = Matching::of(a).overdetermined(a);
    let numbers = |all: &[usize]| all.iter().map(|&i| i as u32).collect::<Vec<u32>>();
    let of_empty: Vec<f64> = rows.iter().filter(|&&i| a.is_empty_row(i)).map(|&i| b[i]).collect();
    let b = rows.iter().map(|&i| b[i]).collect();
    least_squares(&a.chosen_part(&numbers(&rows), &numbers(&columns)), b).max(norm(&of_empty))
}

/// `min ||b - B y||_2` by conjugate gradients for least squares (Bjorck 1996, section 7.4), columns scaled to
/// length 1. For the residual r of any y, and `u = r / ||r||`, no y leaves less than
/// `u^T b - ||B^T u|| ||y||`.
fn least_squares(part: &Csr<f64>, b: Vec<f64>) -> f64 {
    let transposed = part.transpose();
    let scales: Vec<f64> = (0..part.n_cols()).map(|j| 1.0 / norm(transposed.row(j).1)).collect();
    let scaled = |v: Vec<f64>| -> Vec<f64> { v.iter().zip(&scales).map(|(v, scale)| v * scale).collect() };
    let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
    let mut r = b.clone();
    let mut s = scaled(transposed.mul_vec(&r));
    let (mut p, mut gamma) = (s.clone(), square(&s));
    for _ in 0..STEPS.min(ENTRIES / part.nnz().max(1)) {
        if gamma.sqrt() <= GOOD * norm(&r) {
            break;
        }
        // alpha = ||s||^2 / ||B p||^2,  r = r - alpha B p,  s = B^T r,  p = s + beta p
        let q = part.mul_vec(&scaled(p.clone()));
        let alpha = gamma / square(&q);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        s = scaled(transposed.mul_vec(&r));
        let before = std::mem::replace(&mut gamma, square(&s));
        p.iter_mut().zip(&s).for_each(|(p, s)| *p = s + gamma / before * *p);
    }
    let length = norm(&r);
    // NaN proves nothing.
    if length > 0.0 && gamma.sqrt() <= PROOF * length {
        (r.iter().zip(&b).map(|(r, b)| r / length * b).sum::<f64>()).max(0.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a chain of an odd number of unknowns without a diagonal, whose entries are 1 and 1000 in turn:
    /// what its transpose maps to 0 grows by 1000 from a row to the next but one, beyond f64.
    fn chain(n: usize) -> Csr<f64> {
        let size = |k: usize| if k.is_multiple_of(2) { 1.0 } else { 1000.0 };
        let pairs = (0..n - 1).flat_map(|k| [(k, k + 1, size(k)), (k + 1, k, size(k))]);
        Csr::from_triplets(n, n, pairs).unwrap()
    }

    #[test]
    fn more_rows_than_columns_leave_what_least_squares_leave() {
        let n = 401;
        let a = chain(n);
        // Row 0 has the largest element of the vector: u_0 = 1, u_2 = -1e-3, u_4 = 1e-6, ..
        let u: Vec<f64> = (0..n.div_ceil(2)).map(|k| (-1e-3f64).powi(k as i32)).collect();
        let b: Vec<f64> = (0..n).map(|i| (0.7 * i as f64).cos()).collect();
        let expected = u.iter().zip(b.iter().step_by(2)).map(|(u, b)| u * b).sum::<f64>().abs() / norm(&u);
        let found = out_of_reach(&a, &b);
        assert!((found / expected - 1.0).abs() < 1e-8, "{found}, not {expected}");
        // What A makes of an x is within reach.
        let within = a.mul_vec(&b);
        assert!(out_of_reach(&a, &within) <= 1e-10 * norm(&within));
    }

    #[test]
    fn rows_without_entries_leave_all() {
        let a = Csr::from_triplets(4, 4, [(0, 0, 2.0), (1, 1, 0.0), (3, 3, 1.0)]).unwrap();
        assert_eq!(out_of_reach(&a, &[1.0, -3.0, 4.0, 1.0]), 5.0);
        assert_eq!(out_of_reach(&chain(4), &[1.0; 4]), 0.0);
    }
}
