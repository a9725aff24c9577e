//! The diagonal D that smoothers divide by, and the spectral radius of `D^-1 A`.

use cuda_std::Real;
use gpu_kernels::setup::strength::Limits;

use crate::backend::algebra::{Algebra, Blocks, RowWeight};
use crate::backend::{Coef, Slot};
use crate::error::Result;

/// What a smoother divides by.
pub struct Diagonal<V> {
    /// `D^-1`.
    pub inverse: V,
    /// About the spectral radius of `D^-1 A`.
    pub radius: f64,
    /// `1 / sum_j |a_ij|`, with the sign of a_ii, in outlying rows, and 0 in others.
    pub outlying: Option<V>,
}

/// `g_i` is large above so many times the mean, or [`RADIUS_OF_M_MATRICES`] where that is more.
const LARGE: f64 = 1.2;
/// No `g_i` of an M-matrix without negative row sums is larger.
const RADIUS_OF_M_MATRICES: f64 = 2.0;
/// Where more than this share of all rows would be outlying none is: each becomes an unknown of the coarser level.
const FEW: f64 = 0.2;

/// `D^-1`, the [`spectral_radius`] of `D^-1 A`, and the outlying rows.
///
/// D is the diagonal, or of a matrix of blocks that of the blocks. But a flat element in a mesh adds `c w w^T` with a large c
/// to the rows of its corners, and one eigenvalue far above all others; that would become the radius, and smoothers and
/// interpolation would do too little everywhere else. So an ordinary matrix' D is `a_ii max(1, g_i / mean(g))` with
/// `g_i = sum_j |a_ij| / |a_ii|`, after which no eigenvalue is above mean(g) (Gershgorin's theorem).
///
/// D is as large as c in these rows then, so that of errors there only what is along w is smoothed. The rest must be
/// interpolated. So rows with a large g_i, and those strongly coupled to one, are outlying if D is large beside their neighbours' diagonal
/// entries ([`Limits`]): each is an aggregate by itself, and D is `sum_j |a_ij|` (l1-Jacobi), for smoothing and for interpolation.
/// In one flat element the eigenvalue of w is 1 then, smoothed well; and interpolation smoothed with weight 1 has nothing along w, so
/// that no coarser level knows of c. Unless `alone`, interpolation has no such aggregates, and no row is outlying.
pub fn diagonal<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &Blocks<B::Csr>,
    product: Option<&B::Matrix>,
    steps: u32,
    alone: bool,
) -> Result<Diagonal<B::Vector>> {
    let mut inverse = backend.invert_diagonal(a)?;
    let (mut bound, mut outlying) = (f64::INFINITY, None);
    if a.block() == 1 {
        let g = backend.row_weights(a.first(), RowWeight::GershgorinRadius)?;
        let s = backend.scalars(1)?;
        backend.sum(&g, &s, Slot(0))?;
        let n = backend.size(a.first()).n_rows as f64;
        bound = rounded_up(backend.read(&s, Slot(0))?.to_f64() / n);
        if bound.is_finite() {
            let limit = |large: f64| {
                let [bound, large] = [bound, large].map(T::from_f64);
                backend.limit(a.first(), &g, &inverse, Limits { bound, large })
            };
            let large = if alone { LARGE * bound.max(RADIUS_OF_M_MATRICES) } else { f64::INFINITY };
            let (mut limited, of_rows, count) = limit(large)?;
            if count as f64 > FEW * n {
                (limited, ..) = limit(f64::INFINITY)?;
            } else if count > 0 {
                outlying = Some(of_rows);
            }
            inverse = limited;
        }
    }
    let radius = spectral_radius(backend, a, &inverse, product, steps)?;
    // Gershgorin's bound knows nothing of the limit; a limit that is NaN does not count.
    Ok(Diagonal { inverse, radius: radius.min(bound), outlying })
}

/// The next multiple of 1/64, so that what is made with it does not depend on the order of a device's sums.
fn rounded_up(x: f64) -> f64 {
    (64.0 * x).ceil() / 64.0
}

/// Where a residual is this much smaller than the first, squared, the Krylov space is complete.
const EXHAUSTED: f64 = 1e-24;

