//! One step against its equations, assembled here and multiplied on the host.

use super::*;
use crate::diffusion::Diffusion;
use crate::domain::Domain;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::gpu::Gpu;
use warpsolve_host::backend::reference::Reference;
use warpsolve_host::fem::{P1, transversely_isotropic};
use warpsolve_host::matrix::Csr;
use warpsolve_host::problem::random::uniform;
use warpsolve_host::solver::cg::CgSteps;

const FORMULATIONS: [Formulation; 4] =
    [Formulation::Monodomain, Formulation::Splitting, Formulation::Coupled, Formulation::Potentials];

struct Matrices {
    k_i: Csr<f64>,
    k_ie: Csr<f64>,
    k_m: Csr<f64>,
    mass: Csr<f64>,
    lumped: Vec<f64>,
}

fn matrices(mesh: &TetMesh) -> Matrices {
    let space = P1::new(mesh.points(), mesh.cells()).unwrap();
    let k = |along, across| space.stiffness(|_| transversely_isotropic(FIBRE, along, across));
    Matrices {
        k_i: k(0.17, 0.019),
        k_ie: k(0.79, 0.259),
        k_m: k(0.17 * 0.62 / 0.79, 0.019 * 0.24 / 0.259),
        mass: space.mass(),
        lumped: space.lumped_mass(),
    }
}

fn combined(parts: &[(f64, &[f64])]) -> Vec<f64> {
    (0..parts[0].1.len()).map(|i| parts.iter().map(|(scale, part)| scale * part[i]).sum()).collect()
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Two steps from random voltages, which fulfil the equations of the module and conserve charge.
fn check<B: Assembles + CgSteps<f64> + 'static>(backend: &B, mesh: &TetMesh, params: &Params) {
    let Matrices { k_i, k_ie, k_m, mass, lumped } = matrices(mesh);
    let domain = Domain::new(mesh, params, None).unwrap();
    let mut diffusion = Diffusion::new(backend, &domain, params).unwrap();
    let n = mesh.points().len();
    let mut phi_before = vec![0.0; n];
    for step in 0..2 {
        let v_star: Vec<f64> = (0..n as u64).map(|i| 100.0 * uniform(7 + step, i) - 80.0).collect();
        let mut v = backend.vector(&v_star).unwrap();
        diffusion.advance(backend, &mut v, [0.0, params.dt]).unwrap();
        let v = backend.to_host(&v).unwrap();
        let change = combined(&[(1.0, &v), (-1.0, &v_star)]);
        // 1.4 / dt, in mS/mm^3
        let kappa = 1.4 / params.dt;
        let charge = if params.has_lumped_mass() {
            lumped.iter().zip(&change).map(|(m, d)| kappa * m * d).collect()
        } else {
            mass.mul_vec(&change).iter().map(|x| kappa * x).collect::<Vec<f64>>()
        };
        let between = combined(&[(params.theta, &v), (1.0 - params.theta, &v_star)]);
        let (current, phi) = match params.formulation {
            Formulation::Monodomain => (k_m.mul_vec(&between), None),
            Formulation::Splitting => {
                let phi = diffusion.phi(backend, domain.share()).unwrap().unwrap();
                (k_i.mul_vec(&combined(&[(1.0, &between), (1.0, &phi_before)])), Some(phi))
            }
            Formulation::Coupled | Formulation::Potentials => {
                let phi = diffusion.phi(backend, domain.share()).unwrap().unwrap();
                (k_i.mul_vec(&combined(&[(1.0, &v), (1.0, &phi)])), Some(phi))
            }
        };
        let case = (params.formulation, params.theta, params.lumped_mass, step);
        let residual = norm(&combined(&[(1.0, &charge), (1.0, &current)])) / norm(&current);
        assert!(residual < 1e-8, "{case:?}: {residual:e}");
        // Diffusion takes from one what it gives to another.
        let (sum, size) = charge.iter().fold((0.0, 0.0), |(sum, size), q| (sum + q, size + q.abs()));
        assert!(f64::abs(sum) < 1e-9 * size, "{case:?}: {sum:e} of {size:e}");
        let Some(phi) = phi else { continue };
        let (inner, outer) = (k_i.mul_vec(&v), k_ie.mul_vec(&phi));
        let residual = norm(&combined(&[(1.0, &inner), (1.0, &outer)])) / norm(&inner);
        assert!(residual < 1e-8, "{case:?}: {residual:e}");
        let (mean, largest) = (phi.iter().sum::<f64>() / n as f64, largest_difference(&phi, &vec![0.0; n]));
        assert!(mean.abs() < 1e-13 * largest && largest > 1.0, "{case:?}: {mean:e} {largest}");
        phi_before = phi;
    }
}

#[test]
fn a_step_fulfils_its_equations() {
    let mesh = slab([1.5, 1.0, 0.8], 0.25, FIBRE);
    for formulation in FORMULATIONS {
        for (theta, lumped_mass) in [(1.0, false), (0.5, true), (0.7, false)] {
            if formulation.is_one_system() && theta < 1.0 {
                continue;
            }
            let params = Params { theta, lumped_mass, dt: 0.3, ..accurate(formulation) };
            check(&Reference::new(), &mesh, &params);
            check(&Cpu::new(2).unwrap(), &mesh, &params);
        }
    }
    check(&Cpu::new(1).unwrap(), &mesh, &Params { lumped_mass: true, ..accurate(Formulation::Coupled) });
    let small = slab([0.6, 0.5, 0.4], 0.2, FIBRE);
    for formulation in FORMULATIONS {
        check(&Gpu::simulated().unwrap(), &small, &accurate(formulation));
    }
}

