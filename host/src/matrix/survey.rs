//! What a plan must know of every entry, found in one pass: the host reads a large matrix at the rate of its
//! memory, and each pass takes about as long as its copy to a device.

use arithmetic::survey::{Found, Row};
use cuda_std::Real;
use serde::Serialize;

use super::Csr;
use crate::parallel::*;

/// Rows of one task.
const CHUNK: usize = 4096;

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

/// The least and the largest of some magnitudes that are not 0; both 0 where there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Magnitudes {
    /// The least.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Magnitudes {
    /// That of one number; that of 0 is none.
    pub fn of_one(magnitude: f64) -> Self {
        Magnitudes { least: magnitude, most: magnitude }
    }
}

/// What one pass over the entries finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survey {
    /// Whether every entry is finite.
    pub is_finite: bool,
    /// Whether the matrix is symmetric to the last bit, but for the signs of zeros. By a hash, which hardly
    /// ever takes another matrix for a symmetric one.
    pub is_mirrored: bool,
    /// `||A||_inf`, the largest sum of a row's magnitudes.
    pub norm: f64,
    /// The diagonal,
    pub diagonal: Diagonal,
    /// its magnitudes,
    pub diagonal_magnitudes: Magnitudes,
    /// and those of all entries.
    pub magnitudes: Magnitudes,
    /// Rows with `|a_ii| >= sum_j |a_ij|`, j other than i, and a diagonal entry.
    pub dominant_rows: usize,
    /// Rows whose entries add up to 0.
    pub zero_sums: usize,
    /// Rows with more entries than ten times the square root of their number.
    pub dense_rows: usize,
    /// The first row without an entry but zeros.
    pub empty_row: Option<usize>,
    /// The mean share, of rows with entries off the diagonal, of `sum |a_ij|` there in entries whose sign is
    /// not that of `a_ii`: 1 for an M-matrix.
    pub m_share: f64,
    /// The sum of all entries,
    pub sum: f64,
    /// and of their magnitudes.
    pub sum_of_magnitudes: f64,
}

impl Survey {
    /// Reads a matrix once, in order and in parallel, whatever the numbering of its unknowns.
    pub fn of<T: Real>(a: &Csr<T>) -> Survey {
        Survey::made((a.n_rows(), a.n_cols()), &found(a, 0))
    }

    /// What is found in some rows of a square matrix, of which `first` is the first, and their hash: if those
    /// of all rows add up to 0, modulo 2^64, the matrix is symmetric to the last bit. That is not said of
    /// some rows alone.
    pub(crate) fn of_rows<T: Real>(a: &Csr<T>, first: usize) -> (Survey, u64) {
        let found = found(a, first);
        (Survey { is_mirrored: false, ..Survey::made((a.n_rows(), a.n_cols()), &found) }, found.hash)
    }

    /// Of what was found in all rows of a matrix of so many rows and columns.
    pub(crate) fn made((n_rows, n_cols): (usize, usize), found: &Found) -> Survey {
        let [positive, negative] = [found.positive, found.negative].map(|count| count as usize);
        let [magnitudes, diagonal_magnitudes] = [0, 1].map(|of| match found.most[of] {
            0.0 => Magnitudes { least: 0.0, most: 0.0 },
            most => Magnitudes { least: found.least[of], most },
        });
        Survey {
            is_finite: found.not_finite == 0.0,
            is_mirrored: n_rows == n_cols && found.hash == 0,
            norm: found.norm,
            diagonal: Diagonal { positive, negative, zero: n_rows - positive - negative },
            diagonal_magnitudes,
            magnitudes,
            dominant_rows: found.dominant as usize,
            zero_sums: found.zero_sums as usize,
            dense_rows: found.dense as usize,
            empty_row: found.first_empty.is_finite().then_some(found.first_empty as usize),
            m_share: if found.weighed > 0.0 { found.m_share / found.weighed } else { 1.0 },
            sum: found.total,
            sum_of_magnitudes: found.magnitudes,
        }
    }

    /// Whether every diagonal entry is above 0.
    pub fn has_positive_diagonal(&self) -> bool {
        (self.diagonal.negative, self.diagonal.zero) == (0, 0)
    }

    /// Makes it that of the negative matrix.
    pub(crate) fn negate(&mut self) {
        let Diagonal { positive, negative, zero } = self.diagonal;
        self.diagonal = Diagonal { positive: negative, negative: positive, zero };
        self.sum = -self.sum;
    }
}

/// More entries than this in one of so many rows are many.
pub(crate) fn usual_entries(n_rows: usize) -> u64 {
    (10.0 * (n_rows as f64).sqrt()) as u64
}

