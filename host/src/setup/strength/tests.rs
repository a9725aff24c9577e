//! Against dense loops, and every backend against the definition.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::matrix::Csr;
use crate::problem::random;
use crate::setup::algebra::Algebra;
use crate::setup::strength::{Strength, StrengthOfConnection};
use crate::setup::testing::{
    CLASSICAL, Dense, all_samples, assert_agrees, dense, samples, sparse, strict, symmetric,
};

#[test]
fn symmetric_strength_is_that_of_its_definition() {
    let (g, mut kept) = (Reference::new(), 0);
    for a in samples() {
        let full = dense(&a);
        let strong = |i: usize, j: usize| {
            i == j || (full[i][j] != 0.0 && full[i][j].powi(2) >= 0.08 * (full[i][i] * full[j][j]).abs())
        };
        let keep = |i: usize| {
            full[i].iter().enumerate().map(|(j, v)| if strong(i, j) { *v } else { 0.0 }).collect::<Vec<_>>()
        };
        let expected: Dense = (0..full.len()).map(keep).collect();
        let s = g.strength(&a, symmetric(0.08, false)).unwrap();
        assert_eq!(*s, sparse(&expected));

        let lumped = g.strength(&a, symmetric(0.08, true)).unwrap();
        assert_eq!((lumped.row_ptr(), lumped.col_idx()), (s.row_ptr(), s.col_idx()));
        for i in 0..full.len() {
            // Either the row sum stays, or the diagonal does because it would vanish or change its sign.
            let mut diagonal = full[i][i];
            (0..full.len()).filter(|&j| !strong(i, j)).for_each(|j| diagonal += full[i][j]);
            let stays = diagonal * full[i][i] <= 0.0;
            assert_eq!(lumped.get(i, i).unwrap(), if stays { full[i][i] } else { diagonal });
            kept += stays as u32;
            let off_diagonal = |s: &Csr<f64>| {
                s.row(i)
                    .0
                    .iter()
                    .zip(s.row(i).1)
                    .filter(|e| *e.0 != i as u32)
                    .map(|e| *e.1)
                    .collect::<Vec<_>>()
            };
            assert_eq!(off_diagonal(&lumped), off_diagonal(&s));
        }
        let mut again = Arc::new(s.with_values(vec![f64::NAN; s.nnz()]));
        g.strength_values(&a, true, &mut again).unwrap();
        assert_eq!(again, lumped);
    }
    assert!(kept > 0, "no diagonal that would change its sign");
}

#[test]
fn classical_strength_is_that_of_its_definition() {
    for a in samples() {
        let mut expected = dense(&a);
        for (i, row) in expected.iter_mut().enumerate() {
            let sign = row[i].signum();
            let largest =
                row.iter().enumerate().filter(|e| e.0 != i).map(|e| -sign * e.1).fold(0.0, f64::max);
            for (j, v) in row.iter_mut().enumerate() {
                if j != i && (-sign * *v <= 0.0 || -sign * *v < 0.25 * largest) {
                    *v = 0.0;
                }
            }
        }
        assert_eq!(*Reference::new().strength(&a, CLASSICAL).unwrap(), sparse(&expected));
    }
}

const STRENGTHS: [Strength; 5] = [
    Strength::Symmetric { epsilon: 0.0, lumped: true },
    Strength::Symmetric { epsilon: 0.04, lumped: false },
    Strength::Symmetric { epsilon: 0.09, lumped: true },
    Strength::Classical { theta: 0.25 },
    Strength::Classical { theta: 0.9 },
];

fn agrees<T: Real, B: Algebra<T>>(b: &B) {
    let reference = Reference::new();
    let mut weak = 0;
    for a in all_samples::<T>() {
        let on_b = b.csr(&a).unwrap();
        for strength in STRENGTHS {
            let what = format!("{} rows, {strength:?}", a.n_rows());
            let mut expected = reference.strength(&a, strength).unwrap();
            let mut s = b.strength(&on_b, strength).unwrap();
            assert_agrees(b, &s, &expected, &what);
            weak += a.nnz() - expected.nnz();

            let mut others = (*a).clone();
            for (k, v) in others.values_mut().iter_mut().enumerate() {
                *v *= T::from_f64(1.0 + random::uniform(11, k as u64));
            }
            let others = Arc::new(others);
            let lumped = matches!(strength, Strength::Symmetric { lumped: true, .. });
            reference.strength_values(&others, lumped, &mut expected).unwrap();
            b.strength_values(&b.csr(&others).unwrap(), lumped, &mut s).unwrap();
            assert_agrees(b, &s, &expected, &what);
        }
    }
    assert!(weak > 1000, "{weak} weak entries");
}

#[test]
fn every_backend_agrees_in_f64() {
    agrees::<f64, _>(&Cpu::new(3).unwrap());
    agrees::<f64, _>(&strict());
}

#[test]
fn every_backend_agrees_in_f32() {
    agrees::<f32, _>(&Cpu::new(3).unwrap());
    agrees::<f32, _>(&strict());
}
