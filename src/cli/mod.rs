//! The command line: arguments become a typed job, the job runs, and its report is printed.

mod account;
mod args;
mod bench;
mod cardiac;
mod completions;
mod config;
mod convert;
mod device;
mod example;
mod r#gen;
mod info;
mod json;
mod load;
mod man;
mod names;
mod output;
mod profile;
mod progress;
mod report;
mod settings;
mod solve;
mod spmv;
mod status;
mod table;
mod values;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use output::complain;
use profile::Profiler;
use status::{FAILURE, SUCCESS};
use warpsolve::Result;

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too, and are no failure. A closed pipe is no news.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { FAILURE } else { SUCCESS });
        }
    };
    ExitCode::from(run(cli).unwrap_or_else(|error| {
        complain(&error);
        FAILURE
    }))
}

/// Runs a command; the exit status.
fn run(cli: Cli) -> Result<u8> {
    let profiler = Profiler::new(cli.profile, &cli.command.uses())?;
    let status = match cli.command {
        Command::Solve(args) => solve::run(args, &profiler),
        Command::Bidomain(args) => cardiac::bidomain(args, &profiler),
        Command::Monodomain(args) => cardiac::monodomain(args, &profiler),
        Command::Gen(args) => r#gen::run(args),
        Command::Convert(args) => convert::run(args),
        Command::Spmv(args) => spmv::run(args, &profiler),
        Command::Bench(args) => bench::run(args, &profiler),
        Command::Example(args) => example::run(args, &profiler),
        Command::Info(args) => info::run(args),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { folder } => man::run(folder.as_deref()),
    };
    // Of a command that failed it is wanted all the more.
    let profiled = profiler.finish(status.is_err());
    let status = status?;
    profiled.map(|()| status)
}
