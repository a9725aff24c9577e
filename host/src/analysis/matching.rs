//! Maximum matchings of rows and columns, and what they prove of a matrix: without one of all rows no numbers
//! in these places make it regular.

use std::collections::VecDeque;

use serde::Serialize;

use crate::matrix::Csr;

/// No row, or no column.
const NONE: u32 = u32::MAX;

/// Rows and columns paired, each in one pair at most, as many as can be.
#[derive(Debug, Clone, PartialEq)]
pub struct Matching {
    /// The column of each row; `u32::MAX` for none.
    column_of: Vec<u32>,
    /// The row of each column.
    row_of: Vec<u32>,
}

/// Why a matrix is singular whatever its numbers are: `rows` have entries in fewer `columns` than they are,
/// and there may be a column without entries. Counted from 0, ascending.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Deficiency {
    /// The rows.
    pub rows: Vec<usize>,
    /// All columns in which they have entries.
    pub columns: Vec<usize>,
    /// The first column without entries.
    pub empty_column: Option<usize>,
}

impl Matching {
    /// A maximum matching by Hopcroft and Karp (1973), over entries that are not 0. The diagonal is taken
    /// first, so that a matrix without zeros there costs one pass.
    pub fn of(a: &Csr<f64>) -> Matching {
        let mut matching = Matching { column_of: vec![NONE; a.n_rows()], row_of: vec![NONE; a.n_cols()] };
        for i in 0..a.n_rows().min(a.n_cols()) {
            if a.get(i, i).is_some_and(|v| v != 0.0) {
                matching.pair(i, i);
            }
        }
        for i in 0..a.n_rows() {
            let is_free = |j: &u32| matching.row_of[*j as usize] == NONE;
            if matching.column_of[i] == NONE
                && let Some(j) = entries(a, i).find(is_free)
            {
                matching.pair(i, j as usize);
            }
        }
        while matching.augment(a) {}
        matching
    }

    /// Pairs made.
    pub fn size(&self) -> usize {
        self.column_of.iter().filter(|column| **column != NONE).count()
    }

    /// The pairs, rows ascending.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let pairs = self.column_of.iter().enumerate().filter(|(_, column)| **column != NONE);
        pairs.map(|(row, &column)| (row, column as usize))
    }

    /// The row of each column, for a square matrix; what is in no pair is paired as it comes.
    pub fn completed(&self) -> Vec<u32> {
        let mut free = self.free_rows().into_iter().map(|row| row as u32);
        let row = |&row: &u32| if row == NONE { free.next().unwrap_or(NONE) } else { row };
        self.row_of.iter().map(row).collect()
    }

    /// Rows in no pair.
    pub fn free_rows(&self) -> Vec<usize> {
        free(&self.column_of)
    }

    /// Columns in no pair.
    pub fn free_columns(&self) -> Vec<usize> {
        free(&self.row_of)
    }

    fn pair(&mut self, i: usize, j: usize) {
        (self.column_of[i], self.row_of[j]) = (j as u32, i as u32);
    }

    /// Augments along a largest set of shortest disjoint paths; `false` where there is none.
    fn augment(&mut self, a: &Csr<f64>) -> bool {
        // The distance of each row from the free ones, along alternating paths.
        let mut distance = vec![NONE; a.n_rows()];
        let mut queue: VecDeque<usize> = self.free_rows().into();
        queue.iter().for_each(|&i| distance[i] = 0);
        let mut ends = false;
        while let Some(i) = queue.pop_front() {
            for j in entries(a, i) {
                match self.row_of[j as usize] {
                    NONE => ends = true,
                    next if distance[next as usize] == NONE => {
                        distance[next as usize] = distance[i] + 1;
                        queue.push_back(next as usize);
                    }
                    _ => {}
                }
            }
        }
        if ends {
            let mut next: Vec<usize> = a.row_ptr()[..a.n_rows()].to_vec();
            for i in self.free_rows() {
                self.search(a, i, &mut distance, &mut next);
            }
        }
        ends
    }

    /// Follows a path from row `root` to a free column, depth first, and turns its pairs over. A row is
    /// looked at once: `next` is the place of its first entry that has not been tried.
    fn search(&mut self, a: &Csr<f64>, root: usize, distance: &mut [u32], next: &mut [usize]) {
        let mut path = vec![root];
        while let Some(&i) = path.last() {
            let place = next[i];
            if place == a.row_ptr()[i + 1] {
                path.pop();
                continue;
            }
            next[i] += 1;
            if a.values()[place] == 0.0 {
                continue;
            }
            let j = a.col_idx()[place] as usize;
            match self.row_of[j] {
                NONE => {
                    for &row in path.iter().rev() {
                        let j = a.col_idx()[next[row] - 1] as usize;
                        self.pair(row, j);
                        distance[row] = NONE;
                    }
                    return;
                }
                row if distance[row as usize] == distance[i].wrapping_add(1) => path.push(row as usize),
                _ => {}
            }
        }
    }

    /// Where there is a free row: the rows on alternating paths from the first of them, whose columns are all
    /// matched among them (Hall 1935).
    pub fn deficiency(&self, a: &Csr<f64>) -> Option<Deficiency> {
        let first = *self.free_rows().first()?;
        let (rows, columns) = self.reached(a, vec![first]);
        Some(Deficiency { rows, columns, empty_column: self.empty_column(a) })
    }

    /// The rows that are more than all columns in which they have entries, and these columns: what
    /// alternating paths reach from free rows (Dulmage and Mendelsohn 1958). Empty where all rows are
    /// matched.
    pub fn overdetermined(&self, a: &Csr<f64>) -> (Vec<usize>, Vec<usize>) {
        self.reached(a, self.free_rows())
    }

    /// The rows on alternating paths from free ones, and the columns, ascending.
    fn reached(&self, a: &Csr<f64>, mut rows: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        let mut columns = Vec::new();
        let mut is_seen = vec![false; a.n_cols()];
        let mut k = 0;
        while k < rows.len() {
            for j in entries(a, rows[k]) {
                if !is_seen[j as usize] {
                    is_seen[j as usize] = true;
                    columns.push(j as usize);
                    rows.push(self.row_of[j as usize] as usize);
                }
            }
            k += 1;
        }
        rows.sort_unstable();
        columns.sort_unstable();
        (rows, columns)
    }

    fn empty_column(&self, a: &Csr<f64>) -> Option<usize> {
        let mut is_empty = vec![true; a.n_cols()];
        (0..a.n_rows()).flat_map(|i| entries(a, i)).for_each(|j| is_empty[j as usize] = false);
        self.free_columns().into_iter().find(|&j| is_empty[j])
    }
}

