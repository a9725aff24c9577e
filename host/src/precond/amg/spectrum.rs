//! The diagonal D that smoothers divide by, and the spectral radius of `D^-1 A`.

use arithmetic::smoothing::Limits;
use cuda_std::Real;

use super::params::Params;
use crate::backend::{Coef, Slot, Then};
use crate::error::Result;
use crate::setup::{Algebra, Blocks, LanczosStep, RowWeight};

/// About where the eigenvalues of `D^-1 A` are: in an ellipse around the interval from 0 to `radius`,
/// which is one of its axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spectrum {
    /// The spectral radius.
    pub radius: f64,
    /// The largest imaginary part, half of the other axis; 0 for a symmetric A, and where it is not known.
    pub imaginary: f64,
}

impl Spectrum {
    /// The square of the distance of the ellipse's foci over the radius: 1 for a symmetric A, 0 for a circle,
    /// and negative where it is higher than wide, because the foci are above and below its centre.
    pub fn eccentricity_squared(self) -> f64 {
        1.0 - (2.0 * self.imaginary / self.radius).powi(2)
    }
}

/// The diagonal D that smoothers divide by.
pub struct Diagonal<V> {
    /// `D^-1`.
    pub inverse: V,
    /// The spectrum of `D^-1 A`.
    pub spectrum: Spectrum,
    /// `1 / sum_j |a_ij|`, with the sign of a_ii, in rows of slivers, and 0 in others.
    pub slivers: Option<V>,
}

/// `g_i` is large above this many times the mean, or [`RADIUS_OF_M_MATRICES`] where that is more.
const LARGE: f64 = 1.2;
/// No `g_i` of an M-matrix without negative row sums is larger.
const RADIUS_OF_M_MATRICES: f64 = 2.0;
/// If more than this share of all rows would be rows of slivers, there are none: each would become an unknown
/// of the coarser level.
const FEW: f64 = 0.2;

/// More nodes with blocks than this take twice as many steps of Lanczos's method: nothing bounds the radius
/// from above there, and of elastic bodies of a million nodes 8 steps find so little of it that Chebyshev's
/// polynomial amplifies what is above.
const MANY_NODES: usize = 200_000;

/// `D^-1`, the spectrum of `D^-1 A`, and the rows of slivers.
///
/// D is the diagonal, or of a matrix of blocks that of the blocks. But a sliver, a nearly flat element of a
/// mesh, adds `c w w^T` with a large c to the rows of its corners, and one eigenvalue far above all others.
/// That would become the radius, and smoothers and interpolation would do too little everywhere else. So the
/// D of an ordinary matrix is `a_ii max(1, g_i / mean(g))` with `g_i = sum_j |a_ij| / |a_ii|`, after which no
/// eigenvalue is above mean(g) (Gershgorin's theorem).
///
/// Then D is as large as c in these rows, and only errors along w are smoothed there. The rest must be
/// interpolated. So with `singletons` rows with a large g_i, and those strongly coupled to one, are
/// rows of slivers if D is large compared with their neighbours' diagonal entries
/// ([`smoothing_diagonal`](crate::setup::Diagonals::smoothing_diagonal)): each is an aggregate by itself, and
/// D is `sum_j |a_ij|` (l1-Jacobi), for smoothing and for interpolation. In one sliver the eigenvalue of w is
/// 1 then, smoothed well; and interpolation smoothed with weight 1 has nothing along w, so that no coarser
/// level knows of c.
///
/// With [`Params::plain_diagonal`] D is the diagonal everywhere, and there are no rows of slivers.
///
/// Lanczos's method takes [`Params::lanczos_steps`], twice as many for [`MANY_NODES`] with blocks. `product`
/// is `a` ready to be multiplied, where there is that already.
pub fn diagonal<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &Blocks<B::Csr>,
    product: Option<&B::Matrix>,
    params: &Params,
    singletons: bool,
) -> Result<Diagonal<B::Vector>> {
    let mut inverse = backend.invert_diagonal(a)?;
    let (mut bound, mut slivers) = (f64::INFINITY, None);
    if a.block() == 1 && !params.plain_diagonal {
        let g = backend.row_weights(a.first(), RowWeight::GershgorinRadius)?;
        let s = backend.scalars(1)?;
        backend.sum(&g, &s, Slot(0))?;
        let n = backend.size(a.first()).n_rows as f64;
        bound = rounded_up(backend.read(&s, Slot(0))?.to_f64() / n);
        if bound.is_finite() {
            let smoothing_diagonal = |large: f64| {
                let [bound, large] = [bound, large].map(T::from_f64);
                backend.smoothing_diagonal(a.first(), &g, &inverse, Limits { bound, large })
            };
            let large = if singletons { LARGE * bound.max(RADIUS_OF_M_MATRICES) } else { f64::INFINITY };
            let mut found = smoothing_diagonal(large)?;
            if found.n_slivers as f64 > FEW * n {
                found = smoothing_diagonal(f64::INFINITY)?;
            }
            slivers = (found.n_slivers > 0).then_some(found.slivers);
            inverse = found.inverse;
        }
    }
    let is_large = a.block() > 1 && backend.size(a.first()).n_rows > MANY_NODES;
    let steps = params.lanczos_steps * if is_large { 2 } else { 1 };
    let Spectrum { radius, imaginary } = spectrum(backend, a, &inverse, product, steps)?;
    // Gershgorin's bound knows nothing of the smaller diagonal; a bound that is NaN does not count.
    Ok(Diagonal { inverse, spectrum: Spectrum { radius: radius.min(bound), imaginary }, slivers })
}

