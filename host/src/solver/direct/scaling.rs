//! Equilibration: rows and columns multiplied by powers of two, so that the largest entry of each is near 1
//! (Ruiz 2001). Powers of two round nothing.

use crate::matrix::Csr;

/// Passes over the matrix: after each the logarithms of the maxima are halved.
const PASSES: usize = 8;

/// `S = R A C` with diagonal R and C.
#[derive(Debug, Clone)]
pub struct Scaling {
    /// The diagonal of R.
    pub rows: Vec<f64>,
    /// The diagonal of C.
    pub columns: Vec<f64>,
}

impl Scaling {
    /// That of `a`; R = C where the magnitudes are symmetric.
    pub fn of(a: &Csr<f64>) -> Scaling {
        // Exponents of the factors, in halves.
        let (mut rows, mut columns) = (vec![0.0; a.n_rows()], vec![0.0; a.n_cols()]);
        // log2 |a_ij|, or -infinity
        let logs: Vec<f64> = a.values().iter().map(|v| v.abs().log2()).collect();
        for _ in 0..PASSES {
            let mut of_rows = vec![f64::NEG_INFINITY; a.n_rows()];
            let mut of_columns = vec![f64::NEG_INFINITY; a.n_cols()];
            for i in 0..a.n_rows() {
                let range = a.row_ptr()[i]..a.row_ptr()[i + 1];
                for (&j, log) in a.row(i).0.iter().zip(&logs[range]) {
                    let j = j as usize;
                    let size = log + rows[i] + columns[j];
                    of_rows[i] = of_rows[i].max(size);
                    of_columns[j] = of_columns[j].max(size);
                }
            }
            halve(&mut rows, &of_rows);
            halve(&mut columns, &of_columns);
        }
        let powers = |exponents: Vec<f64>| exponents.iter().map(|e| e.round().exp2()).collect();
        Scaling { rows: powers(rows), columns: powers(columns) }
    }

    /// Multiplies R and C by other factors.
    pub fn multiply(&mut self, factors: &[f64]) {
        for scales in [&mut self.rows, &mut self.columns] {
            scales.iter_mut().zip(factors).for_each(|(scale, factor)| *scale *= factor);
        }
    }

    /// `R A C`.
    pub fn apply(&self, a: &Csr<f64>) -> Csr<f64> {
        let mut scaled = a.clone();
        let (row_ptr, columns, values) = scaled.parts_mut();
        for (i, &r) in self.rows.iter().enumerate() {
            let range = row_ptr[i]..row_ptr[i + 1];
            for (&j, v) in columns[range.clone()].iter().zip(&mut values[range]) {
                *v *= r * self.columns[j as usize];
            }
        }
        scaled
    }
}

/// Takes half of what the maxima have, as logarithms, off the exponents. Where there is none nothing changes.
fn halve(exponents: &mut [f64], maxima: &[f64]) {
    for (exponent, most) in exponents.iter_mut().zip(maxima) {
        if most.is_finite() {
            *exponent -= most / 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::random::uniform;

    #[test]
    fn maxima_are_near_one_and_factors_powers_of_two() {
        let n = 31;
        let size =
            |i: usize, j: usize| (uniform(5, (n * i + j) as u64) - 0.5) * 10f64.powi((i as i32 - 15) * 2);
        let values = (0..n).flat_map(|i| (0..n).map(move |j| size(i, j))).collect();
        let row_ptr = (0..=n).map(|i| n * i).collect();
        let a = Csr::new(n, n, row_ptr, (0..n as u32).cycle().take(n * n).collect(), values).unwrap();
        let scaling = Scaling::of(&a);
        let scaled = scaling.apply(&a);
        for s in [&scaled, &scaled.transpose()] {
            for i in 0..n {
                let most = s.row(i).1.iter().fold(0.0f64, |most, v| most.max(v.abs()));
                assert!((0.2..5.0).contains(&most), "{most}");
            }
        }
        assert!(scaling.rows.iter().all(|r| r.log2().fract() == 0.0));
    }
}
