//! An estimate of the condition (Hager 1984; Higham 1988, algorithm 4.1, as in LAPACK's `dlacon`).

use super::factorisation::Factorisation;
use crate::matrix::Csr;

/// Steps at most; two are usual.
const STEPS: usize = 5;

/// About `||A||_1 ||A^-1||_1`, from a few solutions with the factors: a lower bound to rounding, hardly ever
/// off by more than a factor of 3. 0 for a matrix without rows; infinite or NaN where the factors overflow.
pub fn condition(a: &Csr<f64>, factorisation: &mut Factorisation) -> f64 {
    let mut sums = vec![0.0; a.n_cols()];
    for (&j, v) in a.col_idx().iter().zip(a.values()) {
        sums[j as usize] += v.abs();
    }
    most(&sums).1 * inverse_norm(factorisation)
}

/// About `||A^-1||_1`.
fn inverse_norm(factorisation: &mut Factorisation) -> f64 {
    let n = factorisation.n();
    if n == 0 {
        return 0.0;
    }
    let mut x = vec![1.0 / n as f64; n];
    let mut estimate = 0.0;
    let mut at = None;
    for _ in 0..STEPS {
        let y = factorisation.solve(&x, &[], &[]);
        let norm = sum(&y);
        if norm <= estimate || norm.is_nan() {
            break;
        }
        estimate = norm;
        // The direction in which the norm grows fastest: a unit vector.
        let signs: Vec<f64> = y.iter().map(|y| 1f64.copysign(*y)).collect();
        let z = factorisation.solve_transposed(&signs);
        let (j, steepest) = most(&z);
        let slope: f64 = z.iter().zip(&x).map(|(z, x)| z * x).sum();
        if steepest <= slope || at == Some(j) {
            break;
        }
        x.fill(0.0);
        x[j] = 1.0;
        at = Some(j);
    }
    // What the steps miss where cancellation hides it.
    let slanted = |i: usize| 1.0 + i as f64 / (n.max(2) - 1) as f64;
    let alternating: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { slanted(i) } else { -slanted(i) }).collect();
    let other = 2.0 * sum(&factorisation.solve(&alternating, &[], &[])) / (3 * n) as f64;
    estimate.max(other)
}

fn sum(x: &[f64]) -> f64 {
    x.iter().map(|x| x.abs()).sum()
}

/// The place of the largest magnitude, and that.
fn most(x: &[f64]) -> (usize, f64) {
    x.iter().enumerate().fold((0, 0.0), |most, (i, x)| if x.abs() > most.1 { (i, x.abs()) } else { most })
}
