//! Matrices of constant stencils on boxes of points that are surrounded by zeros.

use crate::matrix::Csr;

/// The coupling to the neighbour at an offset.
pub(super) type Coupling = ([i64; 3], f64);

/// The matrix of a stencil on `n[0] * n[1] * n[2]` points, the last coordinate fastest. Neighbours
/// outside the box are zero (Dirichlet) and dropped. `stencil` is sorted by offset.
pub(super) fn assemble(n: [usize; 3], stencil: &[Coupling]) -> Csr<f64> {
    let rows = n[0] * n[1] * n[2];
    let neighbours = |row: usize| {
        let at = [row / (n[1] * n[2]), row / n[2] % n[1], row % n[2]];
        stencil.iter().filter_map(move |&(offset, coupling)| {
            let mut column = 0;
            for axis in 0..3 {
                let x = at[axis].checked_add_signed(offset[axis] as isize).filter(|&x| x < n[axis])?;
                column = column * n[axis] + x;
            }
            Some((column as u32, coupling))
        })
    };
    Csr::from_rows(
        rows,
        rows,
        |row| neighbours(row).count(),
        |row, columns, values| {
            for (k, (column, coupling)) in neighbours(row).enumerate() {
                (columns[k], values[k]) = (column, coupling);
            }
        },
    )
}

/// Couplings of a five-point stencil to (i, j), (i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1).
pub(super) fn five_point(centre: f64, west: f64, east: f64, south: f64, north: f64) -> [Coupling; 5] {
    [([0, -1, 0], west), ([0, 0, -1], south), ([0, 0, 0], centre), ([0, 0, 1], north), ([0, 1, 0], east)]
}
