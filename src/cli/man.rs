//! `warpsolve man`: the help of every command as manual pages.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use warpsolve::io::atomic::write_atomically;
use warpsolve::{Error, Result};

use super::args::Cli;
use super::output::print;
use super::status::SUCCESS;

/// Writes a page for each command into `folder`, or prints the main one; returns the exit status.
pub fn run(folder: Option<&Path>) -> Result<u8> {
    // A page for `help` would only say that there is help.
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    match folder {
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page).map_err(|error| Error::io("write", "<stdout>", error))?;
            print(&String::from_utf8_lossy(&page))?;
        }
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))?;
            pages(command, folder)?;
        }
    }
    Ok(SUCCESS)
}

/// The page of `command`, and those of the commands below it.
fn pages(command: Command, folder: &Path) -> Result<()> {
    for below in command.get_subcommands() {
        pages(below.clone(), folder)?;
    }
    let page = Man::new(command);
    write_atomically(&folder.join(page.get_filename()), |mut file| page.render(&mut file))
}
