//! Files that are either complete or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Writes a file with `fill`, under another name in the same folder, and renames it when it is complete.
///
/// A run that fails or is killed half-way leaves the old file, or none. Where `path` is not an ordinary file
/// (`/dev/stdout`, a pipe), it is written directly. A symbolic link keeps pointing where it did.
///
/// # Errors
/// [`Error::Io`] when the file cannot be created, written or renamed.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let fail = |action| move |source| Error::io(action, path, source);
    if !is_replaced(path) {
        return fill(&mut in_place(path)?).map_err(fail("write"));
    }
    let target = target(path);
    let mut file = BufWriter::new(beside(path)?);
    fill(&mut file).and_then(|()| file.flush()).map_err(fail("write"))?;
    let file = file.into_inner().map_err(|e| fail("write")(e.into_error()))?;
    file.persist(&target).map_err(|e| fail("create")(e.error))?;
    Ok(())
}

/// Checks that [`write_atomically`] can create a file there, and removes it again. To be called before hours
/// of work.
///
/// # Errors
/// Those of [`write_atomically`].
pub fn check_writable(path: &Path) -> Result<()> {
    if is_replaced(path) { beside(path).map(drop) } else { in_place(path).map(drop) }
}

/// Whether `path` is an ordinary file, or nothing is there.
fn is_replaced(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}

/// The file itself, to be written directly.
fn in_place(path: &Path) -> Result<File> {
    fs::OpenOptions::new().write(true).open(path).map_err(|source| Error::io("write", path, source))
}

/// The file that a link points to.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// An unfinished file in the folder of `path`.
fn beside(path: &Path) -> Result<NamedTempFile> {
    let target = target(path);
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".warpsolve-");
    // By default only the owner could read it. Results get the permissions of the user's umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).map_err(|source| Error::io("create", path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn replaces_only_when_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.txt");
        write_atomically(&path, |w| w.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |w| {
            w.write_all(b"half")?;
            Err(io::Error::other("disk on fire"))
        });
        assert!(failed.unwrap_err().to_string().contains("x.txt: disk on fire"));
        assert_eq!((fs::read(&path).unwrap(), entries(folder.path())), (b"old".to_vec(), 1));
        write_atomically(&path, |w| w.write_all(b"new")).unwrap();
        assert_eq!((fs::read(&path).unwrap(), entries(folder.path())), (b"new".to_vec(), 1));
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere/x.txt");
        let error = write_atomically(&path, |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("cannot create") && error.contains("nowhere"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, b"old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_atomically(&link, |w| w.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
        write_atomically(Path::new("/dev/null"), |w| w.write_all(b"gone")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
