//! Waves in a plane.

use super::*;
use crate::mesh::TriMesh;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::gpu::Gpu;
use warpsolve_host::backend::reference::Reference;

/// The activation times at the nodes of the mesh of this x, and their spread.
fn times_at<const C: usize>(mesh: &Mesh<C>, times: &[f64], x: f64) -> (f64, f64) {
    let at = mesh.points().iter().zip(times).filter(|(p, _)| (p[0] - x).abs() < 1e-9).map(|(_, t)| *t);
    let times: Vec<f64> = at.collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    (mean, times.iter().fold(0.0, |most, t| f64::max(most, (t - mean).abs())))
}

fn speed<const C: usize>(mesh: &Mesh<C>, formulation: Formulation) -> f64 {
    let left = Shape::Box { low: [0.0; 3], high: [0.5, 9.0, 9.0] };
    let params = Params {
        formulation,
        model: Model::MitchellSchaeffer,
        stimuli: vec![Stimulus { shape: left, ..corner(1.0) }],
        ..Params::default()
    };
    let mut simulation = Simulation::new(&Cpu::new(2).unwrap(), mesh, &params).unwrap();
    for _ in 0..300 {
        simulation.step().unwrap();
    }
    let times = simulation.activation().unwrap();
    let ((first, spread), (last, _)) = (times_at(mesh, &times, 1.0), times_at(mesh, &times, 3.0));
    assert!(first > 0.0 && last > first && spread < 0.15, "{formulation}: {first} {last} {spread}");
    2.0 / (last - first)
}

#[test]
fn a_plane_wave_is_as_fast_as_in_space() {
    let slab = TetMesh::slab([3.6, 0.4, 0.4], 0.2).unwrap();
    let sheet = TriMesh::sheet([3.6, 0.4], None, 0.2).unwrap();
    for &formulation in Formulation::ALL {
        let (in_space, in_plane) = (speed(&slab, formulation), speed(&sheet, formulation));
        println!("{formulation}: {in_space} and {in_plane} mm/ms");
        assert!((in_plane / in_space - 1.0).abs() < 0.002, "{formulation}: {in_space} {in_plane}");
    }
}

#[test]
fn formulations_and_backends_agree_in_a_plane() {
    // A bath along one side, electrodes in it, fibres across the sheet.
    let sheet = TriMesh::sheet([1.6, 0.8], Some(0.4), 0.2).unwrap();
    let fibres = vec![[0.6, 0.8, 0.0]; sheet.cells().len()];
    let regions = sheet.regions().map(Vec::from);
    let mesh = TriMesh::new(sheet.points().to_vec(), sheet.cells().to_vec(), regions, Some(fibres)).unwrap();
    let electrode = |low: f64, high: f64, strength| Stimulus {
        kind: StimulusKind::Extracellular,
        shape: Shape::Box { low: [low, 1.1, 0.0], high: [high, 1.2, 0.0] },
        strength,
        ..corner(1.0)
    };
    let params = |formulation| Params {
        regions: vec![Region { tag: TriMesh::LAYER, conductivities: Conductivities::bath(1.0) }],
        stimuli: vec![corner(0.5), electrode(0.0, 0.2, 100.0), electrode(1.4, 1.6, -100.0)],
        balance: Balance::Scale,
        lumped_mass: true,
        ..accurate(formulation)
    };
    let of = |formulation| run(&Reference::new(), &mesh, &params(formulation), 10);
    let (v, phi) = of(Formulation::Coupled);
    let phi = phi.unwrap();
    assert!(largest_difference(&v, &vec![v[0]; v.len()]) > 10.0);
    for (other_v, other_phi) in [
        of(Formulation::Potentials),
        run(&Cpu::new(2).unwrap(), &mesh, &params(Formulation::Coupled), 10),
        run(&Gpu::simulated().unwrap(), &mesh, &params(Formulation::Potentials), 10),
        run(&Cpu::new(1).unwrap(), &mesh, &Params { reorder: true, ..params(Formulation::Coupled) }, 10),
    ] {
        assert!(largest_difference(&v, &other_v) < 1e-5);
        assert!(largest_difference(&phi, &other_phi.unwrap()) < 1e-5);
    }
}
