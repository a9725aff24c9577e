//! Waves: formulations and backends against each other.

use super::*;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::gpu::Gpu;
use warpsolve_host::backend::reference::Reference;
use warpsolve_host::solver::cg::CgSteps;

#[test]
fn splitting_tends_to_the_coupled_solution_with_first_order() {
    let mesh = slab([2.0, 1.0, 0.5], 0.25, FIBRE);
    let cpu = Cpu::new(2).unwrap();
    let differences: Vec<[f64; 2]> = [0.1, 0.05, 0.025, 0.0125]
        .into_iter()
        .map(|dt| {
            let steps = (3.0 / dt) as u32;
            let of = |formulation| run(&cpu, &mesh, &Params { dt, ..accurate(formulation) }, steps);
            let ((v, phi), (split_v, split_phi)) = (of(Formulation::Coupled), of(Formulation::Splitting));
            [largest_difference(&v, &split_v), largest_difference(&phi.unwrap(), &split_phi.unwrap())]
        })
        .collect();
    println!("{differences:?}");
    for fault in 0..2 {
        let rates: Vec<f64> = differences.windows(2).map(|d| (d[0][fault] / d[1][fault]).log2()).collect();
        assert!(rates[1..].iter().all(|rate| (0.8..1.3).contains(rate)), "{differences:?}: {rates:?}");
    }
    // And there is something to see.
    assert!(differences[0][0] > 0.05, "{differences:?}");
}

#[test]
fn the_potentials_inside_and_outside_are_the_same_waves() {
    let mesh = slab([2.0, 1.0, 0.5], 0.25, FIBRE);
    let cpu = Cpu::new(2).unwrap();
    let differences: Vec<[f64; 2]> = [1e-4, 1e-6, 1e-8, 1e-10]
        .into_iter()
        .map(|rtol| {
            let of = |formulation| {
                let mut params = Params { lumped_mass: true, rtol, ..accurate(formulation) };
                // One level alone would be exact.
                params.amg.coarse_rows = 40;
                run(&cpu, &mesh, &params, 60)
            };
            let ((v, phi), (other_v, other_phi)) = (of(Formulation::Coupled), of(Formulation::Potentials));
            [largest_difference(&v, &other_v), largest_difference(&phi.unwrap(), &other_phi.unwrap())]
        })
        .collect();
    println!("{differences:?}");
    // They differ by what the solver leaves.
    for fault in 0..2 {
        assert!(differences.windows(2).all(|pair| pair[1][fault] < 0.1 * pair[0][fault]), "{differences:?}");
        assert!(differences[3][fault] < 1e-5, "{differences:?}");
    }
}

#[test]
fn with_proportional_conductivities_one_equation_says_it_all() {
    // sigma_e = 3 sigma_i: K_i phi = -K_i v / 4, and the coupled system is the monodomain one.
    let mesh = slab([2.0, 1.0, 0.5], 0.25, FIBRE);
    let tissue = Tissue { sigma_el: 0.51, sigma_et: 0.057, ..Tissue::default() };
    let cpu = Cpu::new(2).unwrap();
    let of = |formulation| {
        let params =
            Params { tissue: tissue.clone(), rtol: 1e-12, parabolic_rtol: 1e-12, ..accurate(formulation) };
        run(&cpu, &mesh, &params, 60)
    };
    let (v, none) = of(Formulation::Monodomain);
    assert_eq!(none, None);
    let (coupled, phi) = of(Formulation::Coupled);
    let spread = largest_difference(&v, &vec![v[0]; v.len()]);
    assert!(spread > 50.0, "{spread}");
    let difference = largest_difference(&v, &coupled);
    assert!(difference < 1e-5, "{difference}");
    let mean = v.iter().sum::<f64>() / v.len() as f64;
    let expected: Vec<f64> = v.iter().map(|v| -(v - mean) / 4.0).collect();
    let difference = largest_difference(&phi.unwrap(), &expected);
    assert!(difference < 1e-5, "{difference}");
    let (split, _) = of(Formulation::Splitting);
    let difference = largest_difference(&v, &split);
    assert!(difference > 1e-5 && difference < 5.0, "{difference}");
}