#[test]
fn what_is_at_rest_stays() {
    let mesh = slab([2.0, 1.0, 0.5], 0.25, FIBRE);
    for formulation in FORMULATIONS {
        let params = Params { stimuli: Vec::new(), ..accurate(formulation) };
        let mut simulation = Simulation::new(&Cpu::new(1).unwrap(), &mesh, &params).unwrap();
        for _ in 0..50 {
            let report = simulation.step().unwrap();
            assert_eq!((report.parabolic_iterations, report.elliptic_iterations), (0, 0));
        }
        assert!((simulation.time() - 2.5).abs() < 1e-12);
        assert!(simulation.v().unwrap().iter().all(|&v| v == -80.0));
        assert!(simulation.phi_e().unwrap().is_none_or(|phi| phi.iter().all(|&phi| phi == 0.0)));
        assert!(simulation.activation().unwrap().iter().all(|&t| t == NOT_ACTIVATED));
    }
}

#[test]
fn stimuli_act_as_long_as_they_say_whatever_the_steps() {
    let with = |start, duration, period| Stimulus { start, duration, period, ..corner(1.0) };
    let charge = |stimulus: &Stimulus, dt: f64, steps: u32| -> f64 {
        (0..steps).map(|k| dt * stimulus.share(f64::from(k) * dt, dt)).sum()
    };
    let once = with(0.35, 1.25, None);
    for (dt, steps) in [(0.05, 200), (0.1, 100), (0.7, 20), (5.0, 2)] {
        assert!((charge(&once, dt, steps) - 1.25).abs() < 1e-8, "{dt}");
    }
    // Exactly on or off where the steps fit: on in steps 7 to 31.
    for k in 0..200 {
        assert_eq!(once.share(f64::from(k) * 0.05, 0.05), f64::from((7..32).contains(&k)), "{k}");
    }
    // Three beats by 25 ms, the last of which is cut short.
    let beating = with(1.0, 2.0, Some(11.0));
    for (dt, steps) in [(0.05, 480), (0.4, 60), (12.0, 2)] {
        assert!((charge(&beating, dt, steps) - 5.0).abs() < 1e-8, "{dt}");
    }
    // Two beats, and no third.
    let two = Stimulus { beats: Some(2), ..beating.clone() };
    for (dt, steps) in [(0.05, 480), (0.4, 60), (12.0, 3)] {
        assert!((charge(&two, dt, steps) - 4.0).abs() < 1e-8, "{dt}");
    }
    // A thousand beats later, as exactly.
    assert_eq!(beating.share(1.0 + 11e3, 0.05), 1.0);
    assert_eq!(beating.share(4.0 + 11e3, 0.05), 0.0);
}

#[test]
fn stimuli_add_up_at_their_nodes() {
    // A cell that gets 100 / 1.4 mV/ms for one step of 0.01 ms, and another that gets it twice; without
    // diffusion but for the little that conductivities of 1e-12 leave.
    let mesh = slab([1.0, 1.0, 1.0], 0.5, FIBRE);
    let tissue =
        Tissue { sigma_il: 1e-12, sigma_it: 1e-12, sigma_el: 1e-12, sigma_et: 1e-12, ..Tissue::default() };
    let ball = Shape::Ball { centre: [1.0; 3], radius: 0.4 };
    let all = Shape::Box { low: [0.0; 3], high: [1.0; 3] };
    let stimuli = [all, ball].map(|shape| Stimulus { shape, ..corner(1.0) }).to_vec();
    for reorder in [false, true] {
        let params = Params {
            tissue: tissue.clone(),
            stimuli: stimuli.clone(),
            dt: 0.01,
            reorder,
            ..accurate(Formulation::Monodomain)
        };
        let (v, _) = run(&Reference::new(), &mesh, &params, 1);
        for (node, (&v, point)) in v.iter().zip(mesh.points()).enumerate() {
            let times = if *point == [1.0; 3] { 2.0 } else { 1.0 };
            assert!((v - (-80.0 + 0.01 * times * 100.0 / 1.4)).abs() < 1e-6, "node {node}: {v}");
        }
    }
}

#[test]
fn nothing_of_a_vectors_size_crosses_the_bus() {
    let mesh = slab([1.2, 0.8, 0.6], 0.2, FIBRE);
    for formulation in FORMULATIONS {
        let gpu = Gpu::simulated().unwrap();
        let params = accurate(formulation);
        let mut simulation = Simulation::new(&gpu, &mesh, &params).unwrap();
        let before = gpu.device().counters().snapshot();
        for _ in 0..3 {
            simulation.step().unwrap();
        }
        let counts = gpu.device().counters().snapshot().since(&before);
        let solves = if formulation == Formulation::Splitting { 6 } else { 3 };
        assert!(counts.launches > 20, "{counts:?}");
        assert!(counts.uploaded_bytes + counts.downloaded_bytes < 64 * solves, "{formulation}: {counts:?}");
    }
}

#[test]
fn memory_is_about_what_is_expected() {
    let mesh = slab([2.4, 1.6, 1.2], 0.2, FIBRE);
    for formulation in FORMULATIONS {
        let gpu = Gpu::simulated().unwrap();
        let before = gpu.device().counters().snapshot().allocated_bytes;
        let params = accurate(formulation);
        let _simulation = Simulation::new(&gpu, &mesh, &params).unwrap();
        let held = (gpu.device().counters().snapshot().allocated_bytes - before) as f64;
        let expected = params.memory(&mesh).iter().map(|(_, bytes)| bytes).sum::<u64>() as f64;
        println!("{formulation}: {expected} bytes expected, {held} held");
        // With room for what only the set-up needs.
        assert!(expected > 0.95 * held && expected < 4.0 * held, "{formulation}: {expected} for {held}");
    }
}
