//! Several ranks against one.

use std::sync::Arc;

use super::*;
use crate::domain::Domain;
use crate::share::Unknowns;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::distributed::{Borders, Distributed};
use warpsolve_host::backend::gpu::Gpu;
use warpsolve_host::comm::Comm;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::job::ranks::together;

fn cpu() -> Cpu {
    Cpu::new(1).unwrap()
}

fn rank<B, const C: usize>(
    inner: &B,
    comm: &Arc<dyn Comm>,
    mesh: &Mesh<C>,
    params: &Params,
) -> Result<Simulation<Distributed<B>>>
where
    B: Borders<f64> + 'static,
    Distributed<B>: Cells + Assembles + CgSteps<f64>,
{
    Simulation::new(&Distributed::connected::<f64>(inner.clone(), comm.clone())?, mesh, params)
}

/// What `work` gives on the first of some ranks, with a simulation that the others serve.
fn on_ranks<R, const C: usize>(
    size: usize,
    mesh: &Mesh<C>,
    params: &Params,
    work: impl FnOnce(&mut Simulation<Distributed<Cpu>>) -> Result<R>,
) -> Result<R> {
    let rank = |comm: &_| rank(&cpu(), comm, mesh, params);
    together(size, |comm| work(&mut rank(comm)?), |comm| rank(comm)?.serve())
}

/// What a simulation has come to.
#[derive(Debug, PartialEq)]
struct Results {
    v: Vec<f64>,
    phi: Option<Vec<f64>>,
    activation: Vec<f64>,
    iterations: Vec<[u32; 2]>,
}

impl Results {
    /// After so many steps more.
    fn after<B>(steps: u32, simulation: &mut Simulation<B>) -> Result<Results>
    where
        B: Cells + Assembles + CgSteps<f64> + Clone + 'static,
    {
        let mut iterations = Vec::new();
        for _ in 0..steps {
            let step = simulation.step()?;
            iterations.push([step.parabolic_iterations, step.elliptic_iterations]);
        }
        let (v, phi, activation) = (simulation.v()?, simulation.phi_e()?, simulation.activation()?);
        Ok(Results { v, phi, activation, iterations })
    }

    /// On one rank.
    fn alone<const C: usize>(mesh: &Mesh<C>, params: &Params, steps: u32) -> Results {
        Results::after(steps, &mut Simulation::new(&cpu(), mesh, params).unwrap()).unwrap()
    }

    fn assert_close(&self, other: &Results, what: &str) {
        let within = |a: &[f64], b: &[f64], most: f64| {
            let difference = largest_difference(a, b);
            assert!(difference < most, "{what}: {difference:e}");
        };
        within(&self.activation, &other.activation, 1e-10);
        within(&self.v, &other.v, 1e-9);
        if let (Some(phi), Some(others)) = (&self.phi, &other.phi) {
            within(phi, others, 1e-9);
        }
        assert_eq!(self.phi.is_some(), other.phi.is_some());
        assert_eq!(self.iterations, other.iterations, "{what}");
    }
}

#[test]
fn ranks_come_to_what_one_finds() {
    let mesh = slab([3.0, 1.5, 1.0], 0.5, FIBRE);
    for &formulation in Formulation::ALL {
        let params = accurate(formulation);
        let alone = Results::alone(&mesh, &params, 50);
        assert!(alone.activation.iter().any(|&time| time > 0.0));
        for size in [1, 2, 3, 5] {
            let several =
                on_ranks(size, &mesh, &params, |simulation| Results::after(50, simulation)).unwrap();
            several.assert_close(&alone, &format!("{formulation} on {size}"));
        }
    }
}

/// Tissue below a bath, a cathode at one side of it, an anode or earth at the other.
fn with_electrodes(formulation: Formulation, is_grounded: bool) -> (TetMesh, Params) {
    let mesh = TetMesh::slab_with_layer([2.0, 1.0, 0.5], 0.5, 0.5).unwrap();
    let electrode = |x: f64, strength| Stimulus {
        kind: StimulusKind::Extracellular,
        shape: Shape::Box { low: [x, 0.0, 0.0], high: [x + 0.4, 1.0, 1.0] },
        strength,
        ..corner(0.6)
    };
    let mut params = Params {
        regions: vec![Region { tag: TetMesh::LAYER, conductivities: Conductivities::bath(1.0) }],
        reorder: true,
        balance: Balance::Scale,
        ..accurate(formulation)
    };
    params.stimuli.push(electrode(0.0, -400.0));
    match is_grounded {
        true => params.grounds.push(electrode(1.6, 0.0).shape),
        false => params.stimuli.push(electrode(1.6, 300.0)),
    }
    (mesh, params)
}

