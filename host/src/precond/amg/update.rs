//! A hierarchy for a matrix of the same pattern: only its numbers are computed anew.

use std::sync::Arc;

use cuda_std::Real;

use super::coarsening::smoothed_aggregation;
use super::hierarchy::{Hierarchy, overcorrect};
use super::params::Params;
use super::phases::Phases;
use super::spectrum::{Diagonal, diagonal};
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::setup::Algebra;

/// A hierarchy in T with the intermediate products, kept to be updated.
pub struct Reusable<T: Real, B: Algebra<T>> {
    /// The matrix that was set up.
    pub pattern: Arc<Csr<T>>,
    /// Its levels.
    pub hierarchy: Hierarchy<B::Csr, B::Vector>,
    /// What it was set up with.
    pub params: Params,
}

/// That `a` has the pattern of `expected`.
pub fn check_pattern<T: Real>(expected: &Csr<T>, a: &Csr<T>) -> Result<()> {
    let fault = |message: String| {
        Err(Error::Matrix(format!("{message}; a hierarchy can be updated for the same pattern only")))
    };
    let size = |a: &Csr<T>| (a.n_rows(), a.n_cols());
    if size(a) != size(expected) {
        let ((rows, columns), (n, _)) = (size(a), size(expected));
        return fault(format!("the matrix is {rows} x {columns}, the one set up {n} x {n}"));
    }
    if a.has_pattern_of(expected) {
        return Ok(());
    }
    let row = (0..a.n_rows()).find(|&i| a.row(i).0 != expected.row(i).0).map_or(0, |i| i + 1);
    fault(format!("row {row} has other columns than in the matrix that was set up"))
}

