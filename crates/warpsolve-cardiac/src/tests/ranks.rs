//! Several ranks against one.

use std::sync::Arc;

use super::*;
use warpsolve_host::backend::cpu::Cpu;
use warpsolve_host::backend::distributed::Distributed;
use warpsolve_host::comm::Comm;
use warpsolve_host::error::Result;
use warpsolve_host::job::ranks::together;

type OnCpus = Simulation<Distributed<Cpu>>;

fn rank<const C: usize>(comm: &Arc<dyn Comm>, mesh: &Mesh<C>, params: &Params) -> Result<OnCpus> {
    let backend = Distributed::connected::<f64>(Cpu::new(1)?, comm.clone())?;
    Simulation::new(&backend, mesh, params)
}

/// What `work` gives on the first of some ranks, with a simulation that the others serve.
fn on_ranks<R, const C: usize>(
    size: usize,
    mesh: &Mesh<C>,
    params: &Params,
    work: impl FnOnce(&mut OnCpus) -> Result<R>,
) -> Result<R> {
    together(size, |comm| work(&mut rank(comm, mesh, params)?), |comm| rank(comm, mesh, params)?.serve())
}

/// v, phi, activation times and iterations after this many steps.
type Results = (Vec<f64>, Option<Vec<f64>>, Vec<f64>, Vec<[u32; 2]>);

fn results<B>(simulation: &mut Simulation<B>, steps: u32) -> Result<Results>
where
    B: Cells + Assembles + CgSteps<f64> + Clone + 'static,
{
    let mut iterations = Vec::new();
    for _ in 0..steps {
        let step = simulation.step()?;
        iterations.push([step.parabolic_iterations, step.elliptic_iterations]);
    }
    Ok((simulation.v()?, simulation.phi_e()?, simulation.activation()?, iterations))
}

#[test]
fn ranks_come_to_what_one_rank_finds() {
    let mesh = slab([4.0, 2.0, 1.0], 0.5, FIBRE);
    for formulation in
        [Formulation::Monodomain, Formulation::Splitting, Formulation::Coupled, Formulation::Potentials]
    {
        let params = accurate(formulation);
        let one = results(&mut Simulation::new(&Cpu::new(1).unwrap(), &mesh, &params).unwrap(), 60).unwrap();
        assert!(one.2.iter().any(|&time| time > 0.0));
        for size in [2, 3, 5] {
            let several = on_ranks(size, &mesh, &params, |simulation| results(simulation, 60)).unwrap();
            let what = format!("{formulation} on {size}");
            assert!(largest_difference(&one.0, &several.0) < 1e-6, "{what}");
            assert!(largest_difference(&one.2, &several.2) < 1e-9, "{what}");
            println!(
                "{what}: {:e} {:e}",
                largest_difference(&one.0, &several.0),
                largest_difference(&one.2, &several.2)
            );
            if let (Some(one), Some(several)) = (&one.1, &several.1) {
                assert!(largest_difference(one, several) < 1e-6, "{what}");
            }
            assert_eq!(one.3, several.3, "{what}");
        }
    }
}
