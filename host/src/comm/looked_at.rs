//! Which columns some rows have.

use std::sync::atomic::{AtomicBool, Ordering};

use cuda_std::Real;

use super::runs::{NOWHERE, Runs};
use crate::matrix::Csr;
use crate::parallel::*;

/// Rows that a thread looks at, at least: fewer take less time than to wake it.
const LEAST_ROWS: usize = 8192;

/// The columns that have entries, ascending.
pub(crate) fn columns_with_entries<T: Real>(a: &Csr<T>) -> Runs {
    let rows = || (0..a.n_rows()).into_par_iter().with_min_len(LEAST_ROWS).map(|i| a.row(i).0);
    let ends = |columns: &[u32]| match columns {
        [] => (u32::MAX, 0),
        [first, ..] => (*first, columns[columns.len() - 1] + 1),
    };
    let both = |(a, b): (u32, u32), (c, d)| (a.min(c), b.max(d));
    let (first, behind) = rows().map(ends).reduce(|| (u32::MAX, 0), both);
    let has_entries: Vec<AtomicBool> = (first..behind).map(|_| AtomicBool::new(false)).collect();
    let mark = |&j: &u32| has_entries[(j - first) as usize].store(true, Ordering::Relaxed);
    rows().for_each(|columns| columns.iter().for_each(mark));
    let marked =
        (first..behind).zip(has_entries).filter(|(_, has_entries)| has_entries.load(Ordering::Relaxed));
    marked.map(|(j, _)| j).collect()
}

/// A number for each of some columns, [`NOWHERE`] for others, looked up at once. It is as long as those
/// columns are apart.
pub(crate) struct LookedAt {
    first: u32,
    numbers: Vec<u32>,
}

impl LookedAt {
    /// Where each of these columns, of which none is there twice, is among them.
    pub fn among(columns: &[u32]) -> LookedAt {
        let first = columns.iter().copied().min().unwrap_or(0);
        let behind = columns.iter().max().map_or(0, |last| last + 1);
        let mut numbers = vec![NOWHERE; (behind - first) as usize];
        columns.iter().zip(0..).for_each(|(&j, place)| numbers[(j - first) as usize] = place);
        LookedAt { first, numbers }
    }

    /// The number of one of them.
    #[inline]
    pub fn number(&self, column: u32) -> u32 {
        self.numbers[(column - self.first) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_rows_have() {
        let rows: [&[u32]; 4] = [&[7, 9, 12], &[], &[5, 7], &[12]];
        let fill = |i: usize, columns: &mut [u32], _: &mut [f64]| columns.copy_from_slice(rows[i]);
        let a = Csr::from_rows(rows.len(), 20, |i| rows[i].len(), fill);
        assert!(columns_with_entries(&a).iter().eq([5, 7, 9, 12]));
        assert!(columns_with_entries(&Csr::<f64>::from_rows(3, 5, |_| 0, |_, _, _| ())).is_empty());
    }

    #[test]
    fn columns_are_looked_up() {
        let found = LookedAt::among(&[8, 5, 11]);
        assert_eq!([5, 6, 8, 11].map(|j| found.number(j)), [1, NOWHERE, 0, 2]);
        LookedAt::among(&[]);
    }
}
