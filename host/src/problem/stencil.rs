//! Matrices of constant stencils on boxes of points that are surrounded by zeros.

use super::by_row::ByRow;

/// The coupling to the neighbour at an offset.
pub(super) type Coupling = ([i64; 3], f64);

/// The matrix of a stencil on `n[0] * n[1] * n[2]` points, the last coordinate fastest. Neighbours
/// outside the box are zero (Dirichlet) and dropped. `stencil` is sorted by offset.
pub(super) struct Stencil {
    n: [usize; 3],
    couplings: Vec<Coupling>,
}

impl Stencil {
    pub fn new(n: [usize; 3], stencil: &[Coupling]) -> Stencil {
        Stencil { n, couplings: stencil.to_vec() }
    }

    fn neighbours(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let n = self.n;
        let at = [row / (n[1] * n[2]), row / n[2] % n[1], row % n[2]];
        self.couplings.iter().filter_map(move |&(offset, coupling)| {
            let mut column = 0;
            for axis in 0..3 {
                let x = at[axis].checked_add_signed(offset[axis] as isize).filter(|&x| x < n[axis])?;
                column = column * n[axis] + x;
            }
            Some((column as u32, coupling))
        })
    }
}

impl ByRow for Stencil {
    fn n_rows(&self) -> usize {
        self.n.iter().product()
    }
    fn length(&self, row: usize) -> usize {
        self.neighbours(row).count()
    }
    fn fill(&self, row: usize, columns: &mut [u32], values: &mut [f64]) {
        for (k, (column, coupling)) in self.neighbours(row).enumerate() {
            (columns[k], values[k]) = (column, coupling);
        }
    }
}

/// Couplings of a five-point stencil to (i, j), (i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1).
pub(super) fn five_point(centre: f64, west: f64, east: f64, south: f64, north: f64) -> [Coupling; 5] {
    [([0, -1, 0], west), ([0, 0, -1], south), ([0, 0, 0], centre), ([0, 0, 1], north), ([0, 1, 0], east)]
}
