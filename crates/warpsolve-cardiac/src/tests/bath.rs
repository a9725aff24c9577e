//! Regions with conductivities of their own, and tissue in a bath.

use super::*;
use crate::diffusion::Diffusion;
use crate::domain::Domain;
use warpsolve_host::backend::Memory;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::gpu::Gpu;
use warpsolve_host::error::Error;

const BIDOMAIN: [Formulation; 3] = [Formulation::Splitting, Formulation::Coupled, Formulation::Potentials];

fn bath(sigma: f64) -> Vec<Region> {
    vec![Region { tag: TetMesh::LAYER, conductivities: Conductivities::bath(sigma) }]
}

fn isotropic() -> Tissue {
    Tissue { sigma_il: 0.2, sigma_it: 0.2, sigma_el: 0.3, sigma_et: 0.3, ..Tissue::default() }
}

#[test]
fn a_bath_that_hardly_conducts_leaves_the_waves_as_they_are() {
    let lengths = [2.0, 0.75, 0.5];
    let mesh = TetMesh::slab_with_layer(lengths, 0.5, 0.25).unwrap();
    let alone = TetMesh::slab(lengths, 0.25).unwrap();
    let cpu = Cpu::new(2).unwrap();
    for formulation in BIDOMAIN {
        let params = |regions| Params { regions, rtol: 1e-11, ..accurate(formulation) };
        let (v, _) = run(&cpu, &alone, &params(Vec::new()), 60);
        let differences: Vec<f64> = [1e-2, 1e-3, 1e-4]
            .into_iter()
            .map(|sigma| {
                let params = params(bath(sigma));
                let (tissue, nodes) = params.tissue_of(&mesh).unwrap().unwrap();
                assert_eq!((tissue.points(), tissue.cells()), (alone.points(), alone.cells()));
                let (all, _) = run(&cpu, &mesh, &params, 60);
                let within: Vec<f64> = nodes.iter().map(|&node| all[node as usize]).collect();
                // There is no voltage in the bath.
                let is_bath = |p: &[f64; 3]| p[2] > lengths[2];
                assert!(mesh.points().iter().zip(&all).all(|(p, &v)| !is_bath(p) || v == -80.0));
                largest_difference(&v, &within)
            })
            .collect();
        println!("{formulation}: {differences:?}");
        for pair in differences.windows(2) {
            assert!((5.0..20.0).contains(&(pair[0] / pair[1])), "{formulation}: {differences:?}");
        }
        assert!(differences[0] > 1e-4, "{formulation}: {differences:?}");
    }
}

/// With psi = sigma_ie phi + sigma_i v in the tissue, 0 < z < 1, and psi = sigma_b phi in the bath, 1 < z <
/// 2, the equation of phi is that psi is harmonic, continuous in its flux, and without flux through the
/// boundary: in the bath phi = cos(pi x) cosh(pi (2 - z)), in the tissue psi = -sigma_b cos(pi x) cosh(pi z).
/// Any phi will do there which is continuous at z = 1; v follows from it.
#[test]
fn the_potential_in_tissue_and_bath_converges_with_second_order() {
    use std::f64::consts::PI;
    let sigma_b = 0.7;
    let phi = |p: &[f64; 3]| {
        let along = (PI * p[0]).cos();
        along * if p[2] < 1.0 { PI.cosh() * p[2] * p[2] } else { (PI * (2.0 - p[2])).cosh() }
    };
    let v = |p: &[f64; 3]| (-sigma_b * (PI * p[0]).cos() * (PI * p[2]).cosh() - 0.5 * phi(p)) / 0.2;
    let cpu = Cpu::new(2).unwrap();
    for formulation in [Formulation::Coupled, Formulation::Potentials] {
        let errors: Vec<f64> = [4.0, 8.0, 16.0]
            .into_iter()
            .map(|n: f64| {
                let mesh = TetMesh::slab_with_layer([1.0, 1.0 / n, 1.0], 1.0, 1.0 / n).unwrap();
                // In so short a step v stays what it is.
                let (regions, tissue, dt) = (bath(sigma_b), isotropic(), 1e-5);
                let params = Params { regions, tissue, dt, ..accurate(formulation) };
                let domain = Domain::new(&mesh, &params, None).unwrap();
                let mut diffusion = Diffusion::new(&cpu, &domain, &params).unwrap();
                let tissue = params.tissue_of(&mesh).unwrap().unwrap().0;
                let mut values = cpu.vector(&tissue.points().iter().map(v).collect::<Vec<_>>()).unwrap();
                diffusion.advance(&cpu, &mut values, [0.0, dt]).unwrap();
                let found = diffusion.phi(&cpu, domain.share()).unwrap().unwrap();
                let exact: Vec<f64> = mesh.points().iter().map(phi).collect();
                let mean = exact.iter().sum::<f64>() / exact.len() as f64;
                let squares = found.iter().zip(&exact).map(|(found, exact)| (found - (exact - mean)).powi(2));
                (squares.sum::<f64>() / exact.len() as f64).sqrt()
            })
            .collect();
        println!("{formulation}: {errors:?}");
        let rates: Vec<f64> = errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect();
        assert!(rates.iter().all(|rate| *rate > 1.7), "{formulation}: {errors:?} {rates:?}");
        assert!(errors[2] < 0.15, "{formulation}: {errors:?}");
    }
}

