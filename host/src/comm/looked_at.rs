//! Which columns some rows have.

use super::runs::NOWHERE;

/// A number for each column that some rows have, [`NOWHERE`] for others, looked up at once. It is as long as
/// those columns are apart.
pub(crate) struct LookedAt {
    first: u32,
    numbers: Vec<u32>,
}

impl LookedAt {
    /// The columns of these rows, in which they ascend; `number` is asked for each of them, in ascending
    /// order.
    pub fn by<'a>(
        rows: impl Iterator<Item = &'a [u32]> + Clone,
        mut number: impl FnMut(u32) -> u32,
    ) -> LookedAt {
        let first = rows.clone().filter_map(|columns| columns.first()).min().copied().unwrap_or(0);
        let behind = rows.clone().filter_map(|columns| columns.last()).max().map_or(first, |last| last + 1);
        let mut numbers = vec![0; (behind - first) as usize];
        rows.for_each(|columns| columns.iter().for_each(|&j| numbers[(j - first) as usize] = 1));
        for (j, place) in (first..behind).zip(&mut numbers) {
            *place = if *place == 1 { number(j) } else { NOWHERE };
        }
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
        let mut asked = Vec::new();
        let found = LookedAt::by(rows.into_iter(), |j| {
            asked.push(j);
            asked.len() as u32
        });
        assert_eq!(asked, [5, 7, 9, 12]);
        assert_eq!([5, 6, 7, 9, 10, 12].map(|j| found.number(j)), [1, NOWHERE, 2, 3, NOWHERE, 4]);
        LookedAt::by(std::iter::empty(), |_| unreachable!("no column"));
    }
}
