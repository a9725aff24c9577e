//! The small dense matrices of block CG, at most 8 x 8, in columns: element (i, j) is `a[j][i]`.

use cuda_std::Real;

use crate::status;
use crate::unroll::unroll;

/// Right-hand sides of a block at most, and the distance between the columns of its small matrices.
pub const MOST: usize = 8;

/// Of a column that depends on those before it no more than so many units of rounding of its square are left.
const DEPENDENT: f64 = 1024.0;

/// The upper triangular R of `A = R^T R` for a symmetric A without negative eigenvalues, of which the upper
/// triangle is read. Of a column that depends on those before it, but for rounding, the row of R is 0.
///
/// # Errors
/// [`status::NOT_FINITE`], and [`status::INDEFINITE_OPERATOR`] where A has a negative eigenvalue.
#[inline(always)]
pub fn root<T: Real, const K: usize>(a: &[[T; K]; K]) -> Result<[[T; K]; K], u32> {
    let mut r = [[T::ZERO; K]; K];
    let mut fault = status::RUNNING;
    unroll::<K>(|j| {
        let mut rest = a[j][j];
        unroll::<K>(|i| {
            if i < j {
                let mut value = a[j][i];
                unroll::<K>(|l| {
                    if l < i {
                        value -= r[i][l] * r[j][l];
                    }
                });
                r[j][i] = divided(value, r[i][i]);
                rest -= r[j][i] * r[j][i];
            }
        });
        let rounding = T::from_f64(DEPENDENT) * T::EPSILON * a[j][j];
        if fault == status::RUNNING && !rest.is_finite() {
            fault = status::NOT_FINITE;
        } else if fault == status::RUNNING && (a[j][j] < T::ZERO || rest < -rounding) {
            fault = status::INDEFINITE_OPERATOR;
        }
        r[j][j] = if rest <= rounding { T::ZERO } else { rest.sqrt() };
    });
    if fault == status::RUNNING { Ok(r) } else { Err(fault) }
}

/// `R^-1 c` for a [`root`], with 0 for its rows that are 0.
#[inline(always)]
pub fn solve_upper<T: Real, const K: usize>(r: &[[T; K]; K], c: [T; K]) -> [T; K] {
    let mut x = c;
    unroll::<K>(|before| {
        let i = K - 1 - before;
        unroll::<K>(|j| {
            if j > i {
                x[i] -= r[j][i] * x[j];
            }
        });
        x[i] = divided(x[i], r[i][i]);
    });
    x
}

/// `(R^T R)^-1 c`, likewise.
#[inline(always)]
pub fn solve<T: Real, const K: usize>(r: &[[T; K]; K], c: [T; K]) -> [T; K] {
    let mut y = c;
    unroll::<K>(|i| {
        unroll::<K>(|l| {
            if l < i {
                y[i] -= r[i][l] * y[l];
            }
        });
        y[i] = divided(y[i], r[i][i]);
    });
    solve_upper(r, y)
}

/// `R c`.
#[inline(always)]
pub fn times<T: Real, const K: usize>(r: &[[T; K]; K], c: [T; K]) -> [T; K] {
    let mut y = [T::ZERO; K];
    unroll::<K>(|i| {
        unroll::<K>(|j| {
            if j >= i {
                y[i] += r[j][i] * c[j];
            }
        })
    });
    y
}

/// Row j of R: column j of R^T.
#[inline(always)]
pub fn row<T: Real, const K: usize>(r: &[[T; K]; K], j: usize) -> [T; K] {
    let mut row = [T::ZERO; K];
    unroll::<K>(|i| {
        unroll::<K>(|l| {
            if l == j {
                row[i] = r[i][l];
            }
        })
    });
    row
}

/// `sqrt(c^T A c)` for a symmetric A without negative eigenvalues, of which the upper triangle is read.
#[inline(always)]
pub fn length<T: Real, const K: usize>(a: &[[T; K]; K], c: [T; K]) -> T {
    let mut square = T::ZERO;
    unroll::<K>(|j| {
        let mut above = T::ZERO;
        unroll::<K>(|i| {
            if i < j {
                above += a[j][i] * c[i];
            }
        });
        square += c[j] * (a[j][j] * c[j] + (above + above));
    });
    // NaN stays; rounding may leave less than 0.
    if square < T::ZERO { T::ZERO } else { square.sqrt() }
}

