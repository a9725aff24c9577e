//! `warpsolve completions`: a script that completes commands, options and names in a shell.

use clap::CommandFactory;
use clap_complete::{Shell, generate};
use warpsolve::Result;

use super::args::Cli;
use super::output::print;
use super::status::SUCCESS;

/// Prints the script; returns the exit status.
pub fn run(shell: Shell) -> Result<u8> {
    let mut command = Cli::command();
    let name = command.get_name().to_string();
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(SUCCESS)
}
