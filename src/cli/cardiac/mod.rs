//! `warpsolve bidomain` and `warpsolve monodomain`: a wave through heart tissue, from a mesh to activation
//! times.

mod args;
mod bar;
mod files;
mod json;
mod niederer;
mod on_ranks;
mod outputs;
mod plan;
mod points;
mod report;
mod run;
mod statistics;

pub use args::{BidomainArgs, Lengths, MonodomainArgs, direction, lengths, shape};

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Instant;

use warpsolve::cardiac::mesh::{AnyMesh, Mesh, ReadSummary};
use warpsolve::cardiac::{Checkpoint, Formulation};
use warpsolve::comm::{Comm, agreed};
use warpsolve::job::Device;
use warpsolve::number::plain;
use warpsolve::{Error, Result};

use super::device;
use super::load;
use super::output::{complain, print, warn};
use super::profile::Profiler;
use super::progress::Progress;
use super::ranks;
use super::status::{FAILURE, INTERRUPTED, SUCCESS};
use args::CardiacArgs;
use on_ranks::Ranks;
use plan::Plan;
use report::Facts;
use run::{End, Run};

/// Steps with which forward Euler follows a cell's upstroke, ms.
const LONGEST_STEP: f64 = 0.1;

/// `warpsolve bidomain`; the exit status. Under a launcher `comm` is how this process, the first, talks to
/// the others.
pub fn bidomain(args: BidomainArgs, comm: Option<&Arc<dyn Comm>>, profiler: &Profiler) -> Result<u8> {
    start(args.cardiac, of_bidomain(args.formulation), comm, profiler)
}

/// `warpsolve monodomain`; the exit status. `comm` as of [`bidomain`].
pub fn monodomain(args: MonodomainArgs, comm: Option<&Arc<dyn Comm>>, profiler: &Profiler) -> Result<u8> {
    start(args.cardiac, Ok(Formulation::Monodomain), comm, profiler)
}

/// What every process of a launcher but the first does for `warpsolve bidomain`.
pub fn work_at_bidomain(args: BidomainArgs, comm: &Arc<dyn Comm>) -> Result<u8> {
    on_ranks::work(args.cardiac, of_bidomain(args.formulation), comm)
}

/// The same for `warpsolve monodomain`.
pub fn work_at_monodomain(args: MonodomainArgs, comm: &Arc<dyn Comm>) -> Result<u8> {
    on_ranks::work(args.cardiac, Ok(Formulation::Monodomain), comm)
}

/// Refuses the one that has a command of its own.
fn of_bidomain(formulation: Formulation) -> Result<Formulation> {
    if formulation == Formulation::Monodomain {
        let message = "--formulation takes coupled, potentials or splitting; for one equation use the command monodomain";
        return Err(Error::Option(message.into()));
    }
    Ok(formulation)
}

fn start(
    args: CardiacArgs,
    formulation: Result<Formulation>,
    comm: Option<&Arc<dyn Comm>>,
    profiler: &Profiler,
) -> Result<u8> {
    let start = Instant::now();
    let (name, asked, threads) = (args.device, args.ranks.map(usize::from), args.threads.unwrap_or(0).into());
    let planned = formulation.and_then(|formulation| {
        let plan = Plan::new(args, formulation)?;
        plan.check_outputs()?;
        let count = ranks::count(asked, name)?;
        let (device, threads) = ranks::device_and_threads(comm, count, name, threads)?;
        load::start_threads(threads)?;
        Ok((plan, Ranks { comm: comm.cloned(), count, name: device, threads }))
    });
    let (plan, all) = agreed(comm, planned)?;
    let cell_step = plan.params.dt / f64::from(plan.params.cell_substeps);
    if cell_step > LONGEST_STEP {
        warn(&format!(
            "the cells' steps of {cell_step} ms are too long to be accurate, and may blow up; use a --dt of at most \
             {LONGEST_STEP}, or --cell-substeps"
        ));
    }
    let progress = Progress::new(plan.quiet);

    // Both take a while.
    progress.stage("reading");
    let (read, opened) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| (plan.source.mesh(), start.elapsed().as_secs_f64()));
        let opened = device::open(ranks::device_of(all.name, 0), all.threads, profiler);
        (reading.join().unwrap_or_else(|panic| resume_unwind(panic)), opened)
    });
    progress.clear();
    let ((mesh, read_seconds), opened) = (read, agreed(comm, opened)?);
    let (mesh, summary) = agreed(comm, mesh)?;
    let read = Read { summary, seconds: read_seconds, start };
    match mesh {
        AnyMesh::Solid(mesh) => {
            simulate(agreed(comm, plan.placed(&mesh))?, &mesh, read, opened, &all, &progress)
        }
        AnyMesh::Flat(mesh) => {
            simulate(agreed(comm, plan.placed(&mesh))?, &mesh, read, opened, &all, &progress)
        }
        AnyMesh::Hexahedra(_) => Err(Error::Mesh(format!(
            "{}: the mesh has hexahedra, and the heart needs tetrahedra, or triangles in a plane; split the cells",
            plan.source.name()
        ))),
    }
}

/// How the mesh came.
struct Read {
    summary: Option<ReadSummary>,
    seconds: f64,
    /// When the program began.
    start: Instant,
}

fn simulate<const C: usize>(
    plan: Plan,
    mesh: &Mesh<C>,
    read: Read,
    opened: device::Opened,
    ranks: &Ranks,
    progress: &Progress,
) -> Result<u8> {
    let state = plan.restart.as_deref().map(Checkpoint::load).transpose()?;
    if let Some(time) = state.as_ref().map(Checkpoint::time).filter(|&time| time > plan.t_end) {
        return Err(Error::Option(format!(
            "the checkpoint is of {} ms, and the simulation is to end at {} ms (--t-end): name a later end",
            plain(time),
            plain(plan.t_end)
        )));
    }
    let ran = ranks.simulate(&opened.device, Run { plan: &plan, mesh, state, progress });
    progress.clear();
    let ran = ran?;

    let facts = Facts {
        mesh,
        summary: read.summary,
        device: opened.device.name(),
        gpu: match &opened.device {
            Device::Cpu(_) => None,
            Device::Gpu(gpu) => Some(gpu.device().info().clone()),
        },
        no_gpu: opened.no_gpu,
        threads: rayon::current_num_threads(),
        read_seconds: read.seconds,
        total_seconds: read.start.elapsed().as_secs_f64(),
        plan: &plan,
        ran,
    };
    if let Some(error) = &facts.no_gpu
        && !matches!(error, Error::NoDevice(_))
    {
        warn(&format!("the GPU cannot be used: {error}"));
    }
    let text = report::text(&facts);
    let mut failures =
        outputs::write_reports(&plan, &text, &json::text(&facts)).err().into_iter().collect::<Vec<_>>();
    if !plan.quiet {
        failures.extend(print(&text).err());
    }
    failures.iter().chain(&facts.ran.failures).for_each(complain);
    Ok(match facts.ran.end {
        _ if !failures.is_empty() || !facts.ran.failures.is_empty() => FAILURE,
        Some(End::Interrupted) => INTERRUPTED,
        _ => SUCCESS,
    })
}
