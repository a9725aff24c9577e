//! Simulations on one rank or on several.

use std::sync::Arc;

use warpsolve::Result;
use warpsolve::backend::cells::Cells;
use warpsolve::backend::distributed::{Borders, Distributed};
use warpsolve::backend::gpu::{Gpu, check_memory};
use warpsolve::cardiac::mesh::{AnyMesh, Mesh};
use warpsolve::cardiac::{Formulation, Params, Simulation};
use warpsolve::comm::{Comm, agreed};
use warpsolve::job::Device;
use warpsolve::job::ranks::{guarded, together};
use warpsolve::precond::amg::Assembles;
use warpsolve::solver::cg::CgSteps;

use super::super::device::DeviceName;
use super::super::ranks::{device_and_threads, device_of, open};
use super::super::status::{FAILURE, SUCCESS};
use super::super::{load, signals};
use super::args::CardiacArgs;
use super::plan::Plan;
use super::run::{Ran, Run};

/// The ranks that simulate.
pub struct Ranks {
    /// How this process, the first, talks to those of a launcher.
    pub comm: Option<Arc<dyn Comm>>,
    /// How many there are to be as threads of this process.
    pub count: usize,
    /// What each computes on, and the threads of each.
    pub name: DeviceName,
    pub threads: usize,
}

impl Ranks {
    /// Runs a simulation on all ranks, of which this is the first and computes on `device`.
    ///
    /// # Errors
    /// Those of the set-up, and those of ranks that have ended.
    pub fn simulate<const C: usize>(&self, device: &Device, run: Run<C>) -> Result<Ran> {
        let &Ranks { ref comm, count, name, threads } = self;
        let (mesh, params) = (run.mesh, &run.plan.params);
        match comm {
            Some(comm) => first(device, Some(comm), run),
            None if count == 1 => first(device, None, run),
            None => together(
                count,
                |comm| first(device, Some(comm), run),
                |comm| serve(&open(device_of(name, comm.rank()), threads)?, comm, mesh, params),
            ),
        }
    }
}

/// The simulation of the first rank, which `comm` joins to others.
fn first<const C: usize>(device: &Device, comm: Option<&Arc<dyn Comm>>, run: Run<C>) -> Result<Ran> {
    match (device, comm) {
        (Device::Cpu(cpu), None) => cpu.install(|| run.simulate(cpu)),
        (Device::Cpu(cpu), Some(comm)) => cpu.install(|| run.simulate(&rank(cpu, comm)?)),
        (Device::Gpu(gpu), None) => {
            check_fits(gpu, 1, run.mesh, &run.plan.params)?;
            run.simulate(gpu)
        }
        (Device::Gpu(gpu), Some(comm)) => {
            check_fits(gpu, comm.size(), run.mesh, &run.plan.params)?;
            run.simulate(&rank(gpu, comm)?)
        }
    }
}

/// What every other rank does.
fn serve<const C: usize>(
    device: &Device,
    comm: &Arc<dyn Comm>,
    mesh: &Mesh<C>,
    params: &Params,
) -> Result<()> {
    match device {
        Device::Cpu(cpu) => cpu.install(|| serve_on(&rank(cpu, comm)?, mesh, params)),
        Device::Gpu(gpu) => {
            check_fits(gpu, comm.size(), mesh, params)?;
            serve_on(&rank(gpu, comm)?, mesh, params)
        }
    }
}

fn serve_on<B: Cells + Assembles + CgSteps<f64> + Clone + 'static, const C: usize>(
    backend: &B,
    mesh: &Mesh<C>,
    params: &Params,
) -> Result<()> {
    Simulation::new(backend, mesh, params)?.serve()
}

fn rank<B: Borders<f64>>(inner: &B, comm: &Arc<dyn Comm>) -> Result<Distributed<B>> {
    Distributed::connected::<f64>(inner.clone(), comm.clone())
}

/// Refuses a mesh of which a rank's part does not fit.
fn check_fits<const C: usize>(gpu: &Gpu, ranks: usize, mesh: &Mesh<C>, params: &Params) -> Result<()> {
    let share = |(what, bytes)| (what, bytes / ranks as u64);
    check_memory(&**gpu.device(), &params.memory(mesh).into_iter().map(share).collect::<Vec<_>>())
}

/// What every process of a launcher but the first does: it serves, and says nothing.
pub fn work(args: CardiacArgs, formulation: Result<Formulation>, comm: &Arc<dyn Comm>) -> Result<u8> {
    match guarded(comm, || prepare_and_serve(args, formulation, comm)) {
        Ok(()) => Ok(SUCCESS),
        // What went wrong is said by rank 0, or has ended all.
        Err(_) => Ok(FAILURE),
    }
}

fn prepare_and_serve(
    args: CardiacArgs,
    formulation: Result<Formulation>,
    comm: &Arc<dyn Comm>,
) -> Result<()> {
    let (name, threads) = (args.device, args.threads.unwrap_or(0).into());
    let planned = formulation.and_then(|formulation| {
        let plan = Plan::new(args, formulation)?;
        let (name, threads) = device_and_threads(Some(comm), 1, name, threads)?;
        load::start_threads(threads)?;
        Ok((plan, name, threads))
    });
    let (plan, name, threads) = agreed(Some(comm), planned)?;
    let device = agreed(Some(comm), open(name, threads))?;
    let (mesh, _) = agreed(Some(comm), plan.source.mesh())?;
    // A signal to all is for rank 0, which ends the simulation.
    signals::raise(&Arc::default())?;
    let placed = |plan| agreed(Some(comm), plan);
    match mesh {
        AnyMesh::Solid(mesh) => serve(&device, comm, &mesh, &placed(plan.placed(&mesh))?.params),
        AnyMesh::Flat(mesh) => serve(&device, comm, &mesh, &placed(plan.placed(&mesh))?.params),
        AnyMesh::Hexahedra(_) => Ok(()),
    }
}
