//! The driver's library, loaded when a program first wants it.
//!
//! Nothing of the driver is linked, so that a program starts on machines that have none. [`crate::init`] and
//! [`crate::quick_init`] load it; before that every function of [`crate::sys`] returns an error.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! if let Err(error) = cust::driver::load() {
//!     println!("no GPU will be used: {error}");
//! }
//! # Ok(())
//! # }
//! ```

use crate::sys::ENTRIES;
use libloading::Library;
use std::error::Error;
use std::ffi::{OsStr, OsString, c_void};
use std::sync::{Mutex, PoisonError};

/// What the driver's library is called.
pub const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// The library in use; locked while it is being loaded.
static LOADED: Mutex<Option<OsString>> = Mutex::new(None);

/// Why the driver could not be loaded, in the words of the dynamic linker.
///
/// ```no_run
/// # use cust::driver;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// match driver::load() {
///     Ok(()) => println!("there is a driver"),
///     Err(error) if error.is_missing() => println!("there is none"),
///     Err(error) => println!("there is one, but {error}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    message: String,
    is_missing: bool,
}

impl LoadError {
    fn new(library: &OsStr, message: String) -> LoadError {
        // The linker also says so of a library that the driver needs: then it names that one.
        let name = format!("{}: ", library.display());
        let is_missing = message.contains(&name) && message.contains("No such file or directory")
            || cfg!(windows) && message.contains("(os error 126)");
        LoadError { message, is_missing }
    }

    /// Whether there is no such library. A library that is there may be broken.
    ///
    /// ```no_run
    /// # use cust::driver;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let no_driver = driver::load().is_err_and(|error| error.is_missing());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_missing(&self) -> bool {
        self.is_missing
    }
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for LoadError {}

/// Loads [`LIBRARY`] from where the dynamic linker looks, once for the whole process.
///
/// Calls after a success do nothing; calls after a failure try again.
///
/// ```no_run
/// # use cust::driver;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// driver::load()?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// There is no such library, or it is not one for this machine.
pub fn load() -> Result<(), LoadError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: NVIDIA's driver library does nothing on loading that could break this process.
    if loaded.is_none() { unsafe { resolve(&mut loaded, OsStr::new(LIBRARY)) } } else { Ok(()) }
}

/// Loads the driver from a file of that name instead of [`LIBRARY`].
///
/// ```no_run
/// # use cust::driver;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // SAFETY: it is NVIDIA's.
/// unsafe { driver::load_from("/usr/local/cuda/compat/libcuda.so.1")? };
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The file is not a shared library for this machine, or another one is loaded already.
///
/// # Safety
/// What the library does on loading is sound, and its `cu*` functions have the driver's signatures.
pub unsafe fn load_from(library: impl AsRef<OsStr>) -> Result<(), LoadError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*loaded {
        Some(present) if present == library.as_ref() => Ok(()),
        Some(present) => {
            Err(LoadError::new(library.as_ref(), format!("{} is loaded already", present.display())))
        }
        // SAFETY: the caller vouches for the library.
        None => unsafe { resolve(&mut loaded, library.as_ref()) },
    }
}

/// Loads `library` and looks up the functions in it.
///
/// # Safety
/// As for [`load_from`].
unsafe fn resolve(loaded: &mut Option<OsString>, library: &OsStr) -> Result<(), LoadError> {
    // SAFETY: the caller vouches for the library.
    let handle = unsafe { open(library) }.map_err(|e| {
        // The dynamic linker's words are in the source; the error itself says "dlopen failed".
        LoadError::new(library, e.source().map_or_else(|| e.to_string(), ToString::to_string))
    })?;
    for entry in &ENTRIES {
        // SAFETY: the symbol is only taken as an address here.
        let function = unsafe { handle.get::<*mut c_void>(entry.name.as_bytes()) };
        entry.resolve(function.ok().map(|symbol| *symbol));
    }
    // The table points into the library for as long as the process lives.
    std::mem::forget(handle);
    *loaded = Some(library.to_owned());
    Ok(())
}

/// Opens `library`. Its own symbols are bound at once, so that one that lacks some is refused here and does
/// not end the process later.
///
/// # Safety
/// As for [`load_from`].
unsafe fn open(library: &OsStr) -> Result<Library, libloading::Error> {
    #[cfg(unix)]
    {
        use libloading::os::unix;
        // SAFETY: the caller vouches for the library.
        unsafe { unix::Library::open(Some(library), unix::RTLD_NOW | unix::RTLD_LOCAL) }.map(Into::into)
    }
    #[cfg(not(unix))]
    // SAFETY: the caller vouches for the library.
    unsafe {
        Library::new(library)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::CudaError;

    #[test]
    fn a_missing_library_is_an_error_that_names_it() {
        // SAFETY: there is nothing to load.
        let error = unsafe { load_from("/nowhere/libcuda.so.1") }.unwrap_err();
        assert!(error.to_string().contains("/nowhere/libcuda.so.1"), "{error}");
        assert!(error.is_missing());
        assert_eq!(CudaError::from(error), CudaError::DriverNotFound);
    }

    #[test]
    fn a_broken_library_is_not_missing() {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libcuda.so.1");
        std::fs::write(&library, "no library").unwrap();
        // SAFETY: it is refused before any of it runs.
        let error = unsafe { load_from(&library) }.unwrap_err();
        assert!(!error.is_missing(), "{error}");
        assert_eq!(CudaError::from(error), CudaError::SharedObjectInitFailed);
        let needed =
            "libnvidia-ptxjitcompiler.so.1: cannot open shared object file: No such file or directory";
        assert!(!LoadError::new(OsStr::new(LIBRARY), needed.into()).is_missing());
    }
}