#[test]
fn baths_electrodes_and_grounds_are_on_ranks_what_they_are_on_one() {
    for formulation in [Formulation::Splitting, Formulation::Coupled, Formulation::Potentials] {
        for is_grounded in [false, true] {
            let (mesh, params) = with_electrodes(formulation, is_grounded);
            let alone = Results::alone(&mesh, &params, 30);
            for size in [2, 5] {
                let several =
                    on_ranks(size, &mesh, &params, |simulation| Results::after(30, simulation)).unwrap();
                several.assert_close(&alone, &format!("{formulation} on {size}, grounded: {is_grounded}"));
            }
        }
    }
}

#[test]
fn rows_of_a_rank_have_the_bits_of_one_rank() {
    let (mesh, params) = with_electrodes(Formulation::Coupled, true);
    let params = Params { reorder: true, ..params };
    let alone = Domain::new(&mesh, &params, None).unwrap();
    let whole = alone.space().unwrap().stiffness(|t| alone.conductivity(t, Conductivities::sigma_ie));
    let check = |comm: &Arc<dyn Comm>| {
        let domain = Domain::part(&mesh, &params, comm)?;
        let a = domain.space()?.stiffness(|t| domain.conductivity(t, Conductivities::sigma_ie));
        let numbering = domain.share().numbering(Unknowns::Nodes(1)).unwrap();
        let numbers = numbering.numbers().expanded();
        for row in numbering.own().iter() {
            let (columns, values) = a.row(row as usize);
            let (expected, bits) = whole.row(numbers[row as usize] as usize);
            assert!(columns.iter().map(|&j| numbers[j as usize]).eq(expected.iter().copied()));
            assert_eq!(values, bits);
        }
        Ok(numbering.own().len())
    };
    let own = together(3, check, |comm| check(comm).map(|_| ())).unwrap();
    assert_eq!(own, mesh.points().len() / 3);
}

#[test]
fn simulators_exchange_in_their_memory() {
    let mesh = slab([1.0, 0.5, 0.5], 0.25, FIBRE);
    for formulation in [Formulation::Monodomain, Formulation::Splitting] {
        let params = Params { rtol: 1e-8, parabolic_rtol: 1e-8, ..accurate(formulation) };
        let mut one = Simulation::new(&Gpu::simulated().unwrap(), &mesh, &params).unwrap();
        let alone = Results::after(3, &mut one).unwrap();
        let rank = |comm: &_| rank(&Gpu::simulated()?, comm, &mesh, &params);
        let first = |comm: &_| {
            let mut simulation = rank(comm)?;
            Ok((Results::after(3, &mut simulation)?, simulation.ranks()?.unwrap()))
        };
        let (several, info) = together(2, first, |comm| rank(comm)?.serve()).unwrap();
        several.assert_close(&alone, &formulation.to_string());
        assert!(info.peer_memory && info.exchanges > 0 && info.reductions > 0, "{info:?}");
    }
}

#[test]
fn other_ranks_go_on_from_a_checkpoint() {
    for (mesh, params) in [Formulation::Splitting, Formulation::Potentials].map(|f| with_electrodes(f, true))
    {
        let mut one = Simulation::new(&cpu(), &mesh, &params).unwrap();
        Results::after(15, &mut one).unwrap();
        let of_one = one.checkpoint().unwrap();
        let whole = Results::after(15, &mut one).unwrap();
        let of_three = on_ranks(3, &mesh, &params, |simulation| {
            Results::after(15, simulation)?;
            simulation.checkpoint()
        })
        .unwrap();
        for state in [&of_one, &of_three] {
            let mut again = Simulation::new(&cpu(), &mesh, &params).unwrap();
            again.restore(state).unwrap();
            Results::after(15, &mut again).unwrap().assert_close(&whole, "on one");
            for size in [2, 3] {
                let goes_on = |simulation: &mut Simulation<_>| {
                    simulation.restore(state)?;
                    // All of it comes back.
                    assert_eq!(simulation.checkpoint()?, *state);
                    Results::after(15, simulation)
                };
                let rest = on_ranks(size, &mesh, &params, goes_on).unwrap();
                rest.assert_close(&whole, &format!("on {size}"));
            }
        }
        let other = Params { dt: 0.04, ..params.clone() };
        let why = on_ranks(2, &mesh, &other, |simulation| simulation.restore(&of_one)).unwrap_err();
        assert!(why.to_string().contains("of another mesh or of other parameters"), "{why}");
    }
}

