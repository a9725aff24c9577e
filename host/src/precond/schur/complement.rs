//! The Schur complement of a saddle point, with a diagonal in place of the first block.

use crate::error::{Error, Result};
use crate::matrix::Csr;

/// A matrix with rows multiplied by `1 / d_i`.
pub fn divided_rows(a: &Csr<f64>, d: &[f64]) -> Csr<f64> {
    let mut scaled = a.clone();
    let (row_ptr, _, values) = scaled.parts_mut();
    for (i, d) in d.iter().enumerate() {
        values[row_ptr[i]..row_ptr[i + 1]].iter_mut().for_each(|v| *v /= d);
    }
    scaled
}

/// A matrix with columns multiplied by `1 / d_j`.
pub fn divided_columns(a: &Csr<f64>, d: &[f64]) -> Csr<f64> {
    let mut scaled = a.clone();
    let (_, columns, values) = scaled.parts_mut();
    values.iter_mut().zip(columns).for_each(|(v, &j)| *v /= d[j as usize]);
    scaled
}

/// `B G - C`, row by row (Gustavson 1978).
///
/// # Errors
/// [`Error::Matrix`] where it has more columns or entries than there are numbers for.
pub fn product_less(b: &Csr<f64>, g: &Csr<f64>, c: &Csr<f64>) -> Result<Csr<f64>> {
    let n = g.n_cols();
    let (mut sums, mut row_of) = (vec![0.0; n], vec![usize::MAX; n]);
    let (mut row_ptr, mut columns, mut values) = (vec![0], Vec::<u32>::new(), Vec::new());
    for i in 0..b.n_rows() {
        let start = columns.len();
        let mut add = |j: u32, v: f64, columns: &mut Vec<u32>| {
            if row_of[j as usize] != i {
                (row_of[j as usize], sums[j as usize]) = (i, 0.0);
                columns.push(j);
            }
            sums[j as usize] += v;
        };
        for (&k, &factor) in b.row(i).0.iter().zip(b.row(i).1) {
            let (row, entries) = g.row(k as usize);
            row.iter().zip(entries).for_each(|(&j, &v)| add(j, factor * v, &mut columns));
        }
        c.row(i).0.iter().zip(c.row(i).1).for_each(|(&j, &v)| add(j, -v, &mut columns));
        columns[start..].sort_unstable();
        values.extend(columns[start..].iter().map(|&j| sums[j as usize]));
        row_ptr.push(columns.len());
    }
    Csr::new(b.n_rows(), n, row_ptr, columns, values)
}

/// The diagonal of the first block.
///
/// # Errors
/// [`Error::Diagonal`] where it has a zero; `numbers` are those that its rows have in the whole matrix.
pub fn diagonal(first: &Csr<f64>, numbers: &[u32]) -> Result<Vec<f64>> {
    let diagonal = first.diagonal();
    match diagonal.iter().position(|&d| d == 0.0) {
        None => Ok(diagonal),
        Some(i) => Err(Error::Matrix(format!(
            "row {} has a zero on the diagonal and is not among the multipliers: schur divides by it",
            numbers[i] + 1
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complement_is_that_of_the_diagonal() {
        let b = Csr::from_triplets(2, 3, [(0, 0, 1.0), (0, 2, 2.0), (1, 1, -3.0), (1, 2, 1.0)]).unwrap();
        let c = Csr::from_triplets(2, 2, [(0, 0, 5.0), (1, 0, 1.0)]).unwrap();
        let s = product_less(&b, &divided_rows(&b.transpose(), &[1.0, 3.0, 2.0]), &c).unwrap();
        let entries: Vec<f64> = (0..4).map(|k| s.get(k / 2, k % 2).unwrap_or(0.0)).collect();
        // 1 / 1 + 4 / 2 - 5,  2 / 2,  2 / 2 - 1,  9 / 3 + 1 / 2
        assert_eq!(entries, [-2.0, 1.0, 0.0, 3.5]);
        let transposed = divided_columns(&b, &[1.0, 3.0, 2.0]).transpose();
        assert_eq!(transposed, divided_rows(&b.transpose(), &[1.0, 3.0, 2.0]));
        let first = Csr::from_triplets(2, 2, [(0, 0, 1.0)]).unwrap();
        assert!(diagonal(&first, &[4, 7]).unwrap_err().to_string().contains("row 8 has a zero"));
    }
}
