//! What `warpsolve solve` is to do.

use std::path::PathBuf;

use warpsolve::job::{Options, Precond};
use warpsolve::precond::schur::Split;
use warpsolve::{Error, Result};

use super::args::SolveArgs;
use super::device::DeviceName;
use super::load::{NearNullFile, Source};
use super::output::{check_outputs, check_solution_file};
use super::partition::PartitionName;
use super::values::Restart;
use super::{config, ranks, split};

/// What is to be done, with every option checked.
pub struct Job {
    pub source: Source,
    pub rhs: Option<PathBuf>,
    pub near_null: Option<NearNullFile>,
    pub options: Options,
    pub restart: Option<Restart>,
    pub device: DeviceName,
    pub threads: usize,
    pub ranks: usize,
    pub partition: Option<PartitionName>,
    pub by_rows: bool,
    pub out: Option<PathBuf>,
    pub history: Option<PathBuf>,
    pub json: Option<PathBuf>,
    pub plan: bool,
    pub repeat: u32,
    pub new_values: bool,
    pub quiet: bool,
    pub verbose: bool,
    pub warnings: Vec<String>,
}

impl TryFrom<SolveArgs> for Job {
    type Error = Error;

    fn try_from(args: SolveArgs) -> Result<Job> {
        let given = args.settings.normalised()?;
        let (settings, options) = match &args.config {
            None => (given.clone(), given.options()?),
            Some(path) => {
                let named = |what: &str, error| Error::Option(format!("{what}{}: {error}", path.display()));
                let settings = given.over(config::read(path)?).map_err(|error| named("", error))?;
                let options = settings.options().map_err(|error| named("with ", error))?;
                (settings, options)
            }
        };
        let source: Source = args.matrix.into();
        let vectors = |path| NearNullFile::Vectors(path, options.block_size);
        let near_null = args.coordinates.map(NearNullFile::Coordinates).or(args.near_null.map(vectors));
        if let (Some(NearNullFile::Coordinates(_)), 2..) = (&near_null, options.block_size) {
            let message =
                "--block-size does not go with --coordinates, which say how many unknowns a node has";
            return Err(Error::Option(message.into()));
        }
        let options = if near_null.is_some() { with_near_null(options)? } else { options };
        let options = match &args.split {
            Some(name) => with_split(options, split::read(name)?)?,
            None => options,
        };
        let inputs = [
            source.file(),
            args.rhs.as_deref(),
            near_null.as_ref().map(NearNullFile::path),
            args.config.as_deref(),
        ];
        args.out.as_deref().map_or(Ok(()), check_solution_file)?;
        check_outputs(&[&args.out, &args.history, &args.json].map(|path| path.as_deref()), &inputs)?;
        let device = settings.device.unwrap_or(DeviceName::Auto);
        Ok(Job {
            source,
            rhs: args.rhs,
            near_null,
            warnings: settings.ignored(&options),
            options,
            restart: settings.restart,
            device,
            threads: settings.threads.unwrap_or(0).into(),
            ranks: ranks::count(args.ranks.map(usize::from), device)?,
            partition: args.partition,
            by_rows: args.by_rows,
            out: args.out,
            history: args.history,
            json: args.json,
            plan: args.plan,
            repeat: args.repeat,
            new_values: args.new_values,
            quiet: args.quiet,
            verbose: args.verbose,
        })
    }
}

/// Multigrid that takes near-null vectors: it works on unknowns one by one, and aggregates nodes.
fn with_near_null(options: Options) -> Result<Options> {
    match options.precond {
        None | Some(Precond::Amg) => Ok(Options { precond: Some(Precond::Amg), block_size: 1, ..options }),
        Some(_) => Err(Error::Option("--coordinates and --near-null go with --precond amg".into())),
    }
}

/// The preconditioner that takes the two kinds of unknowns apart.
fn with_split(options: Options, split: Split) -> Result<Options> {
    match options.precond {
        None | Some(Precond::Schur) => Ok(Options { precond: Some(Precond::Schur), split, ..options }),
        Some(_) => Err(Error::Option("--split goes with --precond schur".into())),
    }
}
