//! `warpsolve elasticity`: an elastic body under load, from a mesh to displacements and stresses.

mod args;
mod body;
mod files;
mod hold;
mod place;
mod report;

pub use args::ElasticityArgs;

use std::fs;
use std::path::Path;
use std::time::Instant;

use warpsolve::cardiac::io::picture::{Quantity, write_values};
use warpsolve::cardiac::io::vtk::write_vtu;
use warpsolve::cardiac::mesh::{AnyMesh, Mesh};
use warpsolve::job::{CancellationToken, Options, Precond, Solver};
use warpsolve::precond::amg::Coarsening;
use warpsolve::solver::StopReason;
use warpsolve::{Error, Result};

use super::output::{check_outputs, complain, print, warn, write};
use super::profile::Profiler;
use super::progress::{Progress, show};
use super::report::outcome;
use super::rigid::with_rigid_motions;
use super::settings::Settings;
use super::status;
use super::{advice, device, load};
use body::{Body, State};
use files::{DISPLACEMENT, FIELDS, STRESS};
use report::Facts;

const UNSOLVED: &str =
    "the system was not solved: displacements and stresses in the files are not those of the loads";
const WITHOUT_MOTIONS: &str = "multigrid does not know the rigid motions of blocks, nor those in another numbering or \
                               scale; without --block-size, --reorder, --scaling and --permute it takes fewer iterations";

/// Solves and reports; the exit status.
pub fn run(args: ElasticityArgs, profiler: &Profiler) -> Result<u8> {
    let start = Instant::now();
    let settings = args.settings.clone().normalised()?;
    let options = settings.options()?;
    check_outputs(&[args.json.as_deref()], &[args.file.as_deref()])?;
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))?;
    }
    let threads = settings.threads.unwrap_or(0).into();
    load::start_threads(threads)?;
    let progress = Progress::new(args.quiet);
    progress.stage("assembling");
    let (mesh, name) = body::mesh(&args).inspect_err(|_| progress.clear())?;
    let run = Run { start, settings, options, threads, progress: &progress, profiler };
    match mesh {
        AnyMesh::Solid(mesh) => run.solve(args, mesh, name),
        AnyMesh::Flat(mesh) => run.solve(args, mesh, name),
        AnyMesh::Hexahedra(mesh) => run.solve(args, mesh, name),
    }
}

/// What a run was asked for, beside the body.
struct Run<'a> {
    /// When the program began.
    start: Instant,
    settings: Settings,
    options: Options,
    threads: usize,
    progress: &'a Progress,
    profiler: &'a Profiler,
}

impl Run<'_> {
    fn solve<const C: usize>(self, args: ElasticityArgs, mesh: Mesh<C>, name: String) -> Result<u8> {
        let Run { start, settings, options, threads, progress, profiler } = self;
        check_blocks(options.block_size, Mesh::<C>::DIRECTIONS).inspect_err(|_| progress.clear())?;
        let body = Body::new(&args, mesh, name).inspect_err(|_| progress.clear())?;
        let assembly_seconds = start.elapsed().as_secs_f64();
        let name = settings.device.unwrap_or(device::DeviceName::Auto);
        let opened = device::open(name, threads, profiler).inspect_err(|_| progress.clear())?;
        let options = with_rigid_motions(options, || body.rigid_motions())?;
        let cancellation = CancellationToken::new();
        let solved = Solver::builder()
            .options(options.clone())
            .device(opened.device.clone())
            .on_progress(show(progress.clone(), cancellation.clone()))
            .cancellation(cancellation)
            .solve(&body.a, &body.b);
        progress.clear();
        let solution = solved?;
        settings.ignored(&options).iter().for_each(|message| warn(message));
        solution.report.warnings.iter().for_each(|warning| warn(&advice::warning(warning)));
        let by_aggregates = options.amg.coarsening == Coarsening::SmoothedAggregation;
        if options.near_null.is_none() && by_aggregates && solution.report.precond == Precond::Amg {
            warn(WITHOUT_MOTIONS);
        }

        progress.stage("writing");
        let begin = Instant::now();
        let state = body.state(&solution.x)?;
        let written = args.out.as_ref().map(|folder| write_fields(folder, &body, &state, &args));
        progress.clear();
        let mut failures: Vec<Error> = written.and_then(|written| written.err()).into_iter().collect();
        let writing_seconds = begin.elapsed().as_secs_f64();
        let total_seconds = start.elapsed().as_secs_f64();
        let reason = solution.report.outcome.reason;
        let shows_text = !args.quiet && args.json.as_deref() != Some(Path::new("-"));
        if reason != StopReason::Converged {
            if args.out.is_some() {
                warn(UNSOLVED);
            }
            if !shows_text {
                warn(&outcome(&solution.report));
            }
        }
        let facts = Facts {
            args: &args,
            body: &body,
            state: &state,
            has_rigid_motions: options.near_null.is_some(),
            no_gpu: opened.no_gpu.as_ref(),
            report: solution.report,
            rtol: options.stop.rtol,
            assembly_seconds,
            writing_seconds,
            total_seconds,
        };
        if let Some(path) = &args.json {
            failures.extend(write(path, &report::json(&facts)).err());
        }
        if shows_text {
            failures.extend(print(&report::text(&facts)).err());
        }
        failures.iter().for_each(complain);
        Ok(status::of_solve(reason, &failures))
    }
}

/// Blocks are the unknowns of a node.
fn check_blocks(size: usize, directions: usize) -> Result<()> {
    match size == 1 || size == directions {
        true => Ok(()),
        false => Err(Error::Option(format!(
            "--block-size {size}: a node of this mesh has {directions} unknowns; use --block-size {directions}, or leave \
             it out"
        ))),
    }
}

fn write_fields<const C: usize>(
    folder: &Path,
    body: &Body<C>,
    state: &State,
    args: &ElasticityArgs,
) -> Result<()> {
    let mesh = &body.mesh;
    let drawn = mesh.moved(args.exaggerate.unwrap_or(0.0), &state.displacement);
    let fields =
        [("displacement", state.displacement.as_flattened()), ("von_mises", state.von_mises.as_slice())];
    write_vtu(&folder.join(FIELDS), mesh, &fields)?;
    let picture = |file: &str, name, values, unit, at_nodes: &[f64]| {
        let quantity = Quantity { name, values, unit, missing: "" };
        write_values(&folder.join(file), &drawn, at_nodes, quantity, args.view)
    };
    picture(DISPLACEMENT, "displacement, mm", "displacements", "mm", &state.length)?;
    picture(STRESS, "von Mises, N/mm^2", "stresses", "N/mm^2", &state.von_mises)
}