/// The next multiple of 1/64, so that what is made with it does not depend on the order of sums, which is
/// another on a device and on ranks. What is a multiple but for rounding stays, as 3/2 of a pair of unknowns.
fn rounded_up(x: f64) -> f64 {
    const ROUNDING: f64 = 1e-6;
    (64.0 * x - ROUNDING).ceil() / 64.0
}

/// The nearest multiple of 1/64, as [`rounded_up`]: 0 for what is only rounding.
fn rounded(x: f64) -> f64 {
    (64.0 * x).round() / 64.0
}

/// In the plane, of upwind differences without diffusion, the largest imaginary part is 1, and the root of
/// the mean square 0.71 for a velocity along an axis, 0.53 for (2, 1), 0.5 along a diagonal.
const IMAGINARY: f64 = 2.0;

/// Where a residual is this much smaller than the first, squared, the Krylov space is complete.
const EXHAUSTED: f64 = 1e-24;

/// An estimate of the largest eigenvalue of `D^-1 A`, from below: the largest of the tridiagonal matrix that
/// `steps` steps of CG with Jacobi's preconditioner define (Saad 2003, section 6.7.3). With 0 steps, or where
/// A turns out not to be positive definite, Gershgorin's bound.
///
/// Two steps also say how unsymmetric A is. It is H + K, H symmetric and `K^T = -K`, and for a random p the
/// mean square of a row of `D^-1/2 K D^-1/2` is about `(K p, D^-1 K p) / (p, D p)`. The largest imaginary
/// part is taken to be [`IMAGINARY`] times the root of that; 0 for blocks and without steps. The less
/// symmetric A is, the less the radius says, which [`diagonal`] then bounds.
///
/// The radius is rounded up to a multiple of 1/64. `d` is `D^-1`; `product` is the same matrix ready to be
/// multiplied, where there is one already.
fn spectrum<T: Real, B: Algebra<T>>(
    backend: &B,
    a: &Blocks<B::Csr>,
    d: &B::Vector,
    product: Option<&B::Matrix>,
    steps: u32,
) -> Result<Spectrum> {
    let steps = steps as usize;
    let n = a.block() * backend.rows_here(a.first());
    // Every (p, A p) comes with (A p, A p), which is not used.
    let (rho, p_ap, z_ap) = (Slot, |k: usize| Slot(steps + 2 * k), Slot(3 * steps));
    let s = backend.scalars(3 * steps + 1)?;
    let made = product.is_none().then(|| backend.in_crs(a)).transpose()?;
    let Some(product) = product.or(made.as_ref()) else { unreachable!("made where there was none") };
    // In the basis in which D^-1 A is symmetric, `D^1/2 x`, no row has more of the noise than another. If r
    // were the noise itself, rows of large entries would have little of it, and an eigenvector there would be
    // found late.
    let mut r = backend.noise(a.first(), d, n)?;
    let (mut p, mut ap, mut z) = (backend.zeros(n)?, backend.zeros(n)?, backend.zeros(n)?);
    // Nothing waits for the host: all scalars stay until the end.
    for k in 0..steps {
        let alpha = |k: usize| Coef::ratio(rho(k), p_ap(k)).negated();
        let update = k.checked_sub(1).map(|before| (alpha(before), &ap));
        backend.lanczos_step(&s, LanczosStep { update, d, r: &mut r, z: &mut z, out: rho(k) })?;
        let beta = if k == 0 { Coef::ZERO } else { Coef::ratio(rho(k), rho(k - 1)) };
        backend.direction(&s, None, &z, beta, &mut p)?;
        backend.multiply(product, &p, Then::Dot { w: &p, y: &mut ap, s: &s, out: p_ap(k) })?;
        if k == 1 {
            backend.dot(&z, &ap, &s, z_ap)?;
        }
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
        let mut entry = 1.0 / alpha;
        if let Some((alpha_before, rho_before)) = before {
            let beta = rho_k / rho_before;
            entry += beta / alpha_before;
            next_to_it.push(beta.sqrt() / alpha_before);
        }
        diagonal.push(entry);
        before = Some((alpha, rho_k));
    }
    if diagonal.is_empty() {
        // Of blocks, a bound of the same kind for their norms.
        let norms = if a.block() == 1 { a.first().clone() } else { backend.norms(a)? };
        let radii = backend.row_weights(&norms, RowWeight::GershgorinRadius)?;
        let s = backend.scalars(1)?;
        backend.norm_max(&radii, &s, Slot(0))?;
        return Ok(Spectrum { radius: backend.read(&s, Slot(0))?.to_f64(), imaginary: 0.0 });
    }
    let mut imaginary = 0.0;
    // Blocks on the diagonal need not be symmetric, and then (p_1, A p_0) is not 0.
    if diagonal.len() > 1 && a.block() == 1 {
        // (z_1, A p_1) = (p_1, A p_1) - beta (p_0, A p_1), and (p_1, A p_0) = 0: the difference is 2 beta
        // (p_0, K p_1).
        let p_k_p = (value(p_ap(1)) - value(z_ap)) * value(rho(0)) / (2.0 * value(rho(1)));
        // p_1 = (1 + beta) p_0 - alpha D^-1 (H + K) p_0, of which a random p_0 leaves alpha (K p_0, D^-1 K
        // p_0).
        let square = p_k_p * value(p_ap(0)) / value(rho(0)).powi(2);
        imaginary = rounded(IMAGINARY * square.max(0.0).sqrt());
        // Squares of large entries overflow.
        imaginary = if imaginary.is_finite() { imaginary } else { 0.0 };
    }
    Ok(Spectrum { radius: rounded_up(largest_eigenvalue(&diagonal, &next_to_it)), imaginary })
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

    use super::super::tests::jumping;
    use super::*;
    use crate::backend::reference::Reference;
    use crate::matrix::Csr;
    use crate::problem::{generate, with_slivers};
    use crate::setup::Diagonals;

    fn lanczos(lanczos_steps: u32) -> Params {
        Params { lanczos_steps, ..Params::default() }
    }

    fn radius(a: &Arc<Csr<f64>>, steps: u32) -> f64 {
        diagonal(&Reference::new(), &Blocks::scalar(a.clone()), None, &lanczos(steps), true)
            .unwrap()
            .spectrum
            .radius
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
        // The eigenvalues of D^-1 A are 6 and -4.
        assert!((radius(&indefinite, 8) - 6.0).abs() < 1e-12, "{}", radius(&indefinite, 8));
    }

    #[test]
    fn only_unsymmetric_matrices_have_imaginary_parts() {
        let spectrum = |text: &str| {
            let a = Arc::new(generate(&text.parse().unwrap(), 1).unwrap());
            diagonal(&Reference::new(), &Blocks::scalar(a), None, &lanczos(8), true).unwrap().spectrum
        };
        for text in ["poisson2d:30", "tet:9", "random-spd:900:7"] {
            let spectrum = spectrum(text);
            assert!(
                spectrum.imaginary == 0.0 && spectrum.eccentricity_squared() == 1.0,
                "{text}: {spectrum:?}"
            );
        }
        // Entries -1 - P and -1 in the direction of one neighbour, half of that in the other's.
        let expected = |peclet: f64| {
            let [x, y] = [2.0, 1.0].map(|v| peclet / 41.0 * v / 5f64.sqrt());
            2.0 * (2.0 * (x * x + y * y) / 4.0).sqrt() / (4.0 + x + y)
        };
        for (peclet, few) in [(20.0, 0.2), (100.0, 0.6), (300.0, 0.9), (1e6, 1.2)] {
            let spectrum = spectrum(&format!("convection-diffusion:40:{peclet}"));
            let found = spectrum.imaginary;
            assert!(
                (found / expected(peclet) - 1.0).abs() < 0.15 && found < few,
                "{found}, {}",
                expected(peclet)
            );
            assert!(spectrum.radius <= 2.0, "{spectrum:?}");
            assert_eq!(spectrum.eccentricity_squared() < 0.0, peclet > 300.0);
        }
    }

    #[test]
    fn a_sliver_changes_little_elsewhere() {
        let regular: Arc<Csr<f64>> = Arc::new(generate(&"poisson3d:8".parse().unwrap(), 1).unwrap());
        let n = regular.n_rows();
        let corners = [100, 250, 300, 450];
        let spoiled = Arc::new(with_slivers(&regular, &[(corners, [1.0, -1.0, 1.0, -1.0])], 500.0).unwrap());
        let g = Reference::new();
        let found =
            |a: &Arc<Csr<f64>>| diagonal(&g, &Blocks::scalar(a.clone()), None, &lanczos(30), true).unwrap();
        let usual = found(&regular);
        assert!(usual.slivers.is_none());
        let Diagonal { inverse, spectrum: Spectrum { radius, .. }, slivers } = found(&spoiled);
        let plain = super::spectrum(
            &g,
            &Blocks::scalar(spoiled.clone()),
            &g.invert_diagonal(&Blocks::scalar(spoiled.clone())).unwrap(),
            None,
            30,
        );
        assert!(plain.unwrap().radius > 3.9, "the four rows alone have the eigenvalue 4");
        assert!(radius < 1.02 * usual.spectrum.radius, "{radius} for {:?}", usual.spectrum);
        let slivers = slivers.unwrap();
        for i in 0..n {
            if corners.contains(&i) {
                let l1 = 1.0 / spoiled.row(i).1.iter().map(|v| v.abs()).sum::<f64>();
                assert!((inverse[i] / l1 - 1.0).abs() < 1e-12, "{} {l1}", inverse[i]);
                assert_eq!(slivers[i], inverse[i]);
            } else {
                assert_eq!(slivers[i], 0.0);
                // Except for what four large radii add to the mean of 512, in steps of 1/64.
                let change = inverse[i] / usual.inverse[i] - 1.0;
                assert!(change.abs() < 0.02, "{} {}", inverse[i], usual.inverse[i]);
            }
        }
        // Without steps the radius is a bound, and no larger than the mean.
        let bound = diagonal(&g, &Blocks::scalar(spoiled), None, &lanczos(0), true).unwrap().spectrum.radius;
        assert!((radius..2.5).contains(&bound), "{bound}");
    }

    #[test]
    fn many_rows_are_not_of_slivers() {
        let regular: Arc<Csr<f64>> = Arc::new(generate(&"poisson3d:4".parse().unwrap(), 1).unwrap());
        // 16 of 64.
        let elements = [3, 7, 11, 15].map(|k| ([k, k + 16, k + 32, k + 48], [1.0, -1.0, 1.0, -1.0]));
        let spoiled = Arc::new(with_slivers(&regular, &elements, 500.0).unwrap());
        let g = Reference::new();
        let Diagonal { inverse, spectrum: Spectrum { radius, .. }, slivers } =
            diagonal(&g, &Blocks::scalar(spoiled.clone()), None, &lanczos(30), true).unwrap();
        assert!(slivers.is_none() && radius < 2.6, "{radius}");
        for i in elements[0].0 {
            let share = inverse[i] * spoiled.get(i, i).unwrap();
            assert!(share > 0.4 && share < 0.8, "{share}");
        }
    }
}
