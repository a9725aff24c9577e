//! Equilibration: rows and columns multiplied by powers of two, so that the largest entry of each is near 1
//! (Ruiz 2001), or first so that entries are near 1 in the mean (Curtis and Reid 1972). Powers of two round
//! nothing.

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
        Scaling::after([vec![0.0; a.n_rows()], vec![0.0; a.n_cols()]], a)
    }

    /// The same, after factors that minimise the sum over all entries of `(log2 |r_i a_ij c_j|)^2`. With
    /// these a matrix whose rows or columns were multiplied by any numbers is what it was before; the largest
    /// entries alone do not tell. Where rows differ by many decades [`Scaling::of`] may leave a regular
    /// matrix singular in f64.
    pub fn by_means(a: &Csr<f64>) -> Scaling {
        Scaling::after(Means::of(a).exponents(), a)
    }

    /// After factors with these exponents.
    fn after([mut rows, mut columns]: [Vec<f64>; 2], a: &Csr<f64>) -> Scaling {
        // log2 |a_ij|, or -infinity
        let logs: Vec<f64> = a.values().iter().map(|v| v.abs().log2()).collect();
        for _ in 0..PASSES {
            let mut of_rows = vec![f64::NEG_INFINITY; a.n_rows()];
            let mut of_columns = vec![f64::NEG_INFINITY; a.n_cols()];
            for i in 0..a.n_rows() {
                let range = a.row_ptr()[i]..a.row_ptr()[i + 1];
                let (row, mut most) = (rows[i], f64::NEG_INFINITY);
                for (&j, log) in a.row(i).0.iter().zip(&logs[range]) {
                    let j = j as usize;
                    let size = log + row + columns[j];
                    most = most.max(size);
                    of_columns[j] = of_columns[j].max(size);
                }
                of_rows[i] = most;
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

/// The normal equations of Curtis and Reid: `sum_j (log2 |a_ij| + r_i + c_j) = 0` for each row, and the same
/// for each column, over the entries that are not 0.
struct Means<'a> {
    a: &'a Csr<f64>,
    /// Entries of rows, then of columns.
    counts: Vec<f64>,
}

impl Means<'_> {
    /// Steps of CG at most, and the share of the residual that is good enough.
    const STEPS: usize = 60;
    const ENOUGH: f64 = 1e-3;

    fn of(a: &Csr<f64>) -> Means<'_> {
        let mut means = Means { a, counts: Vec::new() };
        means.counts = means.sums(|_, _, _| 1.0, |_, _, _| 1.0);
        means
    }

    /// What `row(i, j, v)` is added up to over each row, and `column(i, j, v)` over each column.
    fn sums(
        &self,
        row: impl Fn(usize, usize, f64) -> f64,
        column: impl Fn(usize, usize, f64) -> f64,
    ) -> Vec<f64> {
        let n = self.a.n_rows();
        let mut sums = vec![0.0; n + self.a.n_cols()];
        for i in 0..n {
            for (&j, &v) in self.a.row(i).0.iter().zip(self.a.row(i).1).filter(|(_, v)| **v != 0.0) {
                sums[i] += row(i, j as usize, v);
                sums[n + j as usize] += column(i, j as usize, v);
            }
        }
        sums
    }

    /// Their solution by conjugate gradients, preconditioned by the counts.
    fn exponents(&self) -> [Vec<f64>; 2] {
        let n = self.a.n_rows();
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let by_counts = |r: &[f64]| -> Vec<f64> {
            r.iter().zip(&self.counts).map(|(r, count)| r / count.max(1.0)).collect()
        };
        let log = |_, _, v: f64| -v.abs().log2();
        let mut r = self.sums(log, log);
        let mut z = by_counts(&r);
        let (mut x, mut p) = (vec![0.0; r.len()], z.clone());
        let mut rho = dot(&r, &z);
        let enough = Self::ENOUGH * Self::ENOUGH * rho;
        for _ in 0..Self::STEPS {
            if rho <= enough {
                break;
            }
            let pair = |i: usize, j: usize, _| p[i] + p[n + j];
            let product = self.sums(pair, pair);
            let alpha = rho / dot(&p, &product);
            x.iter_mut().zip(&p).for_each(|(x, p)| *x += alpha * p);
            r.iter_mut().zip(&product).for_each(|(r, q)| *r -= alpha * q);
            z = by_counts(&r);
            let next = dot(&r, &z);
            p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / rho * *p);
            rho = next;
        }
        let columns = x.split_off(n);
        [x, columns]
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
    fn rows_and_columns_of_any_scale_are_found_again() {
        let n = 12;
        let power = |k: usize, seed| (uniform(seed, k as u64) * 80.0 - 40.0).round().exp2();
        let values = (0..n).flat_map(|i| (0..n).map(move |j| power(i, 3) * power(j, 4))).collect();
        let row_ptr = (0..=n).map(|i| n * i).collect();
        let a = Csr::new(n, n, row_ptr, (0..n as u32).cycle().take(n * n).collect(), values).unwrap();
        let scaled = Scaling::by_means(&a).apply(&a);
        assert!(scaled.values().iter().all(|v| (0.2..5.0).contains(v)), "{:?}", scaled.values());
    }

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