#[test]
fn waves_run_along_the_fibres_and_more_slowly_across() {
    // The origin is a corner; along the fibres it is the axis x.
    let mesh = slab([4.0, 4.0, 0.5], 0.25, [1.0, 0.0, 0.0]);
    let tissue = Tissue { sigma_it: 0.05, ..Tissue::default() };
    for formulation in [Formulation::Monodomain, Formulation::Coupled] {
        let params = Params {
            formulation,
            tissue: tissue.clone(),
            model: Model::MitchellSchaeffer,
            stimuli: vec![corner(0.8)],
            ..Params::default()
        };
        let mut simulation = Simulation::new(&Cpu::new(2).unwrap(), &mesh, &params).unwrap();
        let mut time = 0.0;
        while simulation.activation().unwrap().contains(&NOT_ACTIVATED) {
            assert!(time < 60.0, "{formulation}: not activated in 60 ms");
            for _ in 0..20 {
                let report = simulation.step().unwrap();
                assert!(report.time > time && report.time == simulation.time());
                time = report.time;
            }
        }
        let times = simulation.activation().unwrap();
        let at = |x: f64, y: f64| {
            let node = mesh.points().iter().position(|p| *p == [x, y, 0.0]).unwrap();
            times[node]
        };
        for k in 4..16 {
            let (here, next) = (0.25 * f64::from(k), 0.25 * f64::from(k + 1));
            assert!(at(here, 0.0) < at(next, 0.0) && at(0.0, here) < at(0.0, next), "{formulation}: {here}");
        }
        let (along, across) = (2.0 / (at(3.5, 0.0) - at(1.5, 0.0)), 2.0 / (at(0.0, 3.5) - at(0.0, 1.5)));
        println!("{formulation}: {along} and {across} mm/ms");
        assert!((0.3..1.5).contains(&along) && across > 0.1 && along > 1.3 * across, "{along} {across}");
        let largest = times.iter().copied().fold(0.0, f64::max);
        assert!(at(4.0, 4.0) > largest - 1.0, "the far corner comes last: {largest}");
    }
}

#[test]
fn iterations_do_not_grow_with_the_mesh() {
    let mean = |spacing: f64| {
        let mesh = slab([2.0, 2.0, 2.0], spacing, FIBRE);
        let params = Params { stimuli: vec![corner(0.7)], ..accurate(Formulation::Coupled) };
        let params = Params { rtol: 1e-6, ..params };
        let mut simulation = Simulation::new(&Cpu::new(2).unwrap(), &mesh, &params).unwrap();
        let system = simulation.systems().next().unwrap();
        assert!(system.name == "coupled" && system.rows == 2 * mesh.points().len());
        let levels = system.amg.as_ref().unwrap().levels.len();
        let iterations: u32 = (0..20).map(|_| simulation.step().unwrap().elliptic_iterations).sum();
        println!("{spacing} mm: {levels} levels, {} iterations a step", f64::from(iterations) / 20.0);
        f64::from(iterations) / 20.0
    };
    let (coarse, fine) = (mean(0.25), mean(0.125));
    assert!(coarse > 1.0 && fine < 20.0 && fine < 1.5 * coarse + 1.0, "{coarse}, then {fine}");
}

#[test]
fn backends_agree() {
    let mesh = slab([1.2, 0.8, 0.6], 0.2, FIBRE);
    for &formulation in Formulation::ALL {
        // So small a system would be one level.
        let mut params = accurate(formulation);
        params.amg.coarse_rows = 40;
        let reference = history(&Reference::new(), &mesh, &params);
        for other in [
            history(&Cpu::new(2).unwrap(), &mesh, &params),
            history(&Gpu::simulated().unwrap(), &mesh, &params),
        ] {
            assert_eq!(other.0, reference.0, "{formulation}");
            let difference = largest_difference(&other.1, &reference.1);
            assert!(difference < 1e-6, "{formulation}: {difference}");
        }
        assert!(reference.0.iter().all(|(_, parabolic, elliptic)| parabolic + elliptic > 0));
    }
}

/// Times and iterations of each step, and v in the end.
fn history<B>(backend: &B, mesh: &TetMesh, params: &Params) -> (Vec<(f64, u32, u32)>, Vec<f64>)
where
    B: Cells + Assembles + CgSteps<f64> + Clone + 'static,
{
    let mut simulation = Simulation::new(backend, mesh, params).unwrap();
    let steps = (0..6).map(|_| {
        let report = simulation.step().unwrap();
        (report.time, report.parabolic_iterations, report.elliptic_iterations)
    });
    (steps.collect(), simulation.v().unwrap())
}

#[test]
fn nodes_in_another_order_are_the_same_nodes() {
    let mesh = slab([2.0, 1.0, 0.6], 0.25, FIBRE);
    let cpu = Cpu::new(2).unwrap();
    for formulation in [Formulation::Splitting, Formulation::Coupled] {
        let params = accurate(formulation);
        let (v, phi) = run(&cpu, &mesh, &params, 30);
        let (other_v, other_phi) = run(&cpu, &mesh, &Params { reorder: true, ..params }, 30);
        assert!(largest_difference(&v, &vec![v[0]; v.len()]) > 50.0);
        assert!(largest_difference(&v, &other_v) < 1e-5);
        assert!(largest_difference(&phi.unwrap(), &other_phi.unwrap()) < 1e-5);
    }
}
