//! Simulations on one rank or on several.

use std::sync::Arc;

use warpsolve::Result;
use warpsolve::backend::distributed::{Borders, Distributed};
use warpsolve::backend::gpu::{Gpu, check_memory};
use warpsolve::cardiac::mesh::{AnyMesh, Mesh};
use warpsolve::cardiac::{Domain, Formulation, Params, Simulation};
use warpsolve::comm::{Comm, agreed};
use warpsolve::job::Device;
use warpsolve::job::ranks::{guarded, together};

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
        let (mesh, plan) = (run.mesh, run.plan);
        let other = |comm: &Arc<dyn Comm>| {
            let device = open(device_of(name, comm.rank()), threads)?;
            serve(&device, comm, || part(&device, comm, mesh, plan))
        };
        match comm {
            Some(comm) => first(device, Some(comm), run),
            None if count == 1 => first(device, None, run),
            None => together(count, |comm| first(device, Some(comm), run), other),
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

/// What a rank has of a mesh, which it then no longer needs.
fn part<const C: usize>(
    device: &Device,
    comm: &Arc<dyn Comm>,
    mesh: &Mesh<C>,
    plan: &Plan,
) -> Result<Domain<'static, C>> {
    if let Device::Gpu(gpu) = device {
        check_fits(gpu, comm.size(), mesh, &plan.params)?;
    }
    let domain = Domain::part(mesh, &plan.params, comm)?;
    if plan.pieces { domain.with_pieces() } else { Ok(domain) }
}

/// What every other rank does, with what `domain` gives.
fn serve<const C: usize>(
    device: &Device,
    comm: &Arc<dyn Comm>,
    domain: impl FnOnce() -> Result<Domain<'static, C>> + Send,
) -> Result<()> {
    match device {
        Device::Cpu(cpu) => cpu.install(|| {
            let rank = rank(cpu, comm)?;
            Simulation::on(&rank, domain()?)?.serve()
        }),
        Device::Gpu(gpu) => {
            let rank = rank(gpu, comm)?;
            Simulation::on(&rank, domain()?)?.serve()
        }
    }
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
    match mesh {
        AnyMesh::Solid(mesh) => place_and_serve(&device, comm, mesh, plan),
        AnyMesh::Flat(mesh) => place_and_serve(&device, comm, mesh, plan),
        AnyMesh::Hexahedra(_) => Ok(()),
    }
}

fn place_and_serve<const C: usize>(
    device: &Device,
    comm: &Arc<dyn Comm>,
    mesh: Mesh<C>,
    plan: Plan,
) -> Result<()> {
    let plan = agreed(Some(comm), plan.placed(&mesh))?;
    // The mesh is dropped as soon as the part of this rank is known.
    serve(device, comm, move || part(device, comm, &{ mesh }, &plan))
}
