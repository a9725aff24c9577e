//! Which columns some rows have.

use std::sync::atomic::{AtomicU32, Ordering};

use cuda_std::Real;

use super::runs::NOWHERE;
use crate::matrix::Csr;
use crate::parallel::*;

/// Rows that a thread looks at, at least: fewer take less time than to wake it.
const LEAST_ROWS: usize = 8192;

/// A number for each column that some rows have, [`NOWHERE`] for others, looked up at once. It is as long as
/// those columns are apart.
pub(crate) struct LookedAt {
    first: u32,
    numbers: Vec<u32>,
}

impl LookedAt {
    /// The columns of a matrix, or of some of its rows; `number` is asked for each of them, in ascending
    /// order.
    pub fn by<T: Real>(a: &Csr<T>, mut number: impl FnMut(u32) -> u32) -> LookedAt {
        let rows = || (0..a.n_rows()).into_par_iter().with_min_len(LEAST_ROWS).map(|i| a.row(i).0);
        let ends = |columns: &[u32]| match columns {
            [] => (u32::MAX, 0),
            [first, ..] => (*first, columns[columns.len() - 1] + 1),
        };
        let both = |(a, b): (u32, u32), (c, d)| (a.min(c), b.max(d));
        let (first, behind) = rows().map(ends).reduce(|| (u32::MAX, 0), both);
        let numbers: Vec<AtomicU32> = (first..behind).map(|_| AtomicU32::new(NOWHERE)).collect();
        let mark = |&j: &u32| numbers[(j - first) as usize].store(0, Ordering::Relaxed);
        rows().for_each(|columns| columns.iter().for_each(mark));
        let mut numbers: Vec<u32> = numbers.into_iter().map(AtomicU32::into_inner).collect();
        for (j, place) in (first..behind).zip(&mut numbers).filter(|(_, place)| **place == 0) {
            *place = number(j);
        }
        LookedAt { first, numbers }
    }

    /// Where each of these columns, of which none is there twice, is among them.
    pub fn among(columns: &[u32]) -> LookedAt {
        let first = columns.iter().copied().min().unwrap_or(0);
        let behind = columns.iter().max().map_or(0, |last| last + 1);
        let mut numbers = vec![NOWHERE; (behind - first) as usize];
        columns.iter().zip(0..).for_each(|(&j, place)| numbers[(j - first) as usize] = place);
        LookedAt { first, numbers }
    }

    /// The number of a column of these rows.
    #[inline]
    pub fn number(&self, column: u32) -> u32 {
        self.numbers[(column - self.first) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_asked_for_once() {
        let rows: [&[u32]; 4] = [&[7, 9, 12], &[], &[5, 7], &[12]];
        let fill = |i: usize, columns: &mut [u32], _: &mut [f64]| columns.copy_from_slice(rows[i]);
        let a = Csr::from_rows(rows.len(), 20, |i| rows[i].len(), fill);
        let mut asked = Vec::new();
        let found = LookedAt::by(&a, |j| {
            asked.push(j);
            asked.len() as u32
        });
        assert_eq!(asked, [5, 7, 9, 12]);
        assert_eq!([5, 6, 7, 9, 10, 12].map(|j| found.number(j)), [1, NOWHERE, 2, 3, NOWHERE, 4]);
        LookedAt::by(&Csr::<f64>::identity(0), |_| unreachable!("no column"));
        let found = LookedAt::among(&[8, 5, 11]);
        assert_eq!([5, 6, 8, 11].map(|j| found.number(j)), [1, NOWHERE, 0, 2]);
        LookedAt::among(&[]);
    }
}
