//! Small dense blocks.

use cuda_std::Real;

/// A determinant below this share of the product of the rows' norms, in units of rounding, is taken for zero.
const SINGULAR: f64 = 64.0;

/// The adjugate of a block, its determinant, and the largest magnitude of that which counts as zero,
/// `64 eps prod_k sum_l |a_kl|`.
#[inline(always)]
fn adjugate<T: Real, const B: usize>(a: [[T; B]; B]) -> ([[T; B]; B], T, T) {
    let mut adjugate = [[T::ZERO; B]; B];
    let mut zero = T::from_f64(SINGULAR) * T::EPSILON;
    for k in 0..B {
        let mut sum = T::ZERO;
        for l in 0..B {
            sum += a[k][l].abs();
        }
        zero *= sum;
    }
    let mut determinant = T::ZERO;
    if B == 2 {
        adjugate[0][0] = a[B - 1][B - 1];
        adjugate[0][B - 1] = -a[0][B - 1];
        adjugate[B - 1][0] = -a[B - 1][0];
        adjugate[B - 1][B - 1] = a[0][0];
        determinant = a[0][0] * a[B - 1][B - 1] - a[0][B - 1] * a[B - 1][0];
    } else {
        for k in 0..B {
            for l in 0..B {
                // The cofactor of (l, k), rows and columns taken round.
                let (r, s) = ((l + 1) % B, (l + 2) % B);
                let (c, d) = ((k + 1) % B, (k + 2) % B);
                adjugate[k][l] = a[r][c] * a[s][d] - a[r][d] * a[s][c];
            }
        }
        for l in 0..B {
            determinant += a[0][l] * adjugate[l][0];
        }
    }
    (adjugate, determinant, zero)
}

/// Whether a block can be inverted: its determinant is not zero to rounding, and no NaN.
#[inline(always)]
pub fn is_regular<T: Real, const B: usize>(a: [[T; B]; B]) -> bool {
    let (_, determinant, zero) = adjugate(a);
    determinant.abs() > zero
}

/// The inverse of a block by its adjugate; of one that is not [regular](is_regular) the inverse of its
/// diagonal, 0 where that is 0.
#[inline(always)]
pub fn inverse_or_diagonal<T: Real, const B: usize>(a: [[T; B]; B]) -> [[T; B]; B] {
    let (mut inverse, determinant, zero) = adjugate(a);
    let regular = determinant.abs() > zero;
    for k in 0..B {
        for l in 0..B {
            let own = if k == l && a[k][k] != T::ZERO { T::ONE / a[k][k] } else { T::ZERO };
            inverse[k][l] = if regular { inverse[k][l] / determinant } else { own };
        }
    }
    inverse
}

/// The Frobenius norm of a block, squares added row by row.
#[inline(always)]
pub fn norm<T: Real>(block: impl Iterator<Item = T>) -> T {
    block.fold(T::ZERO, |sum, v| sum + v * v).sqrt()
}

/// One block of `I - omega D S`, on the diagonal or not.
#[inline(always)]
pub fn damped<T: Real, const B: usize>(
    d: [[T; B]; B],
    s: [[T; B]; B],
    omega: T,
    diagonal: bool,
) -> [[T; B]; B] {
    core::array::from_fn(|k| {
        core::array::from_fn(|l| {
            let product = (0..B).fold(T::ZERO, |sum, m| sum + d[k][m] * s[m][l]);
            (if diagonal && k == l { T::ONE } else { T::ZERO }) - omega * product
        })
    })
}
