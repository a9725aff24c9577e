//! `--profile` and `--profile-trace`: what a command ran on its devices.

mod seen;
mod table;
mod trace;

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use warpsolve::backend::gpu::Gpu;
use warpsolve::io::atomic::check_writable;
use warpsolve::launch::notice::{self, Notices};
use warpsolve::launch::profile::Profiled;
use warpsolve::{Error, Result};

use super::names::named;
use super::output::{is_same_file, print, to_stderr, warn};
use seen::Seen;

/// What all commands take that compute on a device.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Profile of a GPU or of the simulator")]
pub struct ProfileArgs {
    /// After the report print every kernel with its launches, times and bytes, the copies, the memory and the
    /// time without work; kernels are queued one by one for it, which takes longer
    #[arg(long)]
    pub profile: bool,
    /// Write when each of them ran, for ui.perfetto.dev or chrome://tracing
    #[arg(long, value_name = "FILE.json")]
    pub profile_trace: Option<PathBuf>,
    /// Write a line to stderr for each launch, each copy, or all: kernel, grid and block, or type and bytes,
    /// and the place in the source that asked; kernels are queued one by one. WARPSOLVE_NOTIFY does the same
    #[arg(long, value_name = "WHAT", value_parser = named::<Notices>(&[Notices::NAMES]),
          hide_possible_values = true)]
    pub notify: Option<Notices>,
}

/// Which notices are wanted: those of the option, or else of the environment.
///
/// # Errors
/// [`Error::Option`] where the environment names none.
fn notices(option: Option<Notices>) -> Result<Option<Notices>> {
    if option.is_some() {
        return Ok(option);
    }
    match std::env::var("WARPSOLVE_NOTIFY") {
        Ok(name) if !name.is_empty() && name != "0" => name.parse().map(Some),
        _ => Ok(None),
    }
}

/// What a command is and uses, as far as its profile must know.
pub struct Uses<'a> {
    /// Where it writes a report for programs.
    pub report: Option<&'a Path>,
    /// Where it reads settings.
    pub settings: Option<&'a Path>,
    /// What else it reads and writes, where that may have any name.
    pub files: Vec<&'a Path>,
}

/// Watches the devices of a command, if that was asked for.
pub struct Profiler {
    prints: bool,
    trace: Option<PathBuf>,
    /// Whether stdout is a report for programs.
    stdout_is_taken: bool,
    watched: RefCell<Vec<Arc<Profiled>>>,
    /// Whether the option asked for notices.
    notifies: bool,
    /// Whether a GPU or the simulator was opened.
    has_kernels: Cell<bool>,
}

impl Profiler {
    /// Checks what is asked for before anything is done.
    ///
    /// # Errors
    /// [`Error::Option`] where `command` reads or writes another file of the trace's name, and [`Error::Io`]
    /// where the trace cannot be written.
    pub fn new(args: ProfileArgs, command: &Uses) -> Result<Profiler> {
        let ProfileArgs { profile, profile_trace, notify } = args;
        let notifies = notify.is_some();
        if let Some(notices) = notices(notify)? {
            notice::switch_on(notices);
        }
        if let Some(path) = &profile_trace {
            check_path(path, command)?;
        }
        Ok(Profiler {
            prints: profile,
            trace: profile_trace,
            stdout_is_taken: command.report == Some(Path::new("-")),
            watched: RefCell::default(),
            notifies,
            has_kernels: Cell::default(),
        })
    }

    /// `gpu`, or the same device watched.
    pub fn watch(&self, gpu: Gpu) -> Result<Gpu> {
        self.has_kernels.set(true);
        if !self.prints && self.trace.is_none() {
            return Ok(gpu);
        }
        let device = gpu.device().clone();
        let watched = Arc::new(match self.trace {
            Some(_) => Profiled::tracing(device),
            None => Profiled::new(device),
        });
        self.watched.borrow_mut().push(watched.clone());
        Gpu::new(watched)
    }

    /// Prints and writes what was seen, of a command that `failed` too.
    pub fn finish(self, failed: bool) -> Result<()> {
        if self.notifies && !self.has_kernels.get() && !failed {
            warn("no notices: the CPU runs no kernels and copies nothing; use --device cuda or sim");
        }
        if !self.prints && self.trace.is_none() {
            return Ok(());
        }
        let seen: Vec<Seen> = self.watched.borrow().iter().map(Seen::of).collect();
        if seen.is_empty() {
            if !failed {
                warn("no profile: the CPU runs no kernels that could be watched; use --device cuda or sim");
            }
            return Ok(());
        }
        if self.prints {
            let text: String = seen.iter().map(|seen| format!("\n{}", table::text(seen))).collect();
            match self.stdout_is_taken {
                true => to_stderr(&text),
                false => print(&text)?,
            }
        }
        self.trace.map_or(Ok(()), |path| trace::write(&path, &seen))
    }
}

/// Refuses a trace that could not be written, or over another file of the command.
fn check_path(path: &Path, command: &Uses) -> Result<()> {
    let refuse =
        |why: &str| Err(Error::Option(format!("the trace {} {why}; name another file", path.display())));
    // Any other name may be that of an input.
    if path.extension().is_none_or(|extension| extension != "json") {
        return refuse("does not end in .json");
    }
    let same = |other: &Path| is_same_file(other, path);
    if command.report.is_some_and(same) {
        return refuse("has the name of the report");
    }
    if command.settings.is_some_and(same) {
        return refuse("has the name of the settings");
    }
    if command.files.iter().copied().any(same) {
        return refuse("has the name of another file of this command");
    }
    check_writable(path)
}
