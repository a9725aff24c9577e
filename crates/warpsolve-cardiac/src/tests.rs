//! Steps against the equations, formulations against each other, waves, errors.

mod bath;
mod checkpoints;
mod electrodes;
mod pieces;
mod plane;
mod ranks;
mod refusals;
mod steps;
mod waves;

use super::*;
use crate::mesh::{Mesh, TetMesh};
use warpsolve_host::backend::cells::Cells;
use warpsolve_host::precond::amg::Assembles;
use warpsolve_host::solver::cg::CgSteps;

/// An oblique fibre, unit length.
const FIBRE: [f64; 3] = [2.0 / 7.0, -6.0 / 7.0, 3.0 / 7.0];

/// A slab with this fibre.
fn slab(lengths: [f64; 3], spacing: f64, fibre: [f64; 3]) -> TetMesh {
    let slab = TetMesh::slab(lengths, spacing).unwrap();
    let fibres = vec![fibre; slab.cells().len()];
    TetMesh::new(slab.points().to_vec(), slab.cells().to_vec(), None, Some(fibres)).unwrap()
}

/// A current of 100 uA/mm^3 for 1 ms into a cube at the origin.
fn corner(size: f64) -> Stimulus {
    Stimulus {
        kind: StimulusKind::Transmembrane,
        shape: Shape::Box { low: [0.0; 3], high: [size; 3] },
        start: 0.0,
        duration: 1.0,
        strength: 100.0,
        period: None,
        beats: None,
    }
}

/// Solved far below what is looked for.
fn accurate(formulation: Formulation) -> Params {
    Params {
        formulation,
        model: Model::MitchellSchaeffer,
        stimuli: vec![corner(0.6)],
        rtol: 1e-10,
        parabolic_rtol: 1e-10,
        ..Params::default()
    }
}

/// v and phi after this many steps.
fn run<B, const C: usize>(
    backend: &B,
    mesh: &Mesh<C>,
    params: &Params,
    steps: u32,
) -> (Vec<f64>, Option<Vec<f64>>)
where
    B: Cells + Assembles + CgSteps<f64> + Clone + 'static,
{
    let mut simulation = Simulation::new(backend, mesh, params).unwrap();
    for _ in 0..steps {
        simulation.step().unwrap();
    }
    (simulation.v().unwrap(), simulation.phi_e().unwrap())
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}
