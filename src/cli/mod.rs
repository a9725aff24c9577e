//! The command line: arguments become a typed job, the job runs, and its report is printed.

mod args;
mod bench;
mod cardiac;
mod config;
mod device;
mod example;
mod r#gen;
mod info;
mod json;
mod load;
mod output;
mod progress;
mod report;
mod settings;
mod solve;
mod spmv;
mod table;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use output::complain;

/// Everything went well; for `solve`, the solver converged.
const SUCCESS: u8 = 0;
/// Something failed, which was said on stderr.
const FAILURE: u8 = 1;
/// The solver stopped without converging; for `example`, the result is wrong.
const UNCONVERGED: u8 = 2;

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
    let status = match cli.command {
        Command::Solve(args) => solve::run(args),
        Command::Bidomain(args) => cardiac::bidomain(args),
        Command::Monodomain(args) => cardiac::monodomain(args),
        Command::Gen(args) => r#gen::run(args),
        Command::Spmv(args) => spmv::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Example(args) => example::run(args),
        Command::Info(args) => info::run(args),
    };
    ExitCode::from(status.unwrap_or_else(|error| {
        complain(&error);
        FAILURE
    }))
}
