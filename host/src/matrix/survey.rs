//! What a plan must know of every entry, found in one pass: the host reads a large matrix at the rate of its
//! memory, and each pass takes about as long as its copy to a device.

use crate::parallel::*;
use cuda_std::Real;

use super::Csr;
use crate::problem::random;

/// Rows of one task.
const CHUNK: usize = 4096;

/// What one pass over the entries finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey<T> {
    /// Whether every entry is finite.
    pub is_finite: bool,
    /// Whether the matrix is symmetric to the last bit, but for the signs of zeros. By a hash, which hardly
    /// ever takes another matrix for a symmetric one.
    pub is_mirrored: bool,
    /// `||A||_inf`, the largest sum of a row's magnitudes.
    pub norm: f64,
    /// The diagonal, 0 where no entry is stored.
    pub diagonal: Vec<T>,
}

impl<T: Real> Survey<T> {
    /// Reads a matrix once, in order and in parallel, whatever the numbering of its unknowns.
    pub fn of(a: &Csr<T>) -> Self {
        let (mut survey, fingerprint) = Self::of_rows(a, 0);
        survey.diagonal.truncate(a.n_cols());
        survey.is_mirrored = a.n_rows() == a.n_cols() && fingerprint == 0;
        survey
    }

    /// What is found in some rows of a square matrix, of which `first` is the first, and their fingerprint:
    /// if those of all rows add up to 0, modulo 2^64, the matrix is symmetric to the last bit. That is not
    /// said of some rows alone.
    pub(crate) fn of_rows(a: &Csr<T>, first: usize) -> (Self, u64) {
        let keys = [0, 1].map(|k| random::number(0, k));
        let mut diagonal = vec![T::ZERO; a.n_rows()];
        let chunk = |(c, diagonal): (usize, &mut [T])| {
            let row = |(k, d): (usize, &mut T)| of_row(a, c * CHUNK + k, first, d, keys);
            diagonal.iter_mut().enumerate().map(row).fold(Rows::NONE, Rows::with)
        };
        let chunks = diagonal.par_chunks_mut(CHUNK).enumerate();
        let Rows { is_finite, fingerprint, norm } = chunks.map(chunk).reduce(|| Rows::NONE, Rows::with);
        (Survey { is_finite, is_mirrored: false, norm, diagonal }, fingerprint)
    }
}

impl Survey<f64> {
    /// Makes it that of the negative matrix.
    pub(crate) fn negate(&mut self) {
        self.diagonal.par_iter_mut().with_min_len(CHUNK).for_each(|d| *d = -*d);
    }
}

/// What is found in some rows.
struct Rows {
    is_finite: bool,
    /// The hash of the entries above the diagonal less the hash of those below, mirrored.
    fingerprint: u64,
    norm: f64,
}

impl Rows {
    const NONE: Rows = Rows { is_finite: true, fingerprint: 0, norm: 0.0 };

    fn with(self, other: Rows) -> Rows {
        Rows {
            is_finite: self.is_finite && other.is_finite,
            fingerprint: self.fingerprint.wrapping_add(other.fingerprint),
            norm: self.norm.max(other.norm),
        }
    }
}

/// What is found in a row of `a`, whose rows begin with `first` of the matrix. Sets `diagonal`.
fn of_row<T: Real>(a: &Csr<T>, row: usize, first: usize, diagonal: &mut T, keys: [u64; 2]) -> Rows {
    let (columns, values) = a.row(row);
    let (mut is_finite, mut norm, mut sum) = (true, 0.0, 0u64);
    for (&j, &entry) in columns.iter().zip(values) {
        let (i, value) = ((first + row) as u32, entry.to_f64());
        is_finite &= value.is_finite();
        norm += value.abs();
        if i == j {
            *diagonal = entry;
        } else if value != 0.0 {
            let (hash, is_above) = (hash(i.min(j), i.max(j), value, keys), i < j || value.is_nan());
            sum = if is_above { sum.wrapping_add(hash) } else { sum.wrapping_sub(hash) };
        }
    }
    Rows { is_finite, fingerprint: sum, norm }
}

/// The halves of a 128-bit product of two numbers without a pattern. More mixing would take longer than
/// reading.
fn hash(i: u32, j: u32, value: f64, [place_key, value_key]: [u64; 2]) -> u64 {
    let place = (u64::from(i) << 32 | u64::from(j)) ^ place_key;
    let product = u128::from(place) * u128::from(value.to_bits() ^ value_key);
    (product >> 64) as u64 ^ product as u64
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
            assert_eq!(survey.diagonal, a.diagonal());
            assert_eq!(survey.diagonal, [2.0, 0.25, 0.0, 0.0]);
            assert!(!is_finite || survey.norm == 3.5);
        }
        let wide = Csr::from_triplets(2, 3, [(0, 0, 1.0), (1, 1, 2.0)]).unwrap();
        assert_eq!(
            Survey::of(&wide),
            Survey { is_finite: true, is_mirrored: false, norm: 2.0, diagonal: vec![1.0, 2.0] }
        );
    }
}
