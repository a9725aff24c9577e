//! The arguments of every command, as clap reads them.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, Parser, Subcommand};
use clap_complete::Shell;
use warpsolve::examples::{Loops, Program, Transfers};
use warpsolve::job::Precision;
use warpsolve::matrix::Format;
use warpsolve::problem::Problem;

use super::bench::args::{BenchArgs, Setting};
use super::cardiac::{BidomainArgs, MonodomainArgs};
use super::device::DeviceName;
use super::elasticity::ElasticityArgs;
use super::names::named;
use super::partition::PartitionName;
use super::profile::{ProfileArgs, Uses};
use super::settings::Settings;

/// Solves large sparse linear systems on NVIDIA GPUs and on CPUs.
#[derive(Debug, Parser)]
#[command(name = "warpsolve", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

const CARDIAC_HELP: &str = "Exit status: 0 simulated, 130 ended by a signal (from the first step on everything is written), 1 error.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Solve A x = b and report how it went
    #[command(
        after_help = "Exit status: 0 converged, 2 stopped without converging, 130 ended by a signal (from \
                            the first iteration on the solution is written), 1 error."
    )]
    Solve(SolveArgs),
    /// Simulate the heart's electrical wave: bidomain equations on a mesh of tetrahedra
    #[command(after_help = CARDIAC_HELP)]
    Bidomain(BidomainArgs),
    /// The same with the monodomain equation, which is cheaper
    #[command(after_help = CARDIAC_HELP)]
    Monodomain(MonodomainArgs),
    /// Compute how an elastic body deforms under load: linear elasticity on a mesh
    #[command(
        after_help = "Exit status: 0 converged, 2 stopped without converging, 130 ended by a signal, 1 error."
    )]
    Elasticity(Box<ElasticityArgs>),
    /// Write the matrix of a model problem
    Gen(GenArgs),
    /// Write a matrix in another format: Matrix Market, or binary, which needs no parsing
    Convert(ConvertArgs),
    /// Time the product y = A x in several formats on several devices
    Spmv(SpmvArgs),
    /// Repeat the source documents' tables: products, solvers, formats, threads, beside their figures
    #[command(
        after_help = "Exit status: 0 all right, 2 a solve did not converge, 1 a product is wrong, or an error."
    )]
    Bench(BenchArgs),
    /// Run a small program: vadd, pi, heat, laplace, gram-schmidt, modified-gram-schmidt, jacobi-dense,
    /// jacobi-grid
    #[command(after_help = "Exit status: 0 the result is right, 2 it is wrong, 1 error.")]
    Example(ExampleArgs),
    /// Write a project with a GPU kernel in Rust, its test and a program, to begin from
    New(NewArgs),
    /// Show devices, driver, memory, kernels and threads, and what --device auto takes
    Info(InfoArgs),
    /// Print a script that completes commands, options and names in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write one page for each command into a folder
    Man {
        /// The folder
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

impl Command {
    /// What is to be told of what it runs on devices; `None` if it computes on none.
    pub fn profile(&self) -> Option<&ProfileArgs> {
        match self {
            Command::Solve(args) => Some(&args.profile),
            Command::Spmv(args) => Some(&args.profile),
            Command::Example(args) => Some(&args.profile),
            Command::Bench(args) => args.setting().map(|setting| &setting.profile),
            Command::Bidomain(args) => Some(&args.cardiac.profile),
            Command::Monodomain(args) => Some(&args.cardiac.profile),
            Command::Elasticity(args) => Some(&args.profile),
            Command::Gen(_) | Command::Convert(_) | Command::New(_) | Command::Info(_) => None,
            Command::Completions { .. } | Command::Man { .. } => None,
        }
    }

    /// Whether several processes may run it together.
    pub fn runs_on_ranks(&self) -> bool {
        matches!(self, Command::Solve(_) | Command::Bidomain(_) | Command::Monodomain(_))
    }

    /// What its profile must know.
    pub fn uses(&self) -> Uses<'_> {
        Uses { report: self.json(), settings: self.config(), files: self.files() }
    }

    /// Where it writes a report for programs.
    fn json(&self) -> Option<&Path> {
        match self {
            Command::Solve(args) => args.json.as_deref(),
            Command::Spmv(args) => args.json.as_deref(),
            Command::Example(args) => args.json.as_deref(),
            Command::Bench(args) => args.setting().and_then(Setting::report),
            Command::Info(args) => args.json.as_deref(),
            Command::Elasticity(args) => args.json.as_deref(),
            Command::Bidomain(_) | Command::Monodomain(_) | Command::Gen(_) | Command::Convert(_) => None,
            Command::New(_) | Command::Completions { .. } | Command::Man { .. } => None,
        }
    }

    /// What else it reads and writes, where that may have any name.
    fn files(&self) -> Vec<&Path> {
        let files = match self {
            Command::Solve(args) => vec![&args.matrix.file, &args.rhs, &args.out, &args.history],
            Command::Spmv(args) => vec![&args.matrix.file],
            Command::Elasticity(args) => vec![&args.file, &args.json],
            Command::Bench(args) => match args.setting() {
                Some(s) => vec![&s.file, &s.json, &s.csv, &s.markdown, &s.html],
                None => vec![],
            },
            _ => vec![],
        };
        files.into_iter().flatten().map(PathBuf::as_path).collect()
    }

    /// Where it reads settings.
    fn config(&self) -> Option<&Path> {
        match self {
            Command::Solve(args) => args.config.as_deref(),
            _ => None,
        }
    }
}

