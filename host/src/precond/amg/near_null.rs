//! What a matrix nearly maps to 0: vectors that coarser levels must be able to hold.

use super::params::{Coarsening, Params};
use crate::comm::{Reader, Writer};
use crate::error::{Error, Result};
use crate::matrix::check;

/// Vectors b with `A b` nearly 0, which smoothed aggregation interpolates exactly: for elasticity the rigid
/// motions of the body (Vanek, Mandel, Brezina 1996, section 4).
#[derive(Debug, Clone, PartialEq)]
pub struct NearNull {
    vectors: Vec<Vec<f64>>,
    unknowns: usize,
    is_constant: bool,
}

impl NearNull {
    /// The given vectors, for a matrix with so many `unknowns` a node, numbered node by node. The unknowns of
    /// a node are aggregated together.
    ///
    /// # Errors
    /// [`Error::Option`] for no vectors and no unknowns, [`Error::NotFinite`] for a vector that is not
    /// finite, [`Error::Dimension`] where vectors have different lengths, or one that `unknowns` does not
    /// divide.
    pub fn new(vectors: Vec<Vec<f64>>, unknowns: usize) -> Result<NearNull> {
        let (Some(first), true) = (vectors.first(), unknowns > 0) else {
            return Err(Error::Option("near-null vectors: at least one, of nodes with an unknown".into()));
        };
        let n = first.len().next_multiple_of(unknowns);
        vectors.iter().try_for_each(|v| check::check_vector("near-null vector", v, n))?;
        let is_constant = unknowns == 1 && matches!(&vectors[..], [v] if v.iter().all(|x| *x == v[0]));
        Ok(NearNull { vectors, unknowns, is_constant })
    }

    /// The rigid motions of a body in the plane or in space, whose nodes have these coordinates, one array of
    /// all nodes for each direction; the unknowns of a node are its displacements in these directions. The
    /// translations come first, then the rotations around the centre.
    ///
    /// # Errors
    /// [`Error::Option`] unless there are 2 or 3 directions, [`Error::Dimension`] where they have different
    /// lengths, [`Error::NotFinite`] for a coordinate that is not finite.
    pub fn rigid_motions(coordinates: &[Vec<f64>]) -> Result<NearNull> {
        let planes: &[(usize, usize)] = match coordinates.len() {
            2 => &[(0, 1)],
            3 => &[(1, 2), (2, 0), (0, 1)],
            found => {
                return Err(Error::Option(format!("coordinates in {found} directions; they are 2 or 3")));
            }
        };
        let (d, nodes) = (coordinates.len(), coordinates[0].len());
        coordinates.iter().try_for_each(|x| check::check_vector("coordinates", x, nodes))?;
        let centred: Vec<Vec<f64>> = coordinates.iter().map(|x| about_mean(x)).collect();
        // Of the size of the translations.
        let squares: f64 = centred.iter().flatten().map(|x| x * x).sum();
        let radius = (squares / nodes.max(1) as f64).sqrt();
        let scale = if radius > 0.0 { 1.0 / radius } else { 1.0 };
        let mut vectors = vec![vec![0.0; d * nodes]; d + planes.len()];
        for i in 0..nodes {
            for k in 0..d {
                vectors[k][d * i + k] = 1.0;
            }
            for (rotation, &(k, l)) in vectors[d..].iter_mut().zip(planes) {
                rotation[d * i + k] = -scale * centred[l][i];
                rotation[d * i + l] = scale * centred[k][i];
            }
        }
        NearNull::new(vectors, d)
    }

    /// The vectors.
    pub fn vectors(&self) -> &[Vec<f64>] {
        &self.vectors
    }

    /// Unknowns a node.
    pub fn unknowns(&self) -> usize {
        self.unknowns
    }

    /// Refuses what smoothed aggregation of a matrix of so many rows cannot take.
    pub(crate) fn check(&self, params: &Params, block: usize, n: usize) -> Result<()> {
        if params.coarsening != Coarsening::SmoothedAggregation || block != 1 {
            return Err(Error::Option(
                "near-null vectors go with the coarsening sa, of a matrix without blocks".into(),
            ));
        }
        match self.vectors[0].len() {
            found if found == n => Ok(()),
            found => Err(Error::Dimension { what: "near-null vector", expected: n, found }),
        }
    }

    /// Whether nothing but the constant 1 is to be interpolated well, as it is without any vectors.
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }

    /// The elements of one rank, with all unknowns of its nodes.
    pub(crate) fn part(&self, of_rank: impl Fn(&[f64]) -> Vec<f64>) -> NearNull {
        NearNull { vectors: self.vectors.iter().map(|v| of_rank(v)).collect(), ..*self }
    }

    /// Such a part as a message to that rank.
    pub(crate) fn written(&self, message: Writer) -> Writer {
        let told = [self.vectors.len(), self.unknowns, usize::from(self.is_constant)].map(|n| n as u64);
        self.vectors.iter().fold(message.put(&told), |message, v| message.put(v))
    }

    /// What rank 0 has written.
    pub(crate) fn read(message: &mut Reader) -> Result<NearNull> {
        let told: Vec<u64> = message.take()?;
        let &[count, unknowns, is_constant] = &told[..] else {
            return Err(Error::Option("rank 0 tells something else".into()));
        };
        let vectors = (0..count).map(|_| message.take()).collect::<Result<_>>()?;
        Ok(NearNull { vectors, unknowns: unknowns as usize, is_constant: is_constant != 0 })
    }
}

fn about_mean(x: &[f64]) -> Vec<f64> {
    let mean = x.iter().sum::<f64>() / x.len().max(1) as f64;
    x.iter().map(|x| x - mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances do not change to first order: `(x_i - x_j) (u_i - u_j) = 0`.
    #[test]
    fn rigid_motions_keep_distances() {
        for d in [2, 3] {
            let coordinate = |k: usize| (0..7).map(|i| ((3 * i + 5 * k) as f64).sin() + 4.0).collect();
            let x: Vec<Vec<f64>> = (0..d).map(coordinate).collect();
            let motions = NearNull::rigid_motions(&x).unwrap();
            assert_eq!((motions.vectors().len(), motions.unknowns()), (d * (d + 1) / 2, d));
            for u in motions.vectors() {
                for (i, j) in (0..7).flat_map(|i| (0..i).map(move |j| (i, j))) {
                    let change: f64 =
                        (0..d).map(|k| (x[k][i] - x[k][j]) * (u[d * i + k] - u[d * j + k])).sum();
                    assert!(change.abs() < 1e-14, "{i} {j}");
                }
                let norm = u.iter().map(|u| u * u).sum::<f64>();
                assert!(norm > 0.1 && norm < 8.0, "{norm}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(matches!(NearNull::new(vec![], 1), Err(Error::Option(_))));
        assert!(matches!(NearNull::new(vec![vec![1.0; 4]], 0), Err(Error::Option(_))));
        assert!(matches!(NearNull::new(vec![vec![1.0; 4]], 3), Err(Error::Dimension { .. })));
        assert!(matches!(NearNull::new(vec![vec![1.0; 4], vec![1.0; 3]], 1), Err(Error::Dimension { .. })));
        assert!(matches!(NearNull::new(vec![vec![f64::NAN]], 1), Err(Error::NotFinite { .. })));
        let refused = |x: &[Vec<f64>]| NearNull::rigid_motions(x).err().unwrap();
        assert!(matches!(refused(&[vec![0.0]]), Error::Option(_)));
        assert!(matches!(refused(&[vec![0.0; 2], vec![0.0; 3]]), Error::Dimension { .. }));
    }
}
