//! How fast Jacobi's iteration converges at least, by the dominance of the diagonal.

use crate::matrix::Csr;

/// A factor beyond which the bound promises nothing.
const MOST: f64 = 0.99;

/// `q = max_i sum_j |a_ij| / |a_ii|`, j other than i, or the same of columns where that is less, as it may be
/// unless the matrix `is_symmetric`; `None` for more than 0.99.
///
/// Of rows it is `||I - D^-1 A||_inf`, of columns `||I - A D^-1||_1`. So Jacobi's iteration contracts errors,
/// or residuals, by q in each step.
pub fn contraction(a: &Csr<f64>, is_symmetric: bool) -> Option<f64> {
    let columns = if is_symmetric { None } else { of_columns(a) };
    of_rows(a).into_iter().chain(columns).min_by(f64::total_cmp)
}

/// Most matrices are left at one of their first rows, so that all of the diagonal is not looked up before.
fn of_rows(a: &Csr<f64>) -> Option<f64> {
    let mut most = 0.0f64;
    for i in 0..a.n_rows() {
        let (d, sum) = (diagonal(a, i), a.row(i).1.iter().map(|v| v.abs()).sum::<f64>());
        most = most.max(share(sum - d.abs(), d)?);
    }
    Some(most)
}

/// And at one of their first columns, which a mesh has met all of soon.
fn of_columns(a: &Csr<f64>) -> Option<f64> {
    // The sum so far, and the diagonal, once it was looked up; zeros cost nothing until then.
    let mut columns = vec![[0.0; 2]; a.n_cols()];
    for i in 0..a.n_rows() {
        for (&j, v) in a.row(i).0.iter().zip(a.row(i).1) {
            let j = j as usize;
            if i != j {
                let [sum, d] = &mut columns[j];
                if *d == 0.0 {
                    *d = diagonal(a, j);
                }
                *sum += v.abs();
                share(*sum, *d)?;
            }
        }
    }
    let of_column = |(j, [sum, _]): (usize, &[f64; 2])| share(*sum, diagonal(a, j));
    columns.iter().enumerate().map(of_column).try_fold(0.0, |most, q| Some(f64::max(most, q?)))
}

fn diagonal(a: &Csr<f64>, i: usize) -> f64 {
    a.get(i, i).unwrap_or(0.0)
}

fn share(sum: f64, diagonal: f64) -> Option<f64> {
    let share = sum / diagonal.abs();
    // A diagonal of 0 makes NaN of an empty row.
    (share <= MOST).then_some(share.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(n: usize, entries: &[(usize, usize, f64)]) -> Csr<f64> {
        Csr::from_triplets(n, n, entries.to_vec()).unwrap()
    }

    #[test]
    fn it_is_that_of_rows_or_of_columns() {
        // Rows: 1/4, 2/4, 1/2; columns: 0.5/4, 1.5/4, 2/2.
        let a = square(
            3,
            &[(0, 0, 4.0), (0, 2, -1.0), (1, 1, -4.0), (1, 2, 1.0), (1, 0, 1.0), (2, 2, 2.0), (2, 1, -1.0)],
        );
        assert_eq!(contraction(&a, false), Some(0.5));
        assert_eq!(contraction(&a.transpose(), false), Some(0.5));
        let only_rows = square(3, &[(0, 0, 4.0), (0, 1, 3.0), (1, 1, 2.0), (2, 2, 4.0), (2, 1, 3.0)]);
        assert_eq!(contraction(&only_rows, false), Some(0.75));
        assert_eq!(contraction(&only_rows.transpose(), false), Some(0.75));
    }

    #[test]
    fn rows_alone_tell_of_a_symmetric_matrix() {
        let symmetric = square(3, &[(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, -2.0), (2, 2, 1.0)]);
        assert_eq!(contraction(&symmetric, true), Some(0.5));
        assert_eq!(contraction(&symmetric, false), Some(0.5));
    }

    #[test]
    fn without_dominance_there_is_none() {
        assert_eq!(
            contraction(&square(2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0), (1, 0, 1.0)]), false),
            None
        );
        assert_eq!(contraction(&square(2, &[(0, 0, 1.0)]), false), None);
        assert_eq!(contraction(&square(1, &[(0, 0, -3.0)]), false), Some(0.0));
        assert_eq!(contraction(&square(0, &[]), false), Some(0.0));
    }
}
