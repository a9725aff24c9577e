//! `warpsolve bidomain` and `warpsolve monodomain`: a wave through heart tissue, from a mesh to activation
//! times.

mod args;
mod bar;
mod files;
mod json;
mod niederer;
mod outputs;
mod plan;
mod points;
mod report;
mod run;
mod statistics;

pub use args::{BidomainArgs, Lengths, MonodomainArgs, direction, lengths, shape};

use std::panic::resume_unwind;
use std::time::Instant;

use warpsolve::backend::gpu::check_memory;
use warpsolve::cardiac::mesh::{AnyMesh, Mesh, ReadSummary};
use warpsolve::cardiac::{Checkpoint, Formulation};
use warpsolve::job::Device;
use warpsolve::{Error, Result};

use super::device;
use super::load;
use super::output::{complain, print, warn};
use super::profile::Profiler;
use super::progress::Progress;
use super::status::{FAILURE, INTERRUPTED, SUCCESS};
use args::CardiacArgs;
use plan::Plan;
use report::Facts;
use run::{End, Run};

/// Steps with which forward Euler follows a cell's upstroke, ms.
const LONGEST_STEP: f64 = 0.1;

/// `warpsolve bidomain`; the exit status.
pub fn bidomain(args: BidomainArgs, profiler: &Profiler) -> Result<u8> {
    if args.formulation == Formulation::Monodomain {
        let message = "--formulation takes coupled, potentials or splitting; for one equation use the command monodomain";
        return Err(Error::Option(message.into()));
    }
    start(args.cardiac, args.formulation, profiler)
}

/// `warpsolve monodomain`; the exit status.
pub fn monodomain(args: MonodomainArgs, profiler: &Profiler) -> Result<u8> {
    start(args.cardiac, Formulation::Monodomain, profiler)
}

fn start(args: CardiacArgs, formulation: Formulation, profiler: &Profiler) -> Result<u8> {
    let start = Instant::now();
    let (device, threads) = (args.device, args.threads.unwrap_or(0).into());
    let plan = Plan::new(args, formulation)?;
    load::start_threads(threads)?;
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
        let opened = device::open(device, threads, profiler);
        (reading.join().unwrap_or_else(|panic| resume_unwind(panic)), opened)
    });
    progress.clear();
    let ((mesh, read_seconds), opened) = (read, opened?);
    let (mesh, summary) = mesh?;
    let read = Read { summary, seconds: read_seconds, start };
    match mesh {
        AnyMesh::Solid(mesh) => simulate(plan, &mesh, read, opened, &progress),
        AnyMesh::Flat(mesh) => simulate(plan, &mesh, read, opened, &progress),
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
    mut plan: Plan,
    mesh: &Mesh<C>,
    read: Read,
    opened: device::Opened,
    progress: &Progress,
) -> Result<u8> {
    if plan.default_stimulus {
        let tissue = plan.params.tissue_of(mesh)?;
        plan.params.stimuli[0].shape = plan::at_the_apex(tissue.as_ref().map_or(mesh, |(tissue, _)| tissue));
    }
    let state = plan.restart.as_deref().map(Checkpoint::load).transpose()?;

    let run = Run { plan: &plan, mesh, state, progress };
    let ran = match &opened.device {
        Device::Cpu(cpu) => cpu.install(|| run.simulate(cpu)),
        Device::Gpu(gpu) => {
            let parts = plan.params.memory(mesh);
            check_memory(&**gpu.device(), &parts)?;
            run.simulate(gpu)
        }
    };
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