/// Computes every number of the hierarchy anew, for the values of `a`.
pub fn update<T: Real, B: Algebra<T>>(backend: &B, reusable: &mut Reusable<T, B>, a: &B::Csr) -> Result<()> {
    let Reusable { hierarchy: Hierarchy { levels, coarsest, phases }, params, .. } = reusable;
    *phases = Phases::default();
    let finest = levels.first_mut().map_or(&mut *coarsest, |level| &mut level.a);
    backend.take_values(finest.first_mut(), a);
    let mut rest = &mut levels[..];
    let singletons = params.coarsening.properties().singletons;
    let mut l = 0;
    while let Some((level, coarser)) = std::mem::take(&mut rest).split_first_mut() {
        let found = phases
            .time(backend, "spectral radius", || diagonal(backend, &level.a, None, params, singletons))?;
        let products = level.products.as_mut().expect("kept in every level");
        if let Some(factors) = &mut products.factors {
            let (a, p) = (level.a.first(), level.p.first_mut());
            phases.time(backend, "interpolation", || {
                smoothed_aggregation::update(backend, a, &found, params, factors, p)
            })?;
            phases.time(backend, "transpose", || {
                backend.transpose_values(level.p.first(), level.r.first_mut())
            })?;
        }
        level.diagonal = Diagonal { slivers: None, ..found };
        let next = coarser.first_mut().map_or(&mut *coarsest, |level| &mut level.a);
        phases.time(backend, "Galerkin product", || {
            backend.product_values(level.a.first(), level.p.first(), products.ap.first_mut())?;
            backend.product_values(level.r.first(), products.ap.first(), next.first_mut())?;
            overcorrect(backend, params, l, next)
        })?;
        l += 1;
        rest = coarser;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Amg, Coarsening, Cycle, Precisions, SetupOn};
    use super::*;
    use crate::backend::Memory;
    use crate::backend::cpu::Cpu;
    use crate::backend::gpu::Gpu;
    use crate::backend::reference::Reference;
    use crate::precond::Preconditioner;
    use crate::problem::random::uniform;
    use crate::problem::{generate, with_slivers};

    fn problem(name: &str) -> Csr<f64> {
        generate(&name.parse().unwrap(), 1).unwrap()
    }

    fn with_values(a: &Csr<f64>, value: impl Fn(usize, usize, f64) -> f64) -> Csr<f64> {
        let values = (0..a.n_rows()).flat_map(|i| {
            let value = &value;
            a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| value(i, j as usize, v))
        });
        Csr::new(a.n_rows(), a.n_cols(), a.row_ptr().to_vec(), a.col_idx().to_vec(), values.collect())
            .unwrap()
    }

    /// `M r` for a fixed r, and the rows of all levels.
    fn applied<S: Real, B>(g: &B, amg: &mut Amg<f64, S, B>) -> (Vec<f64>, Vec<usize>)
    where
        B: Precisions<f64, S>,
    {
        let n = amg.info().levels[0].rows;
        let r: Vec<f64> = (0..n as u64).map(|i| uniform(8, i) - 0.5).collect();
        let (r, mut z) = (g.vector(&r).unwrap(), Memory::<f64>::zeros(g, n).unwrap());
        amg.apply(g, &r, &mut z).unwrap();
        (g.to_host(&z).unwrap(), amg.info().levels.iter().map(|level| level.rows).collect())
    }

    /// With a hierarchy in S.
    fn check<S: Real, B>(g: &B, name: &str, a: &Csr<f64>, params: &Params)
    where
        B: Precisions<f64, S>,
    {
        let perturbed = |a: &Csr<f64>, by: f64, seed| {
            let place = |i: usize, j: usize| (i.max(j) * a.n_rows() + i.min(j)) as u64;
            with_values(a, |i, j, v| v * (1.0 + by * uniform(seed, place(i, j))))
        };
        // No two connections are equally strong, or nearly so.
        let a = Arc::new(perturbed(a, 0.1, 4));
        let mut amg = Amg::<f64, S, B>::setup_reusable(g, &a, params).unwrap();
        let first = applied(g, &mut amg);
        let scaled = |factor: f64| with_values(&a, |_, _, v| factor * v);
        // 3.25 a is rounded. That changes no aggregate, because no two connections are equally strong.
        for new in [scaled(2.0), scaled(3.25), perturbed(&a, 1e-9, 5), (*a).clone()] {
            let new = Arc::new(new);
            amg.update_values(g, &new).unwrap();
            let mut fresh = Amg::<f64, S, B>::setup(g, &new, params).unwrap();
            let (updated, expected) = (applied(g, &mut amg), applied(g, &mut fresh));
            assert!(expected.1.len() > 2, "{name}: {:?}", expected.1);
            assert!(updated == expected, "{name}: {:?} {:?}", updated.1, expected.1);
            assert_eq!(amg.info().levels, fresh.info().levels);
            assert_eq!(new == a, updated == first, "{name}");
        }
    }

    #[test]
    fn an_updated_hierarchy_is_that_of_a_fresh_set_up() {
        let params = Params { coarse_rows: 8, ..Params::default() };
        let on = |name: &str| (name.to_string(), problem(name));
        let elements =
            [([100, 101, 109, 164], [5.0, -4.3, -2.7, 2.0]), ([30, 31, 39, 94], [1.0, -1.0, 1.0, -1.0])];
        let spoiled = with_slivers(&problem("poisson3d:8"), &elements, 40.0).unwrap();
        let slivers = ("slivers".to_string(), spoiled);
        for (name, a) in [on("poisson2d:23"), on("tet:7"), on("anisotropic:19:0.05"), slivers] {
            check::<f64, _>(&Reference::new(), &name, &a, &params);
        }
        let others = Params { cycle: Some(Cycle::K), setup: SetupOn::Host, ..params.clone() };
        let cpu = Cpu::new(2).unwrap();
        check::<f64, _>(&cpu, "tet:7", &problem("tet:7"), &others);
        // Large enough for diagonal runs with entries of 16 bits.
        check::<f32, _>(&cpu, "tet:17", &problem("tet:17"), &params);
        for params in [Params { coarse_rows: 3, ..params }, Params { coarse_rows: 3, ..others }] {
            check::<f64, _>(&Gpu::simulated().unwrap(), "poisson2d:11", &problem("poisson2d:11"), &params);
        }
    }

    #[test]
    fn interpolations_that_are_kept_give_a_galerkin_hierarchy() {
        let g = Reference::new();
        let a = Arc::new(problem("poisson2d:15"));
        for coarsening in [Coarsening::Pmis, Coarsening::MandelBrezina] {
            let params = Params { coarsening, coarse_rows: 10, ..Params::default() };
            let mut amg = Amg::<f64, f64, _>::setup_reusable(&g, &a, &params).unwrap();
            let (before, _) = applied(&g, &mut amg);
            // All of the cycle is linear in A^-1, and powers of two round nothing.
            amg.update_values(&g, &Arc::new(with_values(&a, |_, _, v| 4.0 * v))).unwrap();
            let (after, _) = applied(&g, &mut amg);
            assert!(before.iter().zip(&after).all(|(x, y)| (x - 4.0 * y).abs() <= 1e-13 * x.abs().max(1e-3)));
            let fresh = with_values(&a, |i, j, v| v * (1.0 + ((i + j) % 3) as f64));
            amg.update_values(&g, &Arc::new(fresh)).unwrap();
            assert_ne!(applied(&g, &mut amg).0, after);
        }
    }

    #[test]
    fn other_patterns_are_refused() {
        let g = Reference::new();
        let a = Arc::new(problem("poisson2d:9"));
        let params = Params { coarse_rows: 10, ..Params::default() };
        let mut amg = Amg::<f64, f64, _>::setup_reusable(&g, &a, &params).unwrap();
        let before = applied(&g, &mut amg);
        let refused =
            |amg: &mut Amg<f64, f64, Reference>, a: Csr<f64>| match amg.update_values(&g, &Arc::new(a)) {
                Err(Error::Matrix(message)) => message,
                other => panic!("{other:?}"),
            };
        assert!(
            refused(&mut amg, problem("poisson2d:8")).starts_with("the matrix is 64 x 64, the one set up 81")
        );
        let mut columns = a.col_idx().to_vec();
        let last = a.row_ptr()[40] + a.row_len(40) - 1;
        columns[last] += 1;
        let other = Csr::new(81, 81, a.row_ptr().to_vec(), columns, a.values().to_vec()).unwrap();
        assert!(refused(&mut amg, other).starts_with("row 41 has other columns"));
        let zero = with_values(&a, |i, j, v| if i == 3 && j == 3 { 0.0 } else { v });
        assert!(matches!(amg.update_values(&g, &Arc::new(zero)), Err(Error::Diagonal { row: 4, .. })));
        assert_eq!(applied(&g, &mut amg), before);
        let mut plain = Amg::<f64, f64, _>::setup(&g, &a, &params).unwrap();
        assert!(refused(&mut plain, (*a).clone()).contains("setup_reusable"));
    }
}