/// An estimate of the largest eigenvalue of `D^-1 A`, from below: the largest of the tridiagonal matrix that `steps`
/// steps of CG with Jacobi's preconditioner define (Saad 2003, section 6.7.3). With 0 steps, or where A turns out
/// not to be positive definite, Gershgorin's bound.
///
/// It is rounded up to a multiple of 1/64. `d` is `D^-1`; `product` is the same matrix ready to be multiplied, where there
/// is one already.
fn spectral_radius<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &Blocks<B::Csr>,
    d: &B::Vector,
    product: Option<&B::Matrix>,
    steps: u32,
) -> Result<f64> {
    let steps = steps as usize;
    let n = a.block() * backend.size(a.first()).n_rows;
    // Beside every (p, A p) there is (A p, A p), which nobody asks for.
    let (rho, p_ap) = (Slot, |k: usize| Slot(steps + 2 * k));
    let s = backend.scalars((3 * steps).max(1))?;
    let made = product.is_none().then(|| backend.in_crs(a)).transpose()?;
    let Some(product) = product.or(made.as_ref()) else { unreachable!("made where there was none") };
    // In the basis in which D^-1 A is symmetric, `D^1/2 x`, no row has more of the noise than another. Were r noise itself,
    // rows of large entries would have little of it, and an eigenvector there would be found late.
    let mut r = backend.noise(d, n)?;
    let (mut p, mut ap, mut z) = (backend.zeros(n)?, backend.zeros(n)?, backend.zeros(n)?);
    // Nothing waits for the host: all scalars stay until the end.
    for k in 0..steps {
        backend.scale_rows(T::ONE, d, &r, &mut z)?;
        backend.dot(&r, &z, &s, rho(k))?;
        let beta = if k == 0 { Coef::ZERO } else { Coef::ratio(rho(k), rho(k - 1)) };
        backend.direction(&s, None, &z, beta, &mut p)?;
        backend.spmv_dot(product, &p, &p, &mut ap, &s, p_ap(k))?;
        backend.axpby(&s, Coef::ratio(rho(k), p_ap(k)).negated(), &ap, Coef::ONE, &mut r)?;
    }
    let scalars = backend.read_all(&s)?;
    let value = |slot: Slot| scalars[slot.0].to_f64();
    let mut diagonal = Vec::new();
    let mut next_to_it = Vec::new();
    let mut before: Option<(f64, f64)> = None;
    let first = if steps > 0 { value(rho(0)) } else { 0.0 };
    for k in 0..steps {
        let (rho_k, p_ap_k) = (value(rho(k)), value(p_ap(k)));
        // Written so that NaN ends it too.
        if !(rho_k > EXHAUSTED * first && p_ap_k > 0.0) {
            break;
        }
        let alpha = rho_k / p_ap_k;
        let mut of_row = 1.0 / alpha;
        if let Some((alpha_before, rho_before)) = before {
            let beta = rho_k / rho_before;
            of_row += beta / alpha_before;
            next_to_it.push(beta.sqrt() / alpha_before);
        }
        diagonal.push(of_row);
        before = Some((alpha, rho_k));
    }
    if diagonal.is_empty() {
        // Of blocks, a bound of the same kind for their norms.
        let norms = if a.block() == 1 { a.first().clone() } else { backend.norms(a)? };
        let radii = backend.row_weights(&norms, RowWeight::GershgorinRadius)?;
        let s = backend.scalars(1)?;
        backend.norm_max(&radii, &s, Slot(0))?;
        return Ok(backend.read(&s, Slot(0))?.to_f64());
    }
    Ok(rounded_up(largest_eigenvalue(&diagonal, &next_to_it)))
}

