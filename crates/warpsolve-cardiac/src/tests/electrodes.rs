//! Extracellular stimuli: their balance, their part in the equations, and what they excite.

use super::*;
use crate::diffusion::Diffusion;
use crate::domain::Domain;
use warpsolve_host::backend::Memory;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::gpu::Gpu;
use warpsolve_host::error::Error;
use warpsolve_host::fem::{P1, transversely_isotropic};
use warpsolve_host::problem::random::uniform;

/// An anode at the end of small x and a weaker cathode at the other one, from the beginning on.
fn poles(length: f64) -> Vec<Stimulus> {
    let end = |low: f64, high: f64, strength| Stimulus {
        kind: StimulusKind::Extracellular,
        shape: Shape::Box { low: [low, 0.0, 0.0], high: [high, 1.0, 1.0] },
        strength,
        ..corner(1.0)
    };
    vec![end(0.0, 0.3, 200.0), end(length - 0.3, length, -150.0)]
}

fn with_poles(formulation: Formulation, balance: Balance) -> Params {
    Params { stimuli: poles(1.5), balance, ..accurate(formulation) }
}

const BIDOMAIN: [Formulation; 3] = [Formulation::Splitting, Formulation::Coupled, Formulation::Potentials];

#[test]
fn currents_that_do_not_balance_are_refused_with_their_sum() {
    let mesh = slab([1.5, 1.0, 0.8], 0.25, FIBRE);
    let refusal = |params: &Params| match Simulation::new(&Cpu::new(1).unwrap(), &mesh, params).err() {
        Some(Error::Option(why)) => why,
        other => panic!("{other:?}"),
    };
    let params = with_poles(Formulation::Coupled, Balance::Refuse);
    let why = refusal(&params);
    // Of each electrode two layers of nodes: 0.375 mm of tissue, but for the ends of the layers.
    let names = "the extracellular currents of stimulus 1 and stimulus 2 add up to ";
    let sum: f64 = why.strip_prefix(names).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((sum - 50.0 * 0.375 * 0.8).abs() < 1e-6, "{why}");
    assert!(why.contains("--ground, --balance-stimuli"), "{why}");
    // They do not act at the same time.
    let mut apart = Params { stimuli: poles(1.5), balance: Balance::Scale, ..params.clone() };
    apart.stimuli[1].start = 3.0;
    assert!(refusal(&apart).starts_with("the extracellular currents of stimulus 1 have one sign"));
    let alone = Params { stimuli: poles(1.5)[1..].to_vec(), ..apart.clone() };
    assert!(refusal(&alone).starts_with("the extracellular currents of stimulus 1 have one sign"));
    let nowhere = Shape::Ball { centre: [9.0; 3], radius: 1.0 };
    let why = refusal(&Params { grounds: vec![nowhere.clone()], ..params.clone() });
    assert!(why.starts_with("ground 1 acts at no node: none of"), "{why}");
    let why = refusal(&Params { formulation: Formulation::Monodomain, ..params.clone() });
    assert!(why.starts_with("stimulus 1 acts outside of the cells, where the monodomain"), "{why}");
    let grounds = vec![nowhere];
    let why = refusal(&Params { grounds, stimuli: Vec::new(), ..accurate(Formulation::Monodomain) });
    assert!(why.starts_with("ground 1 acts outside of the cells"), "{why}");
}

