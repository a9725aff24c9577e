//! Sweeps that are fused with other passes, against the same passes by themselves.

use super::super::hierarchy::LevelMatrices;
use super::super::level::{Correction, LevelMatrix};
use super::super::smoother::Smoother;
use super::super::traffic::Stored;
use super::*;
use crate::matrix::AnyMatrix;

/// A cycle whose corrections are one pass with the sweep after them, and one that takes both in turn.
#[test]
fn swept_corrections_are_interpolation_and_sweep() {
    let backend = Reference::new();
    let a = problem("tet:9");
    for (cycle, pre, post) in [(Cycle::V, 1, 1), (Cycle::W, 2, 1), (Cycle::K, 1, 2), (Cycle::V, 0, 1)] {
        let params =
            Params { cycle: Some(cycle), pre, post, coarse_rows: 10, compressed: false, ..Params::default() };
        let apply = |m: &mut Amg<f64, f64, Reference>| {
            let r: Vec<f64> = (0..a.n_rows()).map(noise).collect();
            let mut z = vec![f64::NAN; r.len()];
            m.apply(&backend, &r, &mut z).unwrap();
            z
        };
        let mut m = Amg::<f64, f64, Reference>::setup(&backend, &a, &params).unwrap();
        let swept = apply(&mut m);
        for (level, matrices) in m.multigrid.levels.iter_mut().zip(hierarchy(&a, &params).levels) {
            assert!(matches!(level.correction, Correction::Swept(_)));
            let p = Formats::<f64, f64>::operator(&backend, &matrices.p).unwrap();
            let size = Matrices::<f64>::size(&backend, matrices.p.first());
            level.correction = Correction::Interpolated(LevelMatrix::new(size, p));
        }
        assert!(m.multigrid.levels.len() >= 2);
        for (swept, z) in swept.into_iter().zip(apply(&mut m)) {
            assert!((swept - z).abs() < 1e-12, "{swept} is not {z}: {params:?}");
        }
    }
}

/// A smoother that offers no sweeps to be fused, as a triangular solve.
struct Unfused(Box<dyn Smoother<f64, Reference>>);

impl Smoother<f64, Reference> for Unfused {
    fn smooth_from_zero(
        &self,
        backend: &Reference,
        a: &Arc<AnyMatrix<f64>>,
        b: &Vec<f64>,
        x: &mut Vec<f64>,
        r: &mut Vec<f64>,
    ) -> Result<()> {
        self.0.smooth_from_zero(backend, a, b, x, r)
    }
    fn pre(
        &self,
        backend: &Reference,
        a: &Arc<AnyMatrix<f64>>,
        b: &Vec<f64>,
        x: &mut Vec<f64>,
        r: &mut Vec<f64>,
    ) -> Result<()> {
        self.0.pre(backend, a, b, x, r)
    }
    fn post(
        &self,
        backend: &Reference,
        a: &Arc<AnyMatrix<f64>>,
        b: &Vec<f64>,
        x: &mut Vec<f64>,
        r: &mut Vec<f64>,
    ) -> Result<()> {
        self.0.post(backend, a, b, x, r)
    }
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }
    fn step_bytes(&self, a: Stored, from_zero: bool) -> f64 {
        self.0.step_bytes(a, from_zero)
    }
}

/// What is fused is what a smoother by itself does.
#[test]
fn smoothers_that_are_no_sweeps() {
    let backend = Reference::new();
    let a = problem("tet:9");
    for (cycle, pre, post, max_levels) in [
        (Cycle::V, 1, 1, 20),
        (Cycle::W, 2, 1, 20),
        (Cycle::K, 1, 2, 20),
        (Cycle::F, 0, 1, 20),
        (Cycle::V, 1, 0, 2),
    ] {
        let params =
            Params { cycle: Some(cycle), pre, post, max_levels, coarse_rows: 10, ..Params::default() };
        let apply = |m: &mut Amg<f64, f64, Reference>| {
            let r: Vec<f64> = (0..a.n_rows()).map(noise).collect();
            let mut z = vec![f64::NAN; r.len()];
            m.apply(&backend, &r, &mut z).unwrap();
            z
        };
        let mut m = Amg::<f64, f64, Reference>::setup(&backend, &a, &params).unwrap();
        let fused = apply(&mut m);
        let matrices = hierarchy(&a, &params).levels;
        let unfused = |(mut level, matrices): (Level<f64, Reference>, LevelMatrices<_, _>)| {
            let p = Formats::<f64, f64>::operator(&backend, &matrices.p).unwrap();
            let size = Matrices::<f64>::size(&backend, matrices.p.first());
            level.correction = Correction::Interpolated(LevelMatrix::new(size, p));
            level.smoother = Box::new(Unfused(level.smoother));
            level
        };
        m.multigrid.levels =
            std::mem::take(&mut m.multigrid.levels).into_iter().zip(matrices).map(unfused).collect();
        for (fused, z) in fused.into_iter().zip(apply(&mut m)) {
            assert!((fused - z).abs() < 1e-12, "{fused} is not {z}: {params:?}");
        }
    }
}

/// Where a matrix with diagonals takes few bytes a sweep by itself is cheaper.
#[test]
fn sweeps_that_cost_little_are_not_fused() {
    let a = problem("tet:24");
    let cpu = Amg::<f64, f32, Cpu>::setup(&Cpu::new(2).unwrap(), &a, &Params::default()).unwrap();
    let plain = Amg::<f64, f32, Reference>::setup(&Reference::new(), &a, &Params::default()).unwrap();
    assert!(matches!(cpu.multigrid.levels[0].correction, Correction::Interpolated(_)));
    assert!(matches!(plain.multigrid.levels[0].correction, Correction::Swept(_)));
}