/// The largest eigenvalue of a symmetric tridiagonal matrix, by bisection with Sturm's counts.
fn largest_eigenvalue(diagonal: &[f64], next_to_it: &[f64]) -> f64 {
    let off = |k: usize| next_to_it.get(k).map_or(0.0, |v| v.abs());
    let radius = |k: usize| off(k) + if k > 0 { off(k - 1) } else { 0.0 };
    let mut upper = (0..diagonal.len()).map(|k| diagonal[k] + radius(k)).fold(f64::NEG_INFINITY, f64::max);
    let mut lower = diagonal.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Whether all eigenvalues are below x: all pivots of T - x I are negative.
    let all_below = |x: f64| {
        let mut pivot = diagonal[0] - x;
        (0..diagonal.len()).all(|k| {
            if k > 0 {
                pivot = diagonal[k] - x - off(k - 1).powi(2) / pivot;
            }
            pivot < 0.0
        })
    };
    for _ in 0..60 {
        let middle = 0.5 * (lower + upper);
        if all_below(middle) {
            upper = middle;
        } else {
            lower = middle;
        }
    }
    upper
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tests::{jumping, with_flat_elements};
    use super::*;
    use crate::backend::reference::Reference;
    use crate::matrix::Csr;
    use crate::problem::generate;

    fn radius(a: &Arc<Csr<f64>>, steps: u32) -> f64 {
        diagonal(&Reference::new(), &Blocks::scalar(a.clone()), None, steps, true).unwrap().radius
    }

    #[test]
    fn the_second_difference_has_a_known_spectrum() {
        let n = 20;
        let (diagonal, off) = (vec![2.0; n], vec![-1.0; n - 1]);
        let exact = 2.0 - 2.0 * (std::f64::consts::PI * n as f64 / (n + 1) as f64).cos();
        assert!((largest_eigenvalue(&diagonal, &off) - exact).abs() < 1e-12);
    }

    #[test]
    fn a_few_steps_come_close_from_below() {
        let a: Arc<Csr<f64>> = Arc::new(generate(&"poisson2d:40".parse().unwrap(), 1).unwrap());
        // D^-1 A = I - (the average over four neighbours): 1 + cos(pi / 41).
        let exact = 1.0 + (std::f64::consts::PI / 41.0).cos();
        let found = radius(&a, 12);
        assert!(found > 0.97 * exact && found < exact + 1.0 / 64.0, "{found} for {exact}");
        let bound = radius(&a, 0);
        assert!((found..2.0).contains(&bound), "{bound}");
    }

    #[test]
    fn large_entries_hide_no_eigenvalue() {
        let a = jumping(32, 1e6);
        let (found, exact) = (radius(&a, 8), radius(&a, 40));
        assert!(found > 0.95 * exact, "{found} for {exact}");
    }

    #[test]
    fn small_and_indefinite_matrices() {
        let one = Arc::new(Csr::<f64>::new(1, 1, vec![0, 1], vec![0], vec![3.0]).unwrap());
        assert_eq!(radius(&one, 8), 1.0);
        let indefinite = Arc::new(
            Csr::<f64>::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], vec![1.0, 5.0, 5.0, 1.0]).unwrap(),
        );
        assert!(radius(&indefinite, 8) >= 1.0);
    }

    #[test]
    fn a_flat_element_changes_little_elsewhere() {
        let regular: Arc<Csr<f64>> = Arc::new(generate(&"poisson3d:8".parse().unwrap(), 1).unwrap());
        let n = regular.n_rows();
        let corners = [100, 250, 300, 450];
        let spoiled = with_flat_elements(&regular, &[(corners, [1.0, -1.0, 1.0, -1.0])], 500.0);
        let g = Reference::new();
        let of = |a: &Arc<Csr<f64>>| diagonal(&g, &Blocks::scalar(a.clone()), None, 30, true).unwrap();
        let usual = of(&regular);
        assert!(usual.outlying.is_none());
        let Diagonal { inverse, radius, outlying } = of(&spoiled);
        let plain = spectral_radius(
            &g,
            &Blocks::scalar(spoiled.clone()),
            &g.invert_diagonal(&Blocks::scalar(spoiled.clone())).unwrap(),
            None,
            30,
        );
        assert!(plain.unwrap() > 3.9, "the four rows alone have the eigenvalue 4");
        assert!(radius < 1.02 * usual.radius, "{radius} for {}", usual.radius);
        let outlying = outlying.unwrap();
        for i in 0..n {
            if corners.contains(&i) {
                let of_row = 1.0 / spoiled.row(i).1.iter().map(|v| v.abs()).sum::<f64>();
                assert!((inverse[i] / of_row - 1.0).abs() < 1e-12, "{} {of_row}", inverse[i]);
                assert_eq!(outlying[i], inverse[i]);
            } else {
                assert_eq!(outlying[i], 0.0);
                // But for what four large radii add to the mean of 512.
                let change = inverse[i] / usual.inverse[i] - 1.0;
                assert!(change.abs() < 0.01, "{} {}", inverse[i], usual.inverse[i]);
            }
        }
        // Without steps the radius is a bound, and no larger than the limit.
        let bound = diagonal(&g, &Blocks::scalar(spoiled), None, 0, true).unwrap().radius;
        assert!((radius..2.5).contains(&bound), "{bound}");
    }

    #[test]
    fn many_rows_are_not_outlying() {
        let regular: Arc<Csr<f64>> = Arc::new(generate(&"poisson3d:4".parse().unwrap(), 1).unwrap());
        // 16 of 64.
        let elements = [3, 7, 11, 15].map(|k| ([k, k + 16, k + 32, k + 48], [1.0, -1.0, 1.0, -1.0]));
        let spoiled = with_flat_elements(&regular, &elements, 500.0);
        let g = Reference::new();
        let Diagonal { inverse, radius, outlying } =
            diagonal(&g, &Blocks::scalar(spoiled.clone()), None, 30, true).unwrap();
        assert!(outlying.is_none() && radius < 2.6, "{radius}");
        for i in elements[0].0 {
            let share = inverse[i] * spoiled.get(i, i).unwrap();
            assert!(share > 0.4 && share < 0.8, "{share}");
        }
    }
}