/// The columns of a row's entries that are not 0.
fn entries(a: &Csr<f64>, i: usize) -> impl Iterator<Item = u32> {
    a.row(i).0.iter().zip(a.row(i).1).filter(|(_, v)| **v != 0.0).map(|(&j, _)| j)
}

fn free(partner_of: &[u32]) -> Vec<usize> {
    (0..partner_of.len()).filter(|&k| partner_of[k] == NONE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::random::{permutation, uniform};

    fn pattern(n: usize, has: impl Fn(usize, usize) -> bool) -> Csr<f64> {
        let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        Csr::from_triplets(n, n, entries.filter(|&(i, j)| has(i, j)).map(|(i, j)| (i, j, 1.5))).unwrap()
    }

    #[test]
    fn a_hidden_transversal_is_found() {
        for seed in 0..20 {
            let n = 37;
            let hidden = permutation(n as u32, seed);
            let a = pattern(n, |i, j| hidden[i] as usize == j || uniform(seed, (n * i + j) as u64) < 0.03);
            let matching = Matching::of(&a);
            assert_eq!(matching.size(), n);
            assert!(matching.pairs().all(|(i, j)| a.get(i, j).is_some()));
            assert_eq!(matching.deficiency(&a), None);
        }
    }

    #[test]
    fn too_few_columns_are_named() {
        // Rows 3, 8 and 11 have entries in columns 2 and 5 alone.
        let n = 15;
        let narrow = [3, 8, 11];
        let a = pattern(n, |i, j| match narrow.contains(&i) {
            true => j == 2 || j == 5,
            false => i == j || (i + 1) % n == j,
        });
        let matching = Matching::of(&a);
        assert_eq!(matching.size(), n - 1);
        let found = matching.deficiency(&a).unwrap();
        assert!(found.rows.len() > found.columns.len(), "{found:?}");
        for &i in &found.rows {
            assert!(a.row(i).0.iter().all(|&j| found.columns.contains(&(j as usize))));
        }
        // An entry that is 0 is none.
        let zero = Csr::from_triplets(2, 2, [(0, 0, 1.0), (1, 1, 0.0), (1, 0, 2.0)]).unwrap();
        let matching = Matching::of(&zero);
        assert_eq!((matching.size(), matching.free_columns()), (1, vec![1]));
        let found = matching.deficiency(&zero).unwrap();
        assert_eq!((found.columns, found.empty_column), (vec![0], Some(1)));
        // Two chains of an odd number of unknowns: of each the rows 0, 2, 4 have columns 1 and 3.
        let chains = pattern(10, |i, j| i.abs_diff(j) == 1 && i.max(j) != 5);
        let found = Matching::of(&chains).overdetermined(&chains);
        assert_eq!(found, (vec![0, 2, 4, 5, 7, 9], vec![1, 3, 6, 8]));
        let regular = pattern(6, |i, j| i.abs_diff(j) == 1);
        assert_eq!(Matching::of(&regular).overdetermined(&regular), (vec![], vec![]));
    }
}
