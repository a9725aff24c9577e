//! Rates of convergence against manufactured solutions.

use super::*;

/// Conjugate gradients with the diagonal as preconditioner, down to 1e-12 of the right-hand side.
fn solve(a: &Csr<f64>, b: &[f64]) -> Vec<f64> {
    let (diagonal, target) = (a.diagonal(), 1e-12 * inner(b, b).sqrt());
    let precondition = |r: &[f64]| r.iter().zip(&diagonal).map(|(r, d)| r / d).collect::<Vec<_>>();
    let (mut x, mut r) = (vec![0.0; b.len()], b.to_vec());
    let mut z = precondition(&r);
    let (mut p, mut rho) = (z.clone(), inner(&r, &z));
    for _ in 0..2000 {
        if inner(&r, &r).sqrt() < target {
            return x;
        }
        let ap = a.mul_vec(&p);
        let alpha = rho / inner(&p, &ap);
        for i in 0..x.len() {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
        }
        z = precondition(&r);
        let next = inner(&r, &z);
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + next / rho * *p);
        rho = next;
    }
    panic!("conjugate gradients do not converge");
}

/// A product of one function of each coordinate on the unit cube whose normal derivative vanishes on the
/// surface: its value and its Hessian.
struct Manufactured {
    /// The function of axis x, its first and its second derivative.
    factor: fn(usize, f64) -> [f64; 3],
}

impl Manufactured {
    fn value(&self, p: Vec3) -> f64 {
        (0..3).map(|x| (self.factor)(x, p[x])[0]).product()
    }

    /// div(sigma grad u)
    fn divergence(&self, sigma: &Tensor, p: Vec3) -> f64 {
        let second = |x: usize, y: usize| {
            let order = |axis: usize| usize::from(axis == x) + usize::from(axis == y);
            (0..3).map(|axis| (self.factor)(axis, p[axis])[order(axis)]).product::<f64>()
        };
        (0..3).map(|x| (0..3).map(|y| sigma[x][y] * second(x, y)).sum::<f64>()).sum()
    }
}

/// cos(pi x) cos(pi y) cos(pi z): no flux through the surface where sigma is diagonal.
const WAVE: Manufactured = Manufactured { factor: |_, x| cosine(x) };

/// cos(pi x) cos(pi y), likewise.
const FLAT_WAVE: Manufactured =
    Manufactured { factor: |axis, x| if axis < 2 { cosine(x) } else { [1.0, 0.0, 0.0] } };

fn cosine(x: f64) -> [f64; 3] {
    [(PI * x).cos(), -PI * (PI * x).sin(), -PI * PI * (PI * x).cos()]
}

/// 16 x^2 (1 - x)^2 on each axis: no gradient on the surface, and so no flux whatever sigma is.
const BUMP: Manufactured = Manufactured {
    factor: |_, x| {
        let y = x * (1.0 - x);
        [16.0 * y * y, 32.0 * y * (1.0 - 2.0 * x), 32.0 * ((1.0 - 2.0 * x).powi(2) - 2.0 * y)]
    },
};

/// The norm of the error in M.
fn error(m: &Csr<f64>, found: &[f64], exact: &[f64]) -> f64 {
    let e: Vec<f64> = found.iter().zip(exact).map(|(found, exact)| found - exact).collect();
    inner(&e, &m.mul_vec(&e)).sqrt()
}

/// Nodes along an edge for the rates: each mesh is twice as fine as the one before.
const SIZES: [usize; 3] = [9, 17, 33];

/// Asserts second order for the errors on meshes of these sizes.
fn assert_second_order(errors: &[f64]) {
    let rates: Vec<f64> = errors.windows(2).map(|e| (e[0] / e[1]).log2()).collect();
    println!("errors {errors:?}, rates {rates:?}");
    assert!(rates.iter().all(|&rate| rate > 1.8), "errors {errors:?}, rates {rates:?}");
}