#[test]
fn a_wave_is_faster_along_a_bath() {
    // Plane where it begins, later curved: ahead at the bath's side.
    let lengths = [5.0, 0.3, 1.5];
    let mesh = TetMesh::slab_with_layer(lengths, 0.6, 0.3).unwrap();
    let left = Shape::Box { low: [0.0; 3], high: [0.6, 9.0, 9.0] };
    let ahead = |formulation, regions: Vec<Region>| {
        let params = Params {
            formulation,
            regions,
            model: Model::MitchellSchaeffer,
            tissue: isotropic(),
            stimuli: vec![Stimulus { shape: left.clone(), ..corner(1.0) }],
            dt: 0.1,
            ..Params::default()
        };
        let mut simulation = Simulation::new(&Cpu::new(2).unwrap(), &mesh, &params).unwrap();
        for _ in 0..250 {
            simulation.step().unwrap();
        }
        let times = simulation.activation().unwrap();
        let reached = times.iter().filter(|time| **time >= 0.0).count();
        assert_eq!(reached, simulation.cells());
        let at = |z: f64| {
            let is_there = |p: &[f64; 3]| (p[0] - 4.2).abs() < 0.16 && p[1] == 0.0 && (p[2] - z).abs() < 1e-9;
            times[mesh.points().iter().position(is_there).unwrap()]
        };
        println!("{formulation}: {} at the surface, {} at the bottom", at(1.5), at(0.0));
        at(0.0) - at(1.5)
    };
    for formulation in BIDOMAIN {
        let with_bath = ahead(formulation, bath(1.0));
        // The same, all of it tissue.
        let without = ahead(formulation, Vec::new());
        assert!(with_bath > 0.1 && without.abs() < 0.05, "{formulation}: {with_bath} {without}");
    }
}

#[test]
fn regions_conduct_in_their_own_way() {
    let mesh = TetMesh::slab_with_layer([2.0, 0.5, 0.5], 0.5, 0.25).unwrap();
    let cpu = Cpu::new(2).unwrap();
    let region = |conductivities| vec![Region { tag: TetMesh::LAYER, conductivities }];
    for &formulation in Formulation::ALL {
        let of = |regions| run(&cpu, &mesh, &Params { regions, ..accurate(formulation) }, 40).0;
        // Named, but as the rest: the same bits.
        let plain = of(Vec::new());
        assert!(plain == of(region(Tissue::default().conductivities())));
        let other = of(region(Conductivities { il: 0.05, ..Tissue::default().conductivities() }));
        assert!(largest_difference(&plain, &other) > 1.0, "{formulation}");
        if formulation != Formulation::Monodomain {
            // Cells without a space outside of them: nothing is singular.
            let bare = of(region(Conductivities { el: 0.0, et: 0.0, ..Tissue::default().conductivities() }));
            assert!(largest_difference(&plain, &bare) > 0.1, "{formulation}");
        }
    }
}

