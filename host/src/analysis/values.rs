//! What the entries of a matrix are.

use std::fmt;

use crate::parallel::*;
use serde::Serialize;

use crate::matrix::Csr;

/// Rows of one task.
const CHUNK: usize = 4096;
/// A sum below this share of the sum of magnitudes is 0 but for rounding.
const ROUNDING: f64 = 1e-12;

/// How many diagonal entries are what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Diagonal {
    /// Above 0.
    pub positive: usize,
    /// Below 0.
    pub negative: usize,
    /// 0, or not stored.
    pub zero: usize,
}

/// What is known of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Values {
    /// Whether the matrix is symmetric, to rounding.
    pub is_symmetric: bool,
    /// Its diagonal.
    pub diagonal: Diagonal,
    /// Whether a symmetric matrix with a diagonal of one sign is indefinite all the same, as far as that
    /// shows.
    pub is_indefinite: bool,
    /// Rows with `|a_ii| >= sum_j |a_ij|`, j other than i.
    pub dominant_rows: usize,
    /// The share of `sum |a_ij|` off the diagonal in entries whose sign is not that of `a_ii`: 1 for an
    /// M-matrix.
    pub m_share: f64,
    /// Rows whose entries add up to 0.
    pub zero_sums: usize,
    /// The least magnitude that is not 0.
    pub least: f64,
    /// The largest magnitude.
    pub most: f64,
}

/// Sums over some rows.
#[derive(Clone, Copy)]
struct Sums {
    diagonal: Diagonal,
    dominant: usize,
    zero_sums: usize,
    /// Of all entries, and of their magnitudes.
    total: (f64, f64),
    /// Of magnitudes off the diagonal with the sign of an M-matrix, and of all.
    weight: (f64, f64),
    range: (f64, f64),
}

impl Sums {
    const NONE: Sums = Sums {
        diagonal: Diagonal { positive: 0, negative: 0, zero: 0 },
        dominant: 0,
        zero_sums: 0,
        total: (0.0, 0.0),
        weight: (0.0, 0.0),
        range: (f64::INFINITY, 0.0),
    };

    fn add_row(&mut self, i: usize, columns: &[u32], values: &[f64]) {
        let (mut d, mut sum, mut magnitudes, mut positive) = (0.0, 0.0, 0.0, 0.0);
        for (&j, &v) in columns.iter().zip(values) {
            let size = v.abs();
            if size > 0.0 {
                self.range = (self.range.0.min(size), self.range.1.max(size));
            }
            sum += v;
            if j as usize == i {
                d = v;
            } else {
                magnitudes += size;
                positive += v.max(0.0);
            }
        }
        let count = match d {
            d if d > 0.0 => &mut self.diagonal.positive,
            d if d < 0.0 => &mut self.diagonal.negative,
            _ => &mut self.diagonal.zero,
        };
        *count += 1;
        // As a share of the row, so that rows count alike, whatever their scale.
        if magnitudes > 0.0 {
            let same_sign = if d >= 0.0 { positive } else { magnitudes - positive };
            self.weight.0 += 1.0 - same_sign / magnitudes;
            self.weight.1 += 1.0;
        }
        self.dominant += usize::from(d.abs() >= magnitudes * (1.0 - ROUNDING) && d != 0.0);
        self.total.0 += sum;
        self.total.1 += magnitudes + d.abs();
        self.zero_sums += usize::from(sum.abs() <= ROUNDING * (magnitudes + d.abs()));
    }

    fn with(self, other: Sums) -> Sums {
        let (a, b) = (self.diagonal, other.diagonal);
        Sums {
            diagonal: Diagonal {
                positive: a.positive + b.positive,
                negative: a.negative + b.negative,
                zero: a.zero + b.zero,
            },
            dominant: self.dominant + other.dominant,
            zero_sums: self.zero_sums + other.zero_sums,
            total: (self.total.0 + other.total.0, self.total.1 + other.total.1),
            weight: (self.weight.0 + other.weight.0, self.weight.1 + other.weight.1),
            range: (self.range.0.min(other.range.0), self.range.1.max(other.range.1)),
        }
    }
}

impl Values {
    /// Those of a matrix of which is known whether it is symmetric.
    pub fn of(a: &Csr<f64>, is_symmetric: bool) -> Values {
        let n = a.n_rows();
        let of_chunk = |chunk: usize| {
            let mut sums = Sums::NONE;
            for i in chunk * CHUNK..((chunk + 1) * CHUNK).min(n) {
                let (columns, values) = a.row(i);
                sums.add_row(i, columns, values);
            }
            sums
        };
        // In the order of the chunks, so that sums do not depend on the threads.
        let chunks: Vec<Sums> = (0..n.div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
        let all = chunks.into_iter().fold(Sums::NONE, Sums::with);
        let (least, most) = all.range;
        Values {
            is_symmetric,
            diagonal: all.diagonal,
            is_indefinite: is_symmetric && is_indefinite(a, &all),
            dominant_rows: all.dominant,
            m_share: if all.weight.1 > 0.0 { all.weight.0 / all.weight.1 } else { 1.0 },
            zero_sums: all.zero_sums,
            least: if most > 0.0 { least } else { 0.0 },
            most,
        }
    }
}

/// Whether `x^T A x` has the other sign than the diagonal for x = 1, or for an x of two entries: where
/// `a_ij^2 > a_ii a_jj`, which takes a row that is not dominant.
fn is_indefinite(a: &Csr<f64>, sums: &Sums) -> bool {
    let (n, Diagonal { positive, negative, .. }) = (a.n_rows(), sums.diagonal);
    if n == 0 || positive.max(negative) < n {
        return false;
    }
    let (sum, magnitudes) = sums.total;
    let sign = if positive == n { 1.0 } else { -1.0 };
    if sign * sum < -ROUNDING * magnitudes {
        return true;
    }
    if sums.dominant == n {
        return false;
    }
    let diagonal = a.diagonal();
    let shows = |i: usize, j: u32, v: f64| {
        let product = diagonal[i] * diagonal[j as usize];
        j as usize != i && v * v > (1.0 + ROUNDING) * product && product > 0.0
    };
    let of_row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).any(|(&j, &v)| shows(i, j, v));
    let count: usize = (0..n).into_par_iter().with_min_len(CHUNK).map(|i| usize::from(of_row(i))).sum();
    count > 0
}

impl Values {
    /// Makes them those of the negative matrix.
    pub fn negate(&mut self) {
        let Diagonal { positive, negative, zero } = self.diagonal;
        self.diagonal = Diagonal { positive: negative, negative: positive, zero };
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Diagonal { positive, negative, zero } = self.diagonal;
        let n = (positive + negative + zero).max(1) as f64;
        let symmetric = if self.is_symmetric { "symmetric" } else { "not symmetric" };
        write!(
            f,
            "{symmetric}, diagonal with {positive} positive, {negative} negative and {zero} zero entries, "
        )?;
        let (dominant, m_share) = (100.0 * self.dominant_rows as f64 / n, 100.0 * self.m_share);
        write!(f, "{dominant:.0} % of the rows dominant, {m_share:.0} % an M-matrix, ")?;
        if self.is_indefinite {
            write!(f, "indefinite, ")?;
        }
        if self.zero_sums > 0 {
            write!(f, "{} rows add up to 0, ", self.zero_sums)?;
        }
        write!(f, "magnitudes from {:.1e} to {:.1e}", self.least, self.most)
    }
}