/// Column j of the unit matrix.
#[inline(always)]
pub fn unit<T: Real, const K: usize>(j: usize) -> [T; K] {
    let mut column = [T::ZERO; K];
    // Without branches, of which the compiler would make tables in a device's memory.
    unroll::<K>(|i| column[i] = T::from_f64(f64::from(u8::from(i == j))));
    column
}

/// A norm on the scale of the largest threshold, which is so many times its own: 0 for 0, whatever that is.
#[inline(always)]
pub fn weighted(norm: f64, weight: f64) -> f64 {
    if norm == 0.0 { 0.0 } else { norm * weight }
}

/// 0 where there is nothing to divide by.
#[inline(always)]
fn divided<T: Real>(value: T, by: T) -> T {
    if by == T::ZERO { T::ZERO } else { value / by }
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: usize = 4;

    /// `X^T X` for columns of length 3, of which the third depends on the two before it, and the fourth is 0.
    fn gram() -> [[f64; K]; K] {
        let x = [[1.0, 2.0, 0.5], [0.25, -1.0, 3.0], [1.5, 0.0, 6.5], [0.0; 3]];
        let dot = |i: usize, j: usize| (0..3).map(|l| x[i][l] * x[j][l]).sum();
        std::array::from_fn(|j| std::array::from_fn(|i| if i <= j { dot(i, j) } else { f64::NAN }))
    }

    #[test]
    fn dependent_columns_have_rows_of_zeros() {
        let (a, r) = (gram(), root(&gram()).unwrap());
        for j in 0..K {
            for i in 0..=j {
                let product: f64 = (0..K).map(|l| r[i][l] * r[j][l]).sum();
                assert!((product - a[j][i]).abs() < 1e-14 * (1.0 + a[j][i].abs()), "{i} {j}: {product}");
            }
        }
        assert_eq!([2, 3].map(|i| (0..K).all(|j| r[j][i] == 0.0)), [true; 2]);
        // On the columns that are left it is the inverse.
        let x = solve(&r, [1.0, -2.0, 0.0, 0.0]);
        assert_eq!(x[2..], [0.0; 2]);
        assert!((a[0][0] * x[0] + a[1][0] * x[1] - 1.0).abs() < 1e-14);
        assert!((a[1][0] * x[0] + a[1][1] * x[1] + 2.0).abs() < 1e-14);
        let c = [0.3, -0.7, 0.0, 0.0];
        assert!(times(&r, solve_upper(&r, c)).iter().zip(c).all(|(y, c)| (y - c).abs() < 1e-15));
        assert_eq!(unit::<f64, K>(2), [0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn lengths_are_those_of_combinations() {
        let found: f64 = length(&gram(), [2.0, -1.0, 1.0, 5.0]);
        // 2 x_1 - x_2 + x_3
        let x = [3.25f64, 5.0, 4.5];
        assert!((found - x.iter().map(|v| v * v).sum::<f64>().sqrt()).abs() < 1e-14);
        assert_eq!(length(&[[1.0, f64::NAN], [1.0, 1.0 - 1e-15]], [1.0, -1.0]), 0.0);
    }

    #[test]
    fn faults_are_told_apart() {
        assert_eq!(root(&[[1.0, 0.0], [2.0, 1.0]]), Err(status::INDEFINITE_OPERATOR));
        assert_eq!(root(&[[-1e-30, 0.0], [0.0, 1.0]]), Err(status::INDEFINITE_OPERATOR));
        assert_eq!(root(&[[1.0, 0.0], [f64::NAN, 1.0]]), Err(status::NOT_FINITE));
        assert_eq!(root(&[[1.0, 0.0], [1.0, f64::INFINITY]]), Err(status::NOT_FINITE));
        assert_eq!(weighted(0.0, f64::INFINITY), 0.0);
        assert_eq!(weighted(2.0, 3.0), 6.0);
    }
}
