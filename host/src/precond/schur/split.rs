//! The two kinds of unknowns of a saddle point: those of the first block, and the multipliers.

use std::sync::Arc;

use cuda_std::Real;

use crate::error::{Error, Result};
use crate::matrix::Csr;

/// How the unknowns of a saddle point are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Split {
    /// The multipliers are those whose diagonal entry is 0.
    #[default]
    Zeros,
    /// They are all from this one on.
    From(usize),
    /// They are these.
    Multipliers(Arc<Vec<usize>>),
}

/// The unknowns of both kinds, ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// Those of the first block.
    pub first: Vec<u32>,
    /// The multipliers.
    pub multipliers: Vec<u32>,
}

impl Parts {
    /// Those of a square matrix.
    ///
    /// # Errors
    /// [`Error::Option`] where an index is out of range, or one of the two kinds is empty.
    pub fn of<T: Real>(a: &Csr<T>, split: &Split) -> Result<Parts> {
        let n = a.n_rows();
        let mut is_multiplier = vec![false; n];
        match split {
            Split::Zeros => is_multiplier = a.diagonal().iter().map(|d| *d == T::ZERO).collect(),
            Split::From(first) => is_multiplier.iter_mut().skip(*first).for_each(|is| *is = true),
            Split::Multipliers(rows) => {
                for &row in &**rows {
                    let message = || format!("the split names row {} of a matrix of {n} rows", row + 1);
                    *is_multiplier.get_mut(row).ok_or_else(|| Error::Option(message()))? = true;
                }
            }
        }
        let all = |kind: bool| (0..n as u32).filter(|&i| is_multiplier[i as usize] == kind).collect();
        let parts = Parts { first: all(false), multipliers: all(true) };
        if parts.first.is_empty() || parts.multipliers.is_empty() {
            let why = match split {
                Split::Zeros => {
                    "schur takes unknowns with a zero on the diagonal for multipliers, and all or none \
                                 have one; --split names others"
                        .into()
                }
                _ => format!("the split must leave unknowns of both kinds of the {n} that there are"),
            };
            return Err(Error::Option(why));
        }
        Ok(parts)
    }

    /// Those of a matrix that has a block of zeros on its diagonal: multipliers in no equation of each other.
    pub fn detected<T: Real>(a: &Csr<T>) -> Option<Parts> {
        let parts = Parts::of(a, &Split::Zeros).ok()?;
        let mut is_multiplier = vec![false; a.n_rows()];
        parts.multipliers.iter().for_each(|&i| is_multiplier[i as usize] = true);
        let is_free = |&i: &u32| {
            let (columns, values) = a.row(i as usize);
            columns.iter().zip(values).all(|(&j, &v)| !is_multiplier[j as usize] || v == T::ZERO)
        };
        parts.multipliers.iter().all(is_free).then_some(parts)
    }
}

/// Whether a matrix maps constants to nearly nothing in most of its rows, as the gradient of a pressure does.
/// Rows of a single entry, as a boundary has them, do not count, if they are not the most. Multipliers of
/// other origin, such as currents of sources, or constraints, differ.
pub fn is_like_gradient(g: &Csr<f64>) -> bool {
    const ROUNDING: f64 = 1e-8;
    const MOST: f64 = 0.8;
    let (mut single, mut rows, mut zero) = (0, 0, 0);
    for i in (0..g.n_rows()).filter(|&i| g.row_len(i) > 0) {
        let values = g.row(i).1;
        let magnitudes = values.iter().map(|v| v.abs()).sum::<f64>();
        single += usize::from(values.len() == 1);
        rows += usize::from(values.len() > 1);
        zero += usize::from(values.iter().sum::<f64>().abs() <= ROUNDING * magnitudes);
    }
    rows > single && f64::from(zero as u32) >= MOST * f64::from(rows as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saddle() -> Csr<f64> {
        let entries = [(0, 0, 2.0), (0, 1, 1.0), (1, 0, 1.0), (2, 2, 3.0), (2, 1, -1.0), (1, 2, -1.0)];
        Csr::from_triplets(3, 3, entries).unwrap()
    }

    #[test]
    fn zeros_on_the_diagonal_are_multipliers_unless_others_are_named() {
        let (first, multipliers) = (vec![0, 2], vec![1]);
        let expected = Parts { first, multipliers };
        assert_eq!(Parts::of(&saddle(), &Split::Zeros).unwrap(), expected);
        assert_eq!(Parts::detected(&saddle()), Some(expected));
        assert_eq!(Parts::of(&saddle(), &Split::From(2)).unwrap().multipliers, [2]);
        let named = Split::Multipliers(Arc::new(vec![2, 0]));
        assert_eq!(Parts::of(&saddle(), &named).unwrap().multipliers, [0, 2]);
        for wrong in [Split::From(3), Split::From(0), Split::Multipliers(Arc::new(vec![3]))] {
            assert!(matches!(Parts::of(&saddle(), &wrong), Err(Error::Option(_))));
        }
        assert!(Parts::of(&Csr::<f64>::identity(4), &Split::Zeros).is_err());
        // Two multipliers with an entry between them are no block of zeros.
        let coupled = Csr::from_triplets(3, 3, [(0, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)]).unwrap();
        assert_eq!(Parts::detected(&coupled), None);
    }

    #[test]
    fn a_gradient_has_rows_that_add_up_to_zero() {
        let of = |v: f64| Csr::from_triplets(3, 2, [(0, 0, 1.0), (0, 1, -v), (2, 0, -2.0), (2, 1, 2.0 * v)]);
        assert!(is_like_gradient(&of(1.0).unwrap()) && !is_like_gradient(&of(1.1).unwrap()));
        assert!(!is_like_gradient(&Csr::from_triplets(3, 2, []).unwrap()));
        // At a boundary there is one pressure; sources have one node each.
        let with_single = |more: usize| {
            let pairs = [(0, 0, 1.0), (0, 1, -1.0), (1, 0, 2.0), (1, 1, -2.0)].into_iter();
            let single = (2..2 + more).map(|row| (row, 1, 1.0));
            Csr::from_triplets(5, 2, pairs.chain(single)).unwrap()
        };
        assert!(is_like_gradient(&with_single(1)) && !is_like_gradient(&with_single(2)));
    }
}
