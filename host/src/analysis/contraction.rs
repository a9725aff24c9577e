//! How fast Jacobi's iteration converges at least, by the dominance of the diagonal.

use crate::matrix::Csr;

/// A factor beyond which the bound promises nothing.
const MOST: f64 = 0.99;

/// `q = max_i sum_j |a_ij| / |a_ii|`, j other than i, or the same of columns where that is less; `None` for
/// more than 0.99.
///
/// Of rows it is `||I - D^-1 A||_inf`, of columns `||I - A D^-1||_1`. So Jacobi's iteration contracts errors,
/// or residuals, by q in each step.
pub fn contraction(a: &Csr<f64>) -> Option<f64> {
    let diagonal = a.diagonal();
    let (rows, columns) = (of_rows(a, &diagonal), of_columns(a, &diagonal));
    rows.into_iter().chain(columns).min_by(f64::total_cmp)
}

/// Most matrices are left at one of their first rows.
fn of_rows(a: &Csr<f64>, diagonal: &[f64]) -> Option<f64> {
    let mut most = 0.0f64;
    for (i, d) in diagonal.iter().enumerate() {
        let sum: f64 = a.row(i).1.iter().map(|v| v.abs()).sum();
        most = most.max(share(sum - d.abs(), *d)?);
    }
    Some(most)
}

/// And at one of their first columns, which a mesh has met all of soon.
fn of_columns(a: &Csr<f64>, diagonal: &[f64]) -> Option<f64> {
    let mut sums = vec![0.0; a.n_cols()];
    for i in 0..a.n_rows() {
        for (&j, v) in a.row(i).0.iter().zip(a.row(i).1) {
            let j = j as usize;
            if i != j {
                sums[j] += v.abs();
                share(sums[j], diagonal[j])?;
            }
        }
    }
    sums.iter()
        .zip(diagonal)
        .map(|(sum, d)| share(*sum, *d))
        .try_fold(0.0, |most, q| Some(f64::max(most, q?)))
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
        assert_eq!(contraction(&a), Some(0.5));
        assert_eq!(contraction(&a.transpose()), Some(0.5));
        let only_rows = square(3, &[(0, 0, 4.0), (0, 1, 3.0), (1, 1, 2.0), (2, 2, 4.0), (2, 1, 3.0)]);
        assert_eq!(contraction(&only_rows), Some(0.75));
        assert_eq!(contraction(&only_rows.transpose()), Some(0.75));
    }

    #[test]
    fn without_dominance_there_is_none() {
        assert_eq!(contraction(&square(2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0), (1, 0, 1.0)])), None);
        assert_eq!(contraction(&square(2, &[(0, 0, 1.0)])), None);
        assert_eq!(contraction(&square(1, &[(0, 0, -3.0)])), Some(0.0));
        assert_eq!(contraction(&square(0, &[])), Some(0.0));
    }
}