/// What is found in the rows of `a`, of which the first is row `first` of the matrix.
fn found<T: Real>(a: &Csr<T>, first: usize) -> Found {
    let usual = usual_entries(a.n_cols());
    let of_chunk = |chunk: usize| {
        let mut found = Found::NONE;
        for k in chunk * CHUNK..((chunk + 1) * CHUNK).min(a.n_rows()) {
            let (i, (columns, values)) = ((first + k) as u32, a.row(k));
            let mut row = Row::NONE;
            for (&j, v) in columns.iter().zip(values) {
                let v = v.to_f64();
                found.add_entry(i, j, v);
                if i == j { row.diagonal = v } else { row.add(v) }
            }
            found.add_row(i, columns.len() as u64, usual, row);
        }
        found
    };
    // In the order of the chunks, so that sums do not depend on the threads.
    let chunks: Vec<Found> = (0..a.n_rows().div_ceil(CHUNK)).into_par_iter().map(of_chunk).collect();
    chunks.into_iter().fold(Found::NONE, Found::with)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pass_finds_what_the_checks_do() {
        let entries = |v: f64| vec![(0, 0, 2.0), (0, 2, -1.5), (2, 0, v), (1, 1, 0.25), (3, 1, 0.0)];
        for (value, is_finite, is_mirrored) in [
            (-1.5, true, true),
            (-1.5000001, true, false),
            (f64::NAN, false, false),
            (f64::INFINITY, false, false),
        ] {
            let a = Csr::from_triplets(4, 4, entries(value)).unwrap();
            let survey = Survey::of(&a);
            assert_eq!((survey.is_finite, survey.is_mirrored), (is_finite, is_mirrored), "{value}");
            assert_eq!(survey.diagonal, Diagonal { positive: 2, negative: 0, zero: 2 });
            assert_eq!(survey.diagonal_magnitudes, Magnitudes { least: 0.25, most: 2.0 });
            assert!(!is_finite || survey.norm == 3.5);
        }
        let wide = Csr::from_triplets(3, 4, [(0, 0, 1.0), (2, 2, -2.0), (2, 3, -1.0)]).unwrap();
        let survey = Survey::of(&wide);
        assert_eq!((survey.is_mirrored, survey.norm, survey.empty_row), (false, 3.0, Some(1)));
        assert_eq!((survey.sum, survey.sum_of_magnitudes, survey.m_share), (-2.0, 4.0, 0.0));
        let empty = Survey::of(&Csr::<f64>::from_triplets(0, 0, []).unwrap());
        assert_eq!((empty.m_share, empty.magnitudes.least, empty.empty_row), (1.0, 0.0, None));
        assert!(empty.has_positive_diagonal());
    }

    /// Every number from its definition, in rows of every kind.
    #[test]
    fn counts_are_those_of_their_definitions() {
        let n = 40;
        let row = |i: usize| {
            let neighbours =
                [i + n - 1, i + 1].map(|j| (i, j % n, if i.is_multiple_of(5) { 0.5 } else { -1.0 }));
            let diagonal = [(i, i, [2.0, 1.0, -3.0, 0.0][i % 4])];
            diagonal.into_iter().chain(neighbours).filter(move |_| i % 13 != 7)
        };
        let a = Csr::from_triplets(n, n, (0..n).flat_map(row)).unwrap();
        let survey = Survey::of(&a);
        let sum = |i: usize| a.row(i).1.iter().sum::<f64>();
        let off = |i: usize| a.row(i).0.iter().zip(a.row(i).1).filter(move |(j, _)| **j as usize != i);
        let size = |i: usize| off(i).map(|(_, v)| v.abs()).sum::<f64>();
        let d = a.diagonal();
        let count = |holds: &dyn Fn(usize) -> bool| (0..n).filter(|&i| holds(i)).count();
        assert_eq!(survey.diagonal.positive, count(&|i| d[i] > 0.0));
        assert_eq!(survey.diagonal.negative, count(&|i| d[i] < 0.0));
        assert_eq!(survey.dominant_rows, count(&|i| d[i] != 0.0 && d[i].abs() >= size(i)));
        assert_eq!(survey.zero_sums, count(&|i| sum(i) == 0.0));
        assert_eq!((survey.empty_row, survey.dense_rows), (Some(7), 0));
        assert_eq!(survey.sum, (0..n).map(sum).sum::<f64>());
        let rows: Vec<usize> = (0..n).filter(|&i| size(i) > 0.0).collect();
        let of_m_matrix = |i: usize| {
            let other = |v: f64| if d[i] >= 0.0 { v < 0.0 } else { v > 0.0 };
            off(i).filter(|(_, v)| other(**v)).map(|(_, v)| v.abs()).sum::<f64>() / size(i)
        };
        let share = rows.iter().map(|&i| of_m_matrix(i)).sum::<f64>() / rows.len() as f64;
        assert!((survey.m_share - share).abs() < 1e-6, "{} {share}", survey.m_share);
    }
}
