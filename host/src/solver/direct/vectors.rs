//! Vectors of the host: norms, and projections.

/// Gram and Schmidt's method, twice. What depends on the vectors before it is left out.
pub fn orthonormalise(vectors: &mut Vec<Vec<f64>>) {
    /// What is left of a vector that depends on others.
    const DEPENDENT: f64 = 1e-8;
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut v in std::mem::take(vectors) {
        let length = norm(&v);
        v.iter_mut().for_each(|v| *v /= length);
        for _ in 0..2 {
            remove(&basis, &mut v);
        }
        let rest = norm(&v);
        if rest > DEPENDENT {
            v.iter_mut().for_each(|v| *v /= rest);
            basis.push(v);
        }
    }
    *vectors = basis;
}

/// `x - Y Y^T x` in place of x, with the columns of Y orthonormal; returns `||Y^T x||_2`.
pub fn remove(basis: &[Vec<f64>], x: &mut [f64]) -> f64 {
    let mut removed = 0.0;
    for y in basis {
        let product: f64 = y.iter().zip(&*x).map(|(y, x)| y * x).sum();
        x.iter_mut().zip(y).for_each(|(x, y)| *x -= product * y);
        removed += product * product;
    }
    removed.sqrt()
}

/// `||v||_2`, also where squares overflow.
pub fn norm(v: &[f64]) -> f64 {
    let most = v.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    // NaN is lost by `max`.
    if most == 0.0 || !most.is_finite() {
        return v.iter().map(|v| v.abs()).sum();
    }
    most * v.iter().map(|v| (v / most).powi(2)).sum::<f64>().sqrt()
}
