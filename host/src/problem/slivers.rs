//! What slivers, nearly flat elements of a mesh, add to a stiffness matrix.

use crate::error::Result;
use crate::matrix::{Coo, Csr};

/// `A + sum_e c w_e w_e^T` over the `elements` (corners, w). Each term is what a nearly flat tetrahedron of a
/// mesh adds to its stiffness matrix.
///
/// # Errors
/// [`crate::Error::Matrix`] for a corner beyond the rows.
pub fn with_slivers(a: &Csr<f64>, elements: &[([usize; 4], [f64; 4])], c: f64) -> Result<Csr<f64>> {
    let entries = a.nnz() + 16 * elements.len();
    let (mut rows, mut columns) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    let mut values = Vec::with_capacity(entries);
    let mut push = |i: usize, j: usize, v: f64| {
        rows.push(i as u32);
        columns.push(j as u32);
        values.push(v);
    };
    for i in 0..a.n_rows() {
        a.row(i).0.iter().zip(a.row(i).1).for_each(|(&j, &v)| push(i, j as usize, v));
    }
    for (corners, w) in elements {
        for (&i, u) in corners.iter().zip(w) {
            corners.iter().zip(w).for_each(|(&j, v)| push(i, j, c * (u * v)));
        }
    }
    Ok(Coo::from_parts(a.n_rows(), a.n_cols(), rows, columns, values)?.into_csr().0)
}