#[test]
fn an_elliptic_problem_converges_with_second_order() {
    let diagonal = [[0.9, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.3]];
    let oblique = transversely_isotropic(FIBRE, 0.6, 0.1);
    for (exact, sigma) in [(WAVE, diagonal), (BUMP, oblique)] {
        // -div(sigma grad u) + u = f
        let errors = SIZES.map(|n| {
            let (points, tets) = bent_cube(n);
            let space = P1::new(&points, &tets).unwrap();
            let (mut a, m) = (space.stiffness(|_| sigma), space.mass());
            a.values_mut().iter_mut().zip(m.values()).for_each(|(k, m)| *k += m);
            let f: Vec<f64> = points.iter().map(|&p| exact.value(p) - exact.divergence(&sigma, p)).collect();
            let u: Vec<f64> = points.iter().map(|&p| exact.value(p)).collect();
            error(&m, &solve(&a, &m.mul_vec(&f)), &u)
        });
        assert_second_order(&errors);
    }
}

#[test]
fn a_step_of_the_bidomain_equations_converges_with_second_order() {
    // Along an axis, so that the tensors are diagonal.
    let fibre = [0.0, 1.0, 0.0];
    let sigma_i = transversely_isotropic(fibre, 0.17, 0.019);
    let sigma_e = transversely_isotropic(fibre, 0.62, 0.24);
    let sigma_ie: Tensor = std::array::from_fn(|x| std::array::from_fn(|y| sigma_i[x][y] + sigma_e[x][y]));
    let (phi, v, kappa) = (WAVE, FLAT_WAVE, 0.3);
    let errors = SIZES.map(|n| {
        let (points, tets) = bent_cube(n);
        let space = P1::new(&points, &tets).unwrap();
        let m = space.mass();
        let (k_i, k_ie) = (space.stiffness(|_| sigma_i), space.stiffness(|_| sigma_ie));
        let a = bidomain(&k_i, &k_ie, &m, kappa).unwrap();
        let at = |f: &dyn Fn(Vec3) -> f64| points.iter().map(|&p| f(p)).collect::<Vec<f64>>();

        //           0 = div(sigma_i grad v) + div(sigma_ie grad phi) + I_e
        // kappa (v - v*) = div(sigma_i grad(v + phi))
        let i_e = at(&|p| -v.divergence(&sigma_i, p) - phi.divergence(&sigma_ie, p));
        let flow = |p| v.divergence(&sigma_i, p) + phi.divergence(&sigma_i, p);
        let v_star = at(&|p| v.value(p) - flow(p) / kappa);
        let (mut for_phi, for_v) = (m.mul_vec(&i_e), m.mul_vec(&v_star));
        // Interpolated, I_e no longer adds up to zero.
        let volume: f64 = space.lumped_mass().iter().sum();
        let excess = for_phi.iter().sum::<f64>() / volume;
        for_phi.iter_mut().zip(space.lumped_mass()).for_each(|(b, m)| *b -= excess * m);
        let b: Vec<f64> = for_phi.iter().zip(for_v).flat_map(|(&b, c)| [b, kappa * c]).collect();
        let u = solve(&a, &b);

        let (exact_phi, exact_v) = (at(&|p| phi.value(p)), at(&|p| v.value(p)));
        let (mut found_phi, found_v): (Vec<f64>, Vec<f64>) = u.chunks(2).map(|u| (u[0], u[1])).unzip();
        let mean = |u: &[f64]| inner(u, &space.lumped_mass()) / volume;
        let shift = mean(&exact_phi) - mean(&found_phi);
        found_phi.iter_mut().for_each(|phi| *phi += shift);
        [error(&m, &found_phi, &exact_phi), error(&m, &found_v, &exact_v)]
    });
    assert_second_order(&errors.map(|e| e[0]));
    assert_second_order(&errors.map(|e| e[1]));
}
