//! The command line: arguments become a typed job, the job runs, and its report is printed.

mod advice;
mod args;
mod bench;
mod by_rows;
mod capacity;
mod cardiac;
mod completions;
mod config;
mod convert;
mod cores;
mod device;
mod elasticity;
mod ended;
mod example;
mod explain;
mod facts;
mod r#gen;
mod given;
mod info;
mod job;
mod json;
mod load;
mod man;
mod names;
mod new;
mod output;
mod parameters;
mod partition;
mod profile;
mod progress;
mod ranks;
mod report;
mod rigid;
mod settings;
mod signals;
mod solve;
mod split;
mod spmv;
mod status;
mod table;
mod values;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;

use args::{Cli, Command};
use given::given;
use output::complain;
use profile::Profiler;
use status::{FAILURE, SUCCESS};
use warpsolve::comm::launcher::{Launched, launched};
use warpsolve::comm::{Comm, agree, check_same};
use warpsolve::{Error, Result};

/// What is printed without a command.
const FIRST_STEPS: &str = concat!(
    "warpsolve ",
    env!("CARGO_PKG_VERSION"),
    " solves large sparse linear systems A x = b on NVIDIA GPUs and on CPUs. Three things to try:

  warpsolve info                                    what it finds on this machine
  warpsolve solve --gen tet:32                      a model problem, on the GPU or else the CPU
  warpsolve solve A.mtx --precond amg --out x.mtx   a Matrix Market file, with multigrid

All commands: warpsolve --help
"
);

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too, and are no failure, but where other processes wait for this
            // one. A closed pipe is no news.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() || by_launcher().is_some() {
                FAILURE
            } else {
                SUCCESS
            });
        }
    };
    ExitCode::from(run_on_ranks(cli))
}

/// The launcher that has started this process as one of many.
fn by_launcher() -> Option<Launched> {
    launched(|name| std::env::var(name).ok())
}

/// Runs a command in one process, or in the first of many while the others serve it; the exit status.
fn run_on_ranks(cli: Cli) -> u8 {
    let launched = by_launcher();
    let is_first = launched.as_ref().is_none_or(|launched| launched.rank == 0);
    let comm = match ranks::processes(launched.as_ref()) {
        Ok(comm) => comm,
        Err(error) => {
            // Once, not once for each process.
            if is_first {
                complain(&error);
            }
            return FAILURE;
        }
    };
    match &comm {
        None => run(cli, None).unwrap_or_else(|error| {
            complain(&error);
            FAILURE
        }),
        Some(comm) => run_together(cli, comm),
    }
}

/// The same in one process of many.
fn run_together(cli: Cli, comm: &Arc<dyn Comm>) -> u8 {
    let is_first = comm.rank() == 0;
    let runs_on_ranks = match cli.command.as_ref().is_some_and(Command::runs_on_ranks) {
        true => Ok(()),
        false => Err(only_one()),
    };
    let same = given(std::env::args_os()).iter().try_for_each(|given| check_same(&**comm, given));
    let checked = same.and_then(|()| agree(&**comm, runs_on_ranks));
    let status = checked.and_then(|()| match cli.command {
        Some(command) if !is_first => work(command, comm),
        command => run(Cli { command }, Some(comm)),
    });
    status.unwrap_or_else(|error| {
        match &error {
            // The first says what all know, and what it alone knows, and ends all.
            _ if is_first => {
                complain(&error);
                comm.fail("");
            }
            Error::Rank { .. } => {}
            own => comm.fail(&own.to_string()),
        }
        FAILURE
    })
}

/// What every process of a launcher but the first does; the exit status.
fn work(command: Command, comm: &Arc<dyn Comm>) -> Result<u8> {
    match command {
        Command::Solve(args) => solve::work(args, comm),
        Command::Bidomain(args) => cardiac::work_at_bidomain(args, comm),
        Command::Monodomain(args) => cardiac::work_at_monodomain(args, comm),
        _ => Err(only_one()),
    }
}

fn only_one() -> Error {
    Error::Option("solve, bidomain and monodomain alone run on several processes; start one".into())
}

/// Runs a command; the exit status.
fn run(cli: Cli, comm: Option<&Arc<dyn Comm>>) -> Result<u8> {
    let Some(command) = cli.command else {
        return output::print(FIRST_STEPS).map(|()| SUCCESS);
    };
    let profile = command.profile().cloned().unwrap_or_default();
    let profiler = Profiler::new(profile, &command.uses())?;
    let status = match command {
        Command::Solve(args) => solve::run(args, comm, &profiler),
        Command::Bidomain(args) => cardiac::bidomain(args, comm, &profiler),
        Command::Monodomain(args) => cardiac::monodomain(args, comm, &profiler),
        Command::Elasticity(args) => elasticity::run(*args, &profiler),
        Command::Gen(args) => r#gen::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Spmv(args) => spmv::run(args, &profiler),
        Command::Bench(args) => bench::run(args, &profiler),
        Command::Example(args) => example::run(args, &profiler),
        Command::New(args) => new::run(args),
        Command::Info(args) => info::run(args),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { folder } => man::run(folder.as_deref()),
    };
    // Also of a command that failed, where it is needed most.
    let profiled = profiler.finish(status.is_err());
    let status = status?;
    profiled.map(|()| status)
}