#[test]
fn there_may_be_more_ranks_than_nodes() {
    let mesh = TetMesh::slab_with_layer([2.0, 1.0, 1.0], 1.0, 1.0).unwrap();
    for &formulation in Formulation::ALL {
        let mut params = Params { stimuli: vec![corner(1.0)], ..accurate(formulation) };
        if formulation != Formulation::Monodomain {
            params.regions = with_electrodes(formulation, true).1.regions;
        }
        let alone = Results::alone(&mesh, &params, 10);
        let several = on_ranks(23, &mesh, &params, |simulation| {
            assert_eq!(simulation.ranks()?.map(|info| (info.ranks, info.least_nodes)), Some((23, 0)));
            Results::after(10, simulation)
        });
        several.unwrap().assert_close(&alone, &formulation.to_string());
    }
}

#[test]
fn what_all_ranks_come_to_is_said_as_by_one() {
    let mesh = slab([1.5, 1.0, 0.5], 0.5, FIBRE);
    let few = Params { max_iterations: 2, ..accurate(Formulation::Monodomain) };
    let mut blows_up = Params { dt: 50.0, ..accurate(Formulation::Monodomain) };
    blows_up.stimuli[0].duration = 500.0;
    for params in [few, blows_up] {
        fn fails<B: Cells + Assembles + CgSteps<f64> + Clone + 'static>(
            simulation: &mut Simulation<B>,
        ) -> Result<String> {
            let why = (0..20).find_map(|_| simulation.step().err()).expect("it fails");
            // There is still something to be written.
            simulation.activation().map(|_| why.to_string())
        }
        let alone = fails(&mut Simulation::new(&cpu(), &mesh, &params).unwrap()).unwrap();
        let several = on_ranks(3, &mesh, &params, fails).unwrap();
        let start = alone.len().min(60);
        assert_eq!(alone[..start], several[..start], "{several}");
    }
    // Of the set-up too.
    let nowhere = Params {
        stimuli: vec![Stimulus { shape: far_away(), ..corner(0.6) }],
        ..accurate(Formulation::Coupled)
    };
    let why = on_ranks(2, &mesh, &nowhere, |_| Ok(())).unwrap_err().to_string();
    assert!(why.starts_with("stimulus 1 acts at no node"), "{why}");
}

fn far_away() -> Shape {
    Shape::Ball { centre: [50.0; 3], radius: 1.0 }
}

#[test]
fn an_error_of_one_rank_ends_all() {
    let mesh = slab([1.5, 1.0, 0.5], 0.5, FIBRE);
    let params = accurate(Formulation::Coupled);
    let steps = |simulation: &mut Simulation<_>| Results::after(1000, simulation).map(|_| ());
    let first = |comm: &_| steps(&mut rank(&cpu(), comm, &mesh, &params)?);
    type Other<'a> = &'a (dyn Fn(&Arc<dyn Comm>) -> Result<()> + Sync);
    let no_memory = || Error::NoDevice("no memory".into());
    let others: [Other; 4] = [
        &|_| Err(no_memory()),
        &|comm| rank(&cpu(), comm, &mesh, &params).and_then(|_| Err(no_memory())),
        &|comm| rank(&cpu(), comm, &mesh, &params).map(|_| panic!("no memory")),
        &|comm| rank(&cpu(), comm, &mesh, &Params { dt: 0.04, ..params.clone() })?.serve(),
    ];
    for other in others {
        let of = |comm: &Arc<dyn Comm>| match comm.rank() {
            2 => other(comm),
            _ => rank(&cpu(), comm, &mesh, &params)?.serve(),
        };
        let why = together(3, first, of).unwrap_err();
        let is_its = |message: &str| {
            ["no memory", "it panicked", "not those of rank 0"].iter().any(|m| message.contains(m))
        };
        assert!(matches!(&why, Error::Rank { rank: 2, message } if is_its(message)), "{why}");
    }
}
