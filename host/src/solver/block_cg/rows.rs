//! Passes over some rows of a block on the host, in vector registers.

use arithmetic::block_cg::MOST;
use cuda_std::Real;

use crate::vectors::in_widest_vectors;

/// A small matrix, by columns.
pub type Small<T> = [[T; MOST]; MOST];

/// Rows whose elements are in registers at once.
const LANES: usize = 8;
/// Columns that share the reading of another one.
const SHARING: usize = 4;

in_widest_vectors! {
    /// The upper triangle of `X^T D Y` for a chunk of rows; what is below it is left over.
    pub fn products_of_rows<T: Real>(x: &[&[T]], d: Option<&[T]>, y: &[&[T]]) -> Small<T> {
        // So few that a block of them stays in the first cache.
        const ROWS: usize = 256;
        let n = x.first().map_or(0, |column| column.len());
        let mut small = [[T::ZERO; MOST]; MOST];
        for begin in (0..n).step_by(ROWS) {
            let end = (begin + ROWS).min(n);
            for (j, y) in y.iter().enumerate() {
                for first in (0..=j).step_by(SHARING) {
                    let mut sums = [[T::ZERO; LANES]; SHARING];
                    for row in (begin..end).step_by(LANES) {
                        let mut of_y = lanes(y, row, end);
                        if let Some(d) = d {
                            let factors = lanes(d, row, end);
                            for l in 0..LANES {
                                of_y[l] *= factors[l];
                            }
                        }
                        for (q, sums) in sums.iter_mut().enumerate() {
                            let of_x = lanes(x[(first + q).min(j)], row, end);
                            for l in 0..LANES {
                                sums[l] += of_x[l] * of_y[l];
                            }
                        }
                    }
                    for (q, sums) in sums.into_iter().enumerate().take(j + 1 - first) {
                        small[j][first + q] += sums.into_iter().sum::<T>();
                    }
                }
            }
        }
        small
    }
}

in_widest_vectors! {
    /// `Y = D X A + Y B` for a chunk of rows; `D = I` and `B = I` for `None`.
    pub fn combine_rows<T: Real>(
        d: Option<&[T]>,
        x: Option<(&[&[T]], &Small<T>)>,
        y: &mut [&mut [T]],
        b: Option<&Small<T>>,
    ) {
        let n = y.first().map_or(0, |column| column.len());
        let mut before = [[T::ZERO; LANES]; MOST];
        for row in (0..n).step_by(LANES) {
            for (before, column) in before.iter_mut().zip(&*y) {
                *before = lanes(column, row, n);
            }
            for (j, column) in y.iter_mut().enumerate() {
                let mut sums = if b.is_some() { [T::ZERO; LANES] } else { before[j] };
                if let Some(b) = b {
                    for (factor, of_y) in b[j].into_iter().zip(&before) {
                        for l in 0..LANES {
                            sums[l] += factor * of_y[l];
                        }
                    }
                }
                if let Some((x, a)) = x {
                    let mut added = [T::ZERO; LANES];
                    for (factor, column) in a[j].into_iter().zip(x) {
                        let of_x = lanes(column, row, n);
                        for l in 0..LANES {
                            added[l] += factor * of_x[l];
                        }
                    }
                    let factors = d.map_or([T::ONE; LANES], |d| lanes(d, row, n));
                    for l in 0..LANES {
                        sums[l] += factors[l] * added[l];
                    }
                }
                let to = &mut column[row..n.min(row + LANES)];
                let count = to.len();
                to.copy_from_slice(&sums[..count]);
            }
        }
    }
}

/// The elements from `row` on, and zeros from `end` on.
#[inline(always)]
fn lanes<T: Real>(column: &[T], row: usize, end: usize) -> [T; LANES] {
    match column[row..end].first_chunk() {
        Some(lanes) => *lanes,
        None => {
            let mut lanes = [T::ZERO; LANES];
            lanes.iter_mut().zip(&column[row..end]).for_each(|(lane, v)| *lane = *v);
            lanes
        }
    }
}
