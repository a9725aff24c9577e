//! How well the numbering of the unknowns serves a product with the matrix.

use crate::parallel::*;

use crate::matrix::Csr;

/// Rows that are multiplied about at the same time: a warp's.
const ROWS: usize = 32;
/// Elements of x in a cache line of 64 bytes.
const LINE: u32 = 8;
/// Pieces of a large matrix that are looked at.
const PIECES: usize = 512;

/// Cache lines of x that 32 rows in turn need for each of their entries: about 1 where unknowns are numbered
/// at random, a fraction where neighbours have near numbers.
pub(crate) fn lines_per_entry(a: &Csr<f64>) -> f64 {
    let pieces = a.n_rows().div_ceil(ROWS);
    let step = pieces.div_ceil(PIECES).max(1);
    let look = |piece: usize| {
        let rows = piece * step * ROWS..((piece * step + 1) * ROWS).min(a.n_rows());
        let entries = a.row_ptr()[rows.end] - a.row_ptr()[rows.start];
        let mut lines: Vec<u32> = rows.flat_map(|i| a.row(i).0).map(|j| j / LINE).collect();
        lines.sort_unstable();
        lines.dedup();
        (lines.len(), entries)
    };
    let looked = (0..pieces.div_ceil(step)).into_par_iter().map(look);
    let (lines, entries) = looked.reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    lines as f64 / entries.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{generate, shuffle};

    #[test]
    fn a_numbering_at_random_asks_for_a_line_with_every_entry() {
        let a = generate(&"poisson3d:20".parse().unwrap(), 1).unwrap();
        let shuffled = shuffle(&a, 1, 3).unwrap();
        assert!(lines_per_entry(&a) < 0.25, "{}", lines_per_entry(&a));
        assert!(lines_per_entry(&shuffled) > 0.6, "{}", lines_per_entry(&shuffled));
        assert_eq!(lines_per_entry(&Csr::from_triplets(0, 0, []).unwrap()), 0.0);
    }
}
