//! The arguments of `bench`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use warpsolve::job::Precision;
use warpsolve::matrix::Format;
use warpsolve::problem::Problem;

use super::super::device::DeviceName;
use super::super::names::named;
use super::super::parameters::{Amg, Setting as Parameter};
use super::super::profile::ProfileArgs;
use super::super::values::{Restart, not_negative};

#[derive(Debug, Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub what: What,
}

impl BenchArgs {
    /// What is to be measured; `None` for reports to be compared.
    pub fn setting(&self) -> Option<&Setting> {
        match &self.what {
            What::Dot(setting) | What::Spmv(setting) | What::Cg(setting) | What::Gmres(setting) => {
                Some(setting)
            }
            What::Amg(setting) | What::Block(setting) | What::Threads(setting) => Some(setting),
            What::Elasticity(setting) | What::Patterns(setting) | What::Unified(setting) => Some(setting),
            What::Loops(setting) | What::Programs(setting) | What::Shapes(setting) => Some(setting),
            What::Exchange(setting) | What::Native(setting) | What::All(setting) => Some(setting),
            What::Compare(_) => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub enum What {
    /// The scalar product, with its sum left on the device and with its sum read by the host
    Dot(Setting),
    /// The product y = A x in each format
    Spmv(Setting),
    /// CG with Jacobi's preconditioner in each format
    Cg(Setting),
    /// GMRES with Jacobi's preconditioner in each format
    Gmres(Setting),
    /// CG and GMRES with algebraic multigrid in each format
    Amg(Setting),
    /// Blocks of unknowns beside scalars: products, CG with Jacobi and with multigrid
    Block(Setting),
    /// CG and GMRES on 1, 2, 4, ... threads of the host
    Threads(Setting),
    /// Elasticity: CG with Jacobi and with multigrid, on threads of the host and in two formats
    Elasticity(Setting),
    /// Access patterns: coalesced, with strides, at random, arrays of structures, branches
    Patterns(Setting),
    /// A kernel that reads unified memory, beside memory of the device and a copy (GPU)
    Unified(Setting),
    /// A sweep of block Jacobi on threads of the host, its loops written in four ways
    Loops(Setting),
    /// The small programs that the documents time, by threads of the host and on each GPU
    Programs(Setting),
    /// The product with slices of 32, 64 and 128 rows, in blocks of 64 to 512 threads (GPU)
    Shapes(Setting),
    /// A product by several ranks that exchange nothing, the elements that they share, or whole vectors
    Exchange(Setting),
    /// A product in CUDA C++ beside the one in Rust, and CG with either (GPU)
    Native(Setting),
    /// All of these
    All(Setting),
    /// Set two reports (--json) side by side; what changed beyond its spread is marked
    #[command(after_help = "Exit status: 0 nothing is slower, 2 something is, 1 error.")]
    Compare(CompareArgs),
}

#[derive(Debug, Clone, Args)]
pub struct Setting {
    /// The matrix: a Matrix Market file [default: the source documents' size, tet:96 with 875,520 rows, for
    /// blocks bidomain:75 with 843,750, for elasticity elasticity:42 with 867,888; in the simulator tet:6,
    /// bidomain:4 and elasticity:3]
    #[arg(value_name = "A.mtx", conflicts_with = "generate")]
    pub file: Option<PathBuf>,
    /// A model problem instead of a file, such as tet:32 or bidomain:20
    #[arg(long = "gen", value_name = "KIND:SIZE", id = "generate")]
    pub generate: Option<Problem>,
    /// With a model problem: number the unknowns at random
    #[arg(long, conflicts_with = "file")]
    pub shuffle: bool,
    /// With a model problem: what random numbers start from
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "file")]
    pub seed: u64,
    /// Formats: crs, ell (the documents' SELL-C-sigma), sell (their reduced one); for blocks bcrs2, bsell2,
    /// ... [default: crs,ell,sell, for blocks crs,sell,bcrs2,bsell2]
    #[arg(long, value_delimiter = ',', value_parser = named::<Format>(&[Format::NAMES]), hide_possible_values = true)]
    pub format: Vec<Format>,
    /// Elements of a vector in the tables patterns and unified [default: 33,554,432, on the CPU 4,194,304, in
    /// the simulator 1,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pub elements: Option<u32>,
    /// In the table shapes, and if given in spmv and block, beside sell: rows of a slice [default: 32,64,128]
    #[arg(long, value_name = "ROWS", value_delimiter = ',', value_parser = PossibleValuesParser::new(["32", "64", "128"]).try_map(|rows| rows.parse::<usize>()), hide_possible_values = true)]
    pub slice: Vec<usize>,
    /// In the same tables: threads of a block [default: 64,128,256,512]
    #[arg(long, value_name = "THREADS", value_delimiter = ',', value_parser = PossibleValuesParser::new(["64", "128", "256", "512"]).try_map(|threads| threads.parse::<u32>()), hide_possible_values = true)]
    pub block: Vec<u32>,
    /// In the table programs: points along each side of a grid, rows and columns of a matrix [default: each
    /// of the documents' sizes, the long ones once and by the last number of threads; 24 in the simulator]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=50_000))]
    pub grid: Option<u32>,
    /// Number types: f64, f32
    #[arg(long, value_delimiter = ',', default_value = "f64", value_parser = named::<Precision>(&[Precision::NAMES]), hide_possible_values = true)]
    pub precision: Vec<Precision>,
    /// Devices: auto, cpu, cuda, cuda:N, sim
    #[arg(long, value_delimiter = ',', default_value = "auto", value_parser = named::<DeviceName>(&[DeviceName::NAMES]), hide_possible_values = true)]
    pub device: Vec<DeviceName>,
    /// Threads on the host: the tables threads, elasticity and programs have rows for each, the others use
    /// the last; more than 8 for each core are left out [default: 1, 2, 4, ... cores]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Vec<u16>,
    /// For the table exchange: parts of the system, each a thread with a device of its own
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "2,4", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub ranks: Vec<u16>,
    /// Times that a product is measured, after a warm-up [default: 1000, as the documents have it; 3 in the
    /// simulator]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repeat: Option<u32>,
    /// Times that a solve is measured, after a first [default: 10, as the documents have it; 1 in the
    /// simulator]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub solves: Option<u32>,
    /// Relative residual at which solves stop
    #[arg(long, value_name = "X", default_value_t = 1e-5, value_parser = not_negative, allow_negative_numbers = true)]
    pub rtol: f64,
    /// Most iterations of a solve
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub max_iter: u32,
    /// With multigrid: any of its parameters, as --amg of solve has them, such as coarsening=pmis,cycle=w;
    /// with preset=paper its matrices are in the format of the row on every level
    #[arg(long, value_name = "KEY=VALUE,...", value_delimiter = ',')]
    pub amg: Vec<Parameter<Amg>>,
    /// The same as --amg preset=NAME: paper is the source documents' multigrid
    #[arg(long, value_name = "NAME", value_parser = ["paper", "none"], hide_possible_values = true)]
    pub preset: Option<String>,
    /// For GMRES: iterations in a cycle, or none
    #[arg(long, value_name = "N", default_value = "30")]
    pub restart: Restart,
    /// Write the report as JSON, for `bench compare`; - for stdout, in place of the text
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the rows as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the tables as Markdown
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write a page with tables and plots
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// No tables and no progress
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub profile: ProfileArgs,
}

impl Setting {
    /// What goes to stdout in place of the text; or else where the report for programs goes.
    pub fn report(&self) -> Option<&Path> {
        let outputs = [&self.json, &self.csv, &self.markdown, &self.html];
        let to_stdout = outputs.into_iter().flatten().find(|path| path.as_path() == Path::new("-"));
        to_stdout.or(self.json.as_ref()).map(PathBuf::as_path)
    }
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The older report
    #[arg(value_name = "old.json")]
    pub old: PathBuf,
    /// The newer one
    #[arg(value_name = "new.json")]
    pub new: PathBuf,
    /// Changes below so many percent are none
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, value_parser = not_negative)]
    pub threshold: f64,
}
