//! How far a matrix is from a symmetric one.

use crate::matrix::Csr;

/// `sum |a_ij - a_ji| / sum (|a_ij| + |a_ji|)` over the pairs i > j of which an entry is stored: 0 for a
/// symmetric matrix, 1 for a triangular one. Upwind differences of a fast flow are nearly that.
pub fn asymmetry(a: &Csr<f64>) -> f64 {
    let (mut difference, mut sum) = (0.0, 0.0);
    for i in 0..a.n_rows() {
        let (columns, values) = a.row(i);
        for (&j, &value) in columns.iter().zip(values).filter(|(j, _)| **j as usize != i) {
            let mirrored = a.get(j as usize, i);
            // The other one of a pair has been here.
            if mirrored.is_some() && j as usize > i {
                continue;
            }
            let mirrored = mirrored.unwrap_or(0.0);
            difference += (value - mirrored).abs();
            sum += value.abs() + mirrored.abs();
        }
    }
    if sum > 0.0 { difference / sum } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::generate;

    #[test]
    fn upwind_differences_are_nearly_triangular() {
        let of = |problem: &str| asymmetry(&generate(&problem.parse().unwrap(), 1).unwrap());
        assert_eq!(of("poisson2d:12"), 0.0);
        let (slow, fast) = (of("convection-diffusion:20:1"), of("convection-diffusion:20:1e6"));
        assert!(slow > 0.001 && slow < 0.1 && fast > 0.9, "{slow} {fast}");
        let upper = [(0, 0, 1.0), (0, 1, 5.0), (1, 1, 1.0)];
        assert_eq!(asymmetry(&Csr::from_triplets(2, 2, upper).unwrap()), 1.0);
        let half = upper.into_iter().chain([(1, 0, 3.0)]);
        assert_eq!(asymmetry(&Csr::from_triplets(2, 2, half).unwrap()), 0.25);
        assert_eq!(asymmetry(&Csr::from_triplets(2, 2, []).unwrap()), 0.0);
    }
}
