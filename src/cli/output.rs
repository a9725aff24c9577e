//! What goes to the terminal.

use std::error::Error as _;
use std::io::{self, Write};
use std::path::Path;

use warpsolve::io::atomic::write_atomically;
use warpsolve::{Error, Result};

use super::advice;

/// Writes to stdout. A reader that has seen enough (`| head`) is not an error.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::io("write", "<stdout>", error)),
        _ => Ok(()),
    }
}

/// Whether two names lead to the same file, be it there or not.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let in_its_folder = || {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
        };
        path.canonicalize().ok().or_else(in_its_folder)
    };
    a == b || place(a).is_some_and(|a| place(b) == Some(a))
}

/// Refuses outputs that would be lost after the work: in a folder that is not there, over a folder, over an
/// input, or over one another.
pub fn check_outputs(outputs: &[Option<&Path>], inputs: &[Option<&Path>]) -> Result<()> {
    let refuse = |path: &Path, why: &str| {
        Err(Error::Option(format!("the output {} {why}; name another file", path.display())))
    };
    // Devices and pipes may be named twice.
    let file = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    let stdout = Path::new("-");
    if outputs.iter().flatten().filter(|path| **path == stdout).count() > 1 {
        return refuse(stdout, "is named twice");
    }
    for (k, path) in outputs.iter().enumerate() {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else { continue };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            return refuse(path, "is in a folder that does not exist");
        }
        if path.is_dir() {
            return refuse(path, "is a folder");
        }
        if inputs.iter().flatten().any(|input| file(path).is_some() && file(path) == file(input)) {
            return refuse(path, "is an input");
        }
        if outputs[..k].iter().flatten().any(|other| is_same_file(other, path) && !path.starts_with("/dev")) {
            return refuse(path, "is named twice");
        }
    }
    Ok(())
}

/// Refuses stdout for a matrix: its name decides the format, and it is written elsewhere first.
pub fn check_matrix_file(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Err(Error::Option(
            "a matrix goes to a file, and - is none; name an .mtx, .mtx.gz or .wsm".into(),
        ));
    }
    Ok(())
}

/// Refuses what no solution is written to: stdout, and a binary matrix.
pub fn check_solution_file(path: &Path) -> Result<()> {
    let is_binary = path.extension().is_some_and(|extension| extension == "wsm");
    if path == Path::new("-") || is_binary {
        return Err(Error::Option(format!(
            "--out {}: a solution goes to a file of text; name an .mtx or .mtx.gz",
            path.display()
        )));
    }
    Ok(())
}

/// Writes a file, complete or not at all; `-` is stdout.
pub fn write(path: &Path, text: &str) -> Result<()> {
    if path == Path::new("-") {
        return print(text);
    }
    write_atomically(path, |file| file.write_all(text.as_bytes()))
}

/// Bytes of a file.
pub fn file_size(path: &Path) -> Result<u64> {
    Ok(std::fs::metadata(path).map_err(|error| Error::io("read", path, error))?.len())
}

/// "error: ..." on stderr, with those causes that the message does not already name.
pub fn complain(error: &Error) {
    let mut text = format!("error: {}\n", advice::error(error));
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text += &format!("  caused by: {message}\n");
        }
        cause = error.source();
    }
    to_stderr(&text);
}

/// "warning: ..." on stderr.
pub fn warn(message: &str) {
    to_stderr(&format!("warning: {message}\n"));
}

/// "error: ..." on stderr, of what is no failure of the program itself.
pub fn say_error(message: &str) {
    to_stderr(&format!("error: {message}\n"));
}

/// A stderr that is closed is no reason to stop.
pub fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
