//! Where the factors have entries, by levels of fill (Saad 2003, section 10.3.3).

use crate::matrix::Csr;

/// Not in the row.
const NONE: u32 = u32::MAX;

/// `a` with its diagonal and the entries of up to `fill` levels, which are 0 where A has none.
///
/// An entry of A has level 0; one that the elimination of unknown k makes in row i and column j has level
/// `level_ik + level_kj + 1`.
pub(super) fn with_fill(a: Csr<f64>, fill: u32) -> Csr<f64> {
    let n = a.n_rows();
    if fill == 0 && (0..n).all(|i| a.get(i, i).is_some()) {
        return a;
    }
    let (mut row_ptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    // Levels of the rows above, right of their diagonals; a list of them for each row.
    let mut levels: Vec<u32> = Vec::new();
    let mut upper: Vec<std::ops::Range<usize>> = Vec::with_capacity(n);
    let mut row = SortedRow::new(n);
    for i in 0..n {
        row.clear();
        row.insert_all(a.row(i).0.iter().map(|&j| (j, 0)));
        row.insert(i as u32, 0, row.before(i as u32));
        let mut at = row.first();
        while fill > 0 && (at as usize) < i {
            let level = row.level[at as usize];
            let mut after = at;
            for k in upper[at as usize].clone() {
                let (j, level) = (columns[k], level + levels[k] + 1);
                if level <= fill {
                    after = row.insert(j, level, after);
                }
            }
            at = row.next(at);
        }
        let (a_columns, a_values) = a.row(i);
        let mut entries = a_columns.iter().zip(a_values).peekable();
        let start = columns.len();
        for j in row.columns() {
            columns.push(j);
            levels.push(row.level[j as usize]);
            values.push(entries.next_if(|entry| *entry.0 == j).map_or(0.0, |entry| *entry.1));
        }
        let diagonal = start + columns[start..].partition_point(|&j| (j as usize) < i);
        upper.push(diagonal + 1..columns.len());
        row_ptr.push(columns.len());
    }
    Csr::from_valid_parts(n, n, row_ptr, columns, values)
}

/// The columns of a row, ascending, as a list that can be inserted into.
struct SortedRow {
    /// The column after each, and after `n`, which is the head.
    next: Vec<u32>,
    /// The level of each, `NONE` where it is not in the row.
    level: Vec<u32>,
}

impl SortedRow {
    fn new(n: usize) -> Self {
        SortedRow { next: vec![NONE; n + 1], level: vec![NONE; n] }
    }

    fn head(&self) -> u32 {
        self.level.len() as u32
    }

    fn first(&self) -> u32 {
        self.next[self.level.len()]
    }

    fn next(&self, at: u32) -> u32 {
        self.next[at as usize]
    }

    fn columns(&self) -> impl Iterator<Item = u32> {
        let in_row = |at: u32| Some(at).filter(|&at| at != NONE);
        std::iter::successors(in_row(self.first()), move |&at| in_row(self.next(at)))
    }

    fn clear(&mut self) {
        let mut at = self.first();
        while at != NONE {
            self.level[at as usize] = NONE;
            at = self.next(at);
        }
        let head = self.head() as usize;
        self.next[head] = NONE;
    }

    /// The last column before `j`, or the head.
    fn before(&self, j: u32) -> u32 {
        let mut at = self.head();
        while self.next(at) < j {
            at = self.next(at);
        }
        at
    }

    /// Puts column j in, behind `after`, which is the head or a column below j; or lowers its level. Returns
    /// its place, from which larger ones are found.
    fn insert(&mut self, j: u32, level: u32, after: u32) -> u32 {
        if self.level[j as usize] != NONE {
            let old = &mut self.level[j as usize];
            *old = level.min(*old);
            return j;
        }
        let mut at = after;
        while self.next(at) < j {
            at = self.next(at);
        }
        self.next[j as usize] = self.next(at);
        self.next[at as usize] = j;
        self.level[j as usize] = level;
        j
    }

    /// Puts ascending columns into an empty row.
    fn insert_all(&mut self, columns: impl Iterator<Item = (u32, u32)>) {
        let mut at = self.head();
        for (j, level) in columns {
            at = self.insert(j, level, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::generate;

    #[test]
    fn levels_grow_into_the_profile() {
        // A 5-point stencil of 3 x 3: level 1 adds one diagonal, level 2 a second.
        let a = &generate(&"poisson2d:3".parse().unwrap(), 0).unwrap();
        assert_eq!(with_fill(a.clone(), 0).col_idx(), a.col_idx());
        let first = with_fill(a.clone(), 1);
        assert_eq!(first.row(3).0, [0, 1, 3, 4, 6]);
        assert_eq!(first.row(1).0, [0, 1, 2, 3, 4]);
        // Enough levels are all of the factors: a band.
        let all = with_fill(a.clone(), 9);
        assert_eq!(all.row(6).0, [3, 4, 5, 6, 7, 8]);
        // Values are A's, and zeros.
        for i in 0..9 {
            let (columns, values) = all.row(i);
            for (&j, &v) in columns.iter().zip(values) {
                assert_eq!(v, a.get(i, j as usize).unwrap_or(0.0));
            }
        }
    }

    #[test]
    fn a_missing_diagonal_is_put_in() {
        let a = Csr::from_triplets(3, 3, [(0, 1, 2.0), (1, 0, 3.0), (2, 1, 0.5)]).unwrap();
        let whole = with_fill(a, 0);
        assert_eq!(whole.row(0), (&[0u32, 1][..], &[0.0, 2.0][..]));
        assert_eq!(whole.row(2), (&[1u32, 2][..], &[0.5, 0.0][..]));
    }
}