/// Where the matrix comes from: a file or a generator, one of them.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("matrix").required(true).args(["file", "generate"]))]
pub struct MatrixArgs {
    /// The matrix: a Matrix Market file, .mtx, Harwell-Boeing, .rb or .rua and the like, either also .gz; or
    /// a binary one, .wsm
    #[arg(value_name = "A.mtx")]
    pub file: Option<PathBuf>,
    /// A model problem instead of a file, such as tet:32, poisson2d:300 or anisotropic:100:0.001
    #[arg(long = "gen", value_name = "KIND:SIZE", id = "generate")]
    pub generate: Option<Problem>,
    /// With --gen: number the unknowns at random
    #[arg(long, conflicts_with = "file")]
    pub shuffle: bool,
    /// With --gen: what random numbers start from
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "file")]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct SolveArgs {
    #[command(flatten)]
    pub matrix: MatrixArgs,
    /// The right-hand side: a Matrix Market vector, or an array with a column for each of several [default:
    /// all ones]
    #[arg(long, value_name = "b.mtx")]
    pub rhs: Option<PathBuf>,
    /// For elasticity, with --precond amg: the coordinates of the nodes, an array of 2 or 3 columns; the
    /// unknowns are the displacements, node by node. Multigrid then knows the rigid motions
    #[arg(long, value_name = "X.mtx")]
    pub coordinates: Option<PathBuf>,
    /// With --precond amg: vectors that A nearly maps to 0, an array with a column each; --block-size is the
    /// number of unknowns a node
    #[arg(long, value_name = "B.mtx", conflicts_with = "coordinates")]
    pub near_null: Option<PathBuf>,
    /// For saddle points, with --precond schur: how many unknowns come before the multipliers, or a file with
    /// the rows of these, one a line, from 1 [default: those with a zero on the diagonal]
    #[arg(long, value_name = "N|FILE")]
    pub split: Option<String>,
    /// Solve so many times with what is set up once, and say what the first took and what the later ones
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "plan",
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// With --repeat: hand the matrix over anew before each later solve, as one with other values; a
    /// hierarchy keeps its pattern
    #[arg(long, requires = "repeat")]
    pub new_values: bool,
    #[command(flatten)]
    pub settings: Settings,
    /// Solve in so many parts, each a thread with its own part of the device; under mpirun or srun every
    /// process is one, without this [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub ranks: Option<u16>,
    /// With ranks: blocks of rows as they come, rcm (after an order that brings neighbours together), metis
    /// (few entries between ranks; a feature of the build), or a file with the rank of each row, one a line,
    /// from 0 [default: blocks]
    #[arg(long, value_name = "HOW")]
    pub partition: Option<PartitionName>,
    /// Each rank reads or makes its own rows, and none has the whole matrix: of a .wsm, or of --gen tet,
    /// poisson2d, poisson3d, anisotropic or convection-diffusion. --rhs is a .wsm with one column
    #[arg(long, conflicts_with_all = ["plan", "shuffle", "repeat", "coordinates", "near_null"])]
    pub by_rows: bool,
    /// Settings from a file, .json or .toml, under the names of the options above: solver, max_iter, ..., and
    /// tables amg and ilu; the command line goes before it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Write the solution
    #[arg(long, value_name = "x.mtx")]
    pub out: Option<PathBuf>,
    /// Write the report as JSON; - for stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the residual norm of every iteration
    #[arg(long, value_name = "FILE.csv")]
    pub history: Option<PathBuf>,
    /// Say what the matrix is and what would be tried, in turn, and solve nothing
    #[arg(long, conflicts_with_all = ["out", "history", "quiet"])]
    pub plan: bool,
    /// No report and no progress, only warnings and errors
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,
    /// More detail in the report
    #[arg(long, short)]
    pub verbose: bool,
    #[command(flatten)]
    pub profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub struct GenArgs {
    /// tet, poisson2d, poisson3d, anisotropic, convection-diffusion, random-spd, bidomain or elasticity
    pub kind: String,
    /// Points along an edge (random-spd: rows); a parameter may follow, as in 100:0.001
    pub size: String,
    /// The file to write: .mtx, .mtx.gz or .wsm (binary)
    #[arg(value_name = "OUT.mtx")]
    pub out: PathBuf,
    /// Number the unknowns at random
    #[arg(long)]
    pub shuffle: bool,
    /// What random numbers start from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// The matrix: .mtx, .rb or .rua and the like, either also .gz; or .wsm
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The file to write: .mtx, .mtx.gz or .wsm (binary)
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Threads on the host [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct SpmvArgs {
    #[command(flatten)]
    pub matrix: MatrixArgs,
    /// Formats to try: crs, ell, sell, and with blocks bcrs2, bcrs3, bsell2, bsell3
    #[arg(long, value_delimiter = ',', default_value = "crs,ell,sell",
          value_parser = named::<Format>(&[Format::NAMES]), hide_possible_values = true)]
    pub format: Vec<Format>,
    /// For sell: rows sorted at a time, 1 or a multiple of 32
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub sigma: usize,
    /// Number types to try: f64, f32
    #[arg(long, value_delimiter = ',', default_value = "f64",
          value_parser = named::<Precision>(&[Precision::NAMES]), hide_possible_values = true)]
    pub precision: Vec<Precision>,
    /// Devices to try: auto, cpu, cuda, cuda:N, sim
    #[arg(long, value_delimiter = ',', default_value = "auto",
          value_parser = named::<DeviceName>(&[DeviceName::NAMES]), hide_possible_values = true)]
    pub device: Vec<DeviceName>,
    /// Products to time
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repeat: u32,
    /// Threads on the host [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// Write the table as JSON; - for stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// No table and no progress
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub struct ExampleArgs {
    /// vadd, pi, heat, laplace, gram-schmidt, modified-gram-schmidt, jacobi-dense or jacobi-grid
    #[arg(value_parser = named::<Program>(&[Program::NAMES]), hide_possible_values = true)]
    pub name: Program,
    /// Its sizes, those of its source otherwise: N, for heat N and STEPS, for modified-gram-schmidt ROWS and
    /// COLUMNS
    #[arg(value_name = "N")]
    pub sizes: Vec<usize>,
    /// auto, cpu, cuda, cuda:N or sim
    #[arg(long, default_value = "auto",
          value_parser = named::<DeviceName>(&[DeviceName::NAMES]), hide_possible_values = true)]
    pub device: DeviceName,
    /// resident, or every-step: copies to the device and back in each step of heat, laplace and jacobi-grid
    #[arg(long, default_value = "resident", value_name = "WAY",
          value_parser = named::<Transfers>(&[Transfers::NAMES]), hide_possible_values = true)]
    pub transfers: Transfers,
    /// coalesced, or as-written: heat with its loops in the order that its source begins with
    #[arg(long, default_value = "coalesced", value_name = "ORDER",
          value_parser = named::<Loops>(&[Loops::NAMES]), hide_possible_values = true)]
    pub loops: Loops,
    /// laplace: read its state every N steps, and show it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub lines: Option<u32>,
    /// With --device sim: what each line of the kernels does to memory
    #[arg(long)]
    pub explain: bool,
    /// Threads on the host [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// Write the report as JSON; - for stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub struct NewArgs {
    /// The name of the project and of its folder, which is made here
    pub name: String,
    /// Take the GPU crates from this copy of warpsolve's repository [default: from the registry]
    #[arg(long, value_name = "PATH")]
    pub crates: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Write as JSON; - for stdout, in place of the text
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Clocks, bus and shared memory of each GPU too, and how many threads it runs at once
    #[arg(long, short)]
    pub verbose: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