#[test]
fn a_step_with_electrodes_fulfils_its_equations() {
    let mesh = slab([1.5, 1.0, 0.8], 0.25, FIBRE);
    let n = mesh.points().len();
    let space = P1::new(mesh.points(), mesh.cells()).unwrap();
    let stiffness = |along, across| space.stiffness(|_| transversely_isotropic(FIBRE, along, across));
    let (k_i, k_ie) = (stiffness(0.17, 0.019), stiffness(0.79, 0.259));
    let (consistent, lumped) = (space.mass(), space.lumped_mass());
    let strength = |p: &[f64; 3], scale: f64| match p[0] {
        x if x <= 0.3 => 200.0,
        x if x >= 1.2 => -150.0 * scale,
        _ => 0.0,
    };
    let v_star: Vec<f64> = (0..n as u64).map(|i| 100.0 * uniform(7, i) - 80.0).collect();
    let ground = Shape::Ball { centre: [0.75, 0.5, 0.0], radius: 0.3 };
    for formulation in BIDOMAIN {
        for (balance, grounds) in
            [(Balance::Scale, vec![]), (Balance::Spread, vec![]), (Balance::Refuse, vec![ground.clone()])]
        {
            let params = Params { grounds, ..with_poles(formulation, balance) };
            let domain = Domain::new(&mesh, &params, None).unwrap();
            let cpu = Cpu::new(2).unwrap();
            let mut diffusion = Diffusion::new(&cpu, &domain, &params).unwrap();
            let mut v = cpu.vector(&v_star).unwrap();
            // 0.04 ms before its end the stimulus is on for 0.04 / 0.05 of the step.
            diffusion.advance(&cpu, &mut v, [0.96, 1.01]).unwrap();
            let phi = diffusion.phi(&cpu, domain.share()).unwrap().unwrap();
            let scale = if balance == Balance::Scale { 4.0 / 3.0 } else { 1.0 };
            let i_e: Vec<f64> = mesh.points().iter().map(|p| 0.8 * strength(p, scale)).collect();
            let mass = |x: &[f64]| match params.has_lumped_mass() {
                true => x.iter().zip(&lumped).map(|(x, m)| m * x).collect::<Vec<f64>>(),
                false => consistent.mul_vec(x),
            };
            let mut s = mass(&i_e);
            if balance == Balance::Spread {
                let mean = s.iter().sum::<f64>() / (1.5 * 0.8);
                let evenly = mass(&vec![mean; n]);
                s.iter_mut().zip(evenly).for_each(|(s, evenly)| *s -= evenly);
            }
            let (inner, outer) = (k_i.mul_vec(&cpu.to_host(&v).unwrap()), k_ie.mul_vec(&phi));
            let largest = s.iter().fold(0.0, |most, s| f64::max(most, s.abs()));
            for (i, p) in mesh.points().iter().enumerate() {
                if !params.grounds.is_empty() && ground.contains(*p, 1e-9) {
                    assert!(phi[i].abs() < 1e-7, "{formulation}: node {i}: {}", phi[i]);
                    continue;
                }
                let residual = inner[i] + outer[i] - s[i];
                assert!(residual.abs() < 1e-6 * largest, "{formulation}, {balance}: {residual:e} {largest}");
            }
        }
    }
}

#[test]
fn a_cathode_excites_and_an_anode_does_not() {
    let mesh = slab([3.0, 0.6, 0.3], 0.15, [1.0, 0.0, 0.0]);
    let activation = |formulation| {
        let longer =
            |stimulus: Stimulus| Stimulus { strength: 2.0 * stimulus.strength, duration: 3.0, ..stimulus };
        let stimuli = poles(3.0).into_iter().map(longer).collect();
        let params = Params { stimuli, balance: Balance::Scale, ..accurate(formulation) };
        let mut simulation = Simulation::new(&Cpu::new(2).unwrap(), &mesh, &params).unwrap();
        for _ in 0..100 {
            simulation.step().unwrap();
        }
        let times = simulation.activation().unwrap();
        let first = |low: f64, high: f64| {
            let within =
                mesh.points().iter().zip(&times).filter(|(p, t)| p[0] >= low && p[0] <= high && **t >= 0.0);
            within.map(|(_, t)| *t).fold(f64::INFINITY, f64::min)
        };
        (first(2.5, 3.0), first(0.0, 0.3))
    };
    for formulation in BIDOMAIN {
        let (cathode, anode) = activation(formulation);
        println!("{formulation}: cathode {cathode} ms, anode {anode} ms");
        assert!(cathode < 3.0 && anode > cathode + 1.0, "{formulation}: {cathode} {anode}");
    }
}

#[test]
fn the_simulator_grounds_and_stimulates_as_the_cpu_does() {
    let mesh = slab([0.9, 0.6, 0.3], 0.3, FIBRE);
    let ground = Shape::Ball { centre: [0.3, 0.3, 0.0], radius: 0.1 };
    for formulation in BIDOMAIN {
        let params = Params { stimuli: poles(0.9), grounds: vec![ground.clone()], ..accurate(formulation) };
        let (v, phi) = run(&Cpu::new(1).unwrap(), &mesh, &params, 3);
        let (other_v, other_phi) = run(&Gpu::simulated().unwrap(), &mesh, &params, 3);
        assert!(largest_difference(&v, &other_v) < 1e-6);
        assert!(largest_difference(&phi.unwrap(), &other_phi.unwrap()) < 1e-6);
    }
}