#[test]
fn backends_and_orders_agree_on_a_bath() {
    let mesh = TetMesh::slab_with_layer([0.9, 0.6, 0.3], 0.3, 0.3).unwrap();
    let electrode = |low: f64, high: f64, strength| Stimulus {
        kind: StimulusKind::Extracellular,
        shape: Shape::Box { low: [low, 0.0, 0.5], high: [high, 9.0, 9.0] },
        strength,
        ..corner(1.0)
    };
    for formulation in BIDOMAIN {
        let params = Params {
            regions: bath(1.0),
            stimuli: vec![corner(0.4), electrode(0.0, 0.1, 100.0), electrode(0.8, 0.9, -100.0)],
            balance: Balance::Scale,
            ..accurate(formulation)
        };
        let (v, phi) = run(&Cpu::new(2).unwrap(), &mesh, &params, 5);
        let phi = phi.unwrap();
        for (other_v, other_phi) in [
            run(&Gpu::simulated().unwrap(), &mesh, &params, 5),
            run(&Cpu::new(1).unwrap(), &mesh, &Params { reorder: true, ..params.clone() }, 5),
        ] {
            assert!(largest_difference(&v, &other_v) < 1e-6, "{formulation}");
            assert!(largest_difference(&phi, &other_phi.unwrap()) < 1e-6, "{formulation}");
        }
    }
}

#[test]
fn a_restarted_run_with_a_bath_has_the_same_bits() {
    let mesh = TetMesh::slab_with_layer([1.0, 0.5, 0.5], 0.5, 0.25).unwrap();
    let cpu = Cpu::new(2).unwrap();
    let params = Params { regions: bath(1.0), ..accurate(Formulation::Splitting) };
    let mut whole = Simulation::new(&cpu, &mesh, &params).unwrap();
    for _ in 0..5 {
        whole.step().unwrap();
    }
    let mut rest = Simulation::new(&cpu, &mesh, &params).unwrap();
    rest.restore(&whole.checkpoint().unwrap()).unwrap();
    for simulation in [&mut whole, &mut rest] {
        for _ in 0..5 {
            simulation.step().unwrap();
        }
    }
    assert_eq!(whole.v().unwrap(), rest.v().unwrap());
    assert_eq!(whole.phi_e().unwrap(), rest.phi_e().unwrap());
    // Where the bath is makes it another mesh.
    let other = TetMesh::slab_with_layer([1.0, 0.5, 0.75], 0.25, 0.25).unwrap();
    let other = Simulation::new(&cpu, &other, &Params { regions: bath(1.0), ..params }).unwrap();
    assert!(rest.restore(&other.checkpoint().unwrap()).unwrap_err().to_string().contains("another mesh"));
}

#[test]
fn regions_that_cannot_be_are_refused() {
    let mesh = TetMesh::slab_with_layer([1.0, 0.5, 0.5], 0.5, 0.25).unwrap();
    let plain = TetMesh::slab([1.0, 0.5, 0.5], 0.25).unwrap();
    let says = |mesh: &TetMesh, expected: &str, change: &dyn Fn(&mut Params)| {
        let mut params = Params { regions: bath(1.0), ..accurate(Formulation::Coupled) };
        change(&mut params);
        match Simulation::new(&Cpu::new(1).unwrap(), mesh, &params).err() {
            Some(Error::Option(why)) => assert!(why.contains(expected), "{why}"),
            other => panic!("{expected}: {other:?}"),
        }
    };
    says(&plain, "region 1 is named, but the mesh has no regions", &|_| ());
    says(&mesh, "region 7 is not in the mesh, whose regions are [0, 1]", &|p| p.regions[0].tag = 7);
    says(&mesh, "all of the mesh is bath: there is no tissue", &|p| {
        p.regions.push(Region { tag: 0, conductivities: Conductivities::bath(1.0) })
    });
    says(&mesh, "region 1: it is named twice", &|p| p.regions.extend(bath(2.0)));
    says(&mesh, "region 1: sigma_el and sigma_et are 1 and 0", &|p| p.regions[0].conductivities.et = 0.0);
    says(&mesh, "region 1: sigma_el and sigma_et are -1 and -1", &|p| p.regions = bath(-1.0));
    says(&mesh, "region 1: it conducts nowhere", &|p| p.regions = bath(0.0));
    says(&mesh, "region 1: it conducts only inside or only outside", &|p| {
        p.formulation = Formulation::Monodomain
    });
    says(&mesh, "stimulus 1 acts at no cell: all 15 nodes within its box", &|p| {
        p.stimuli[0].shape = Shape::Box { low: [0.0, 0.0, 0.9], high: [1.0, 0.5, 1.0] }
    });
}
