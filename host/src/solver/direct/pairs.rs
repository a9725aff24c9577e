//! Pivots of two rows for `L D L^T` of a symmetric matrix whose diagonal is small or zero in places, as
//! saddle points have it (Duff and Pralet 2005). A matching with the largest product of entries falls into
//! cycles; what is next to each other in a cycle becomes a pair.

use super::columns::Columns;
use super::kind::{Kind, has_zeros};
use crate::analysis::ProductMatching;
use crate::matrix::Csr;

/// Unknowns in pairs.
pub struct Pairs {
    /// The partner of each unknown; itself where it has none.
    partner: Vec<u32>,
    /// Factors of rows and columns alike, powers of two, with which the entries of the matching are near 1
    /// and no other is much larger.
    pub scales: Vec<f64>,
}

impl Pairs {
    /// Those for a factorisation that has pivots of two rows, where the diagonal has zeros. Where it has none
    /// blocks of columns have pivots enough, and less fill.
    pub fn for_kind(a: &Csr<f64>, kind: Kind) -> Option<Pairs> {
        if kind == Kind::Ldlt && has_zeros(a) { Pairs::of(a) } else { None }
    }

    /// Those of a symmetric matrix; `None` where the diagonal is best, and where no pivots make the matrix
    /// regular.
    pub fn of(a: &Csr<f64>) -> Option<Pairs> {
        let matching = ProductMatching::of(a);
        let row_of = &matching.row_of;
        if matching.size < a.n_rows() || row_of.iter().enumerate().all(|(j, &i)| i as usize == j) {
            return None;
        }
        Some(Pairs { partner: partners(row_of), scales: matching.symmetric_scales() })
    }

    /// The matrix, in which partners have entries in the same places, some of them 0. Minimum degree then
    /// eliminates them one after the other, in one block of columns, where their pivot is chosen.
    pub fn columns(&self, a: &Csr<f64>) -> Columns {
        Columns::filled(a, |j, places| {
            for k in [j, self.partner[j] as usize] {
                places.extend(a.row(k).0.iter().flat_map(|&i| [i, self.partner[i as usize]]));
            }
        })
    }
}

/// Cycles of `j -> row_of[j]` cut into pairs. In one of odd length the first stays alone.
fn partners(row_of: &[u32]) -> Vec<u32> {
    let mut partner: Vec<u32> = (0..row_of.len() as u32).collect();
    let mut is_done = vec![false; row_of.len()];
    for start in 0..row_of.len() {
        let mut cycle = Vec::new();
        let mut j = start;
        while !is_done[j] {
            is_done[j] = true;
            cycle.push(j as u32);
            j = row_of[j] as usize;
        }
        for pair in cycle[cycle.len() % 2..].chunks_exact(2) {
            (partner[pair[0] as usize], partner[pair[1] as usize]) = (pair[1], pair[0]);
        }
    }
    partner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_become_pairs() {
        // 0 alone, 1 with 2, and 3 -> 4 -> 5 -> 3.
        assert_eq!(partners(&[0, 2, 1, 4, 5, 3]), [0, 2, 1, 3, 5, 4]);
        assert_eq!(partners(&[1, 2, 3, 0]), [1, 0, 3, 2]);
        assert!(partners(&[]).is_empty());
    }

    #[test]
    fn a_zero_diagonal_is_paired_and_a_large_one_is_not() {
        let of = |entries: &[(usize, usize, f64)]| Csr::from_triplets(3, 3, entries.to_vec()).unwrap();
        let saddle = of(&[(0, 0, 1e-6), (0, 2, 3e4), (2, 0, 3e4), (1, 1, 5.0), (1, 2, 1.0), (2, 1, 1.0)]);
        let pairs = Pairs::of(&saddle).unwrap();
        assert_eq!(pairs.partner, [2, 1, 0]);
        let scaled = |i: usize, j: usize| saddle.get(i, j).unwrap() * pairs.scales[i] * pairs.scales[j];
        assert!((0.25..4.0).contains(&scaled(0, 2)) && (0.25..4.0).contains(&scaled(1, 1)));
        // Rows 0 and 2 have entries in the same places, and row 1 where they have one.
        let columns = pairs.columns(&saddle);
        assert_eq!([0, 1, 2].map(|j| columns.rows(j).len()), [3, 3, 3]);
        assert!(
            Pairs::of(&of(&[(0, 0, 2.0), (1, 1, -3.0), (2, 2, 1.0), (0, 1, 1.0), (1, 0, 1.0)])).is_none()
        );
        // Structurally singular.
        assert!(Pairs::of(&of(&[(0, 1, 1.0), (1, 0, 1.0)])).is_none());
    }
}
