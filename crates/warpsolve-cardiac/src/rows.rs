//! The matrices of a step as a rank assembles them, and their rows: which belongs to which cell, which is
//! held.

use std::borrow::Cow;

use super::domain::Domain;
use super::params::Params;
use warpsolve_host::error::Result;
use warpsolve_host::fem::P1;
use warpsolve_host::matrix::Csr;

/// What each node has that a rank assembles for.
pub(super) struct Rows {
    /// The cell of each node, if it has one.
    pub cells: Vec<Option<u32>>,
    /// Whether phi is held at 0.
    pub grounded: Vec<bool>,
    /// The node of each cell; `None` where every node has one.
    nodes: Option<Vec<u32>>,
}

impl Rows {
    pub fn new<const C: usize>(domain: &Domain<C>) -> Self {
        let nodes = domain.cell_nodes().map(<[u32]>::to_vec);
        let n = domain.nodes() as u32;
        let cells = match &nodes {
            None => (0..n).map(Some).collect(),
            Some(nodes) => {
                let mut cells = vec![None; n as usize];
                nodes.iter().zip(0..).for_each(|(&node, cell)| cells[node as usize] = Some(cell));
                cells
            }
        };
        Rows { cells, grounded: domain.places().grounded.clone(), nodes }
    }

    /// Nodes.
    pub fn nodes(&self) -> usize {
        self.cells.len()
    }

    /// Cells.
    fn count(&self) -> usize {
        self.nodes.as_ref().map_or(self.nodes(), Vec::len)
    }

    /// The node of a cell.
    pub fn node(&self, cell: usize) -> usize {
        self.nodes.as_ref().map_or(cell, |nodes| nodes[cell] as usize)
    }

    /// The cell whose current goes into the row of a node's phi: none into a ground.
    pub fn current_of(&self, node: usize) -> Option<u32> {
        self.cells[node].filter(|_| !self.grounded[node])
    }

    /// A matrix of the cells in the rows and columns of their nodes.
    pub fn spread<'a>(&self, a: &'a Csr<f64>) -> Cow<'a, Csr<f64>> {
        let Some(nodes) = &self.nodes else { return Cow::Borrowed(a) };
        let mut row_ptr = vec![0];
        for cell in &self.cells {
            row_ptr.push(row_ptr[row_ptr.len() - 1] + cell.map_or(0, |cell| a.row_len(cell as usize)));
        }
        // Cells come in the order of their nodes, so that columns stay sorted.
        let columns = a.col_idx().iter().map(|&cell| nodes[cell as usize]).collect();
        let spread = Csr::new(self.nodes(), self.nodes(), row_ptr, columns, a.values().to_vec());
        Cow::Owned(spread.expect("rows and columns of a matrix, in the same order"))
    }

    /// The matrix of `n` rows that copies the value of a cell to each, or 0.
    pub fn selection(&self, n: usize, cell: impl Fn(usize) -> Option<u32>) -> Result<Csr<f64>> {
        let (mut row_ptr, mut columns) = (vec![0], Vec::new());
        for row in 0..n {
            columns.extend(cell(row));
            row_ptr.push(columns.len());
        }
        let values = vec![1.0; columns.len()];
        Csr::new(n, self.count(), row_ptr, columns, values)
    }

    /// The matrix of `unknowns` columns a node whose row for each cell has the entries that `of` says for its
    /// node.
    pub fn of_cells<const N: usize>(
        &self,
        unknowns: usize,
        of: impl Fn(usize) -> [(usize, f64); N],
    ) -> Result<Csr<f64>> {
        let cells = self.count();
        let entries = (0..cells).flat_map(|cell| of(self.node(cell)));
        let (columns, values) = entries.map(|(column, value)| (column as u32, value)).unzip();
        Csr::new(cells, unknowns * self.nodes(), (0..=cells).map(|row| N * row).collect(), columns, values)
    }
}

/// The mass matrix. `lumped`, it has its row sums on the diagonal, in the same pattern.
pub(super) fn mass<const C: usize>(space: &P1<C>, lumped: bool) -> Csr<f64> {
    let mut mass = space.mass();
    if lumped {
        let sums = space.lumped_mass();
        let (row_ptr, col_idx, values) = mass.parts_mut();
        for (i, sum) in sums.into_iter().enumerate() {
            for k in row_ptr[i]..row_ptr[i + 1] {
                values[k] = if col_idx[k] as usize == i { sum } else { 0.0 };
            }
        }
    }
    mass
}

/// kappa M + theta K.
pub(super) fn step_matrix(mass: &Csr<f64>, k: &Csr<f64>, params: &Params) -> Csr<f64> {
    let (kappa, theta) = (params.kappa(), params.theta);
    let mut a = k.clone();
    a.values_mut().iter_mut().zip(mass.values()).for_each(|(a, m)| *a = kappa * m + theta * *a);
    a
}

/// Takes unknowns that are held at 0 out of a symmetric matrix, but for their diagonal entries: they stay 0
/// where the right-hand side is.
pub(super) fn hold(a: &mut Csr<f64>, is_held: impl Fn(usize) -> bool) {
    let (row_ptr, col_idx, values) = a.parts_mut();
    for row in 0..row_ptr.len() - 1 {
        for k in row_ptr[row]..row_ptr[row + 1] {
            let column = col_idx[k] as usize;
            if column != row && (is_held(row) || is_held(column)) {
                values[k] = 0.0;
            }
        }
    }
}
