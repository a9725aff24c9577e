//! The CUDA driver without a CUDA toolkit, and without a driver while it is not wanted.
//!
//! `cust` calls the driver through some hundred `cu*` symbols that are usually bound when the program
//! starts, so that it does not start at all where `libcuda.so.1` is missing. This crate defines those
//! symbols itself. Each is one jump through a table, and [`load`] fills the table with `dlopen`:
//!
//! ```text
//! cust -> cuInit: jmp [TABLE + 8 * index of cuInit] -> libcuda.so.1's cuInit
//!                                                   -> not_loaded, before `load` or without a driver
//! ```
//!
//! A jump leaves all argument registers and the stack as they are, so that the table needs no
//! signatures. Before [`load`], and where there is no driver, every entry returns
//! `CUDA_ERROR_NOT_INITIALIZED`; an entry which an old driver lacks returns
//! `CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND`. Nothing crashes, and cust turns both into errors.
//!
//! That nothing links the real library is the doing of `crates/find_cuda_helper`.

mod symbols;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

pub use symbols::NAMES;

/// `CUDA_ERROR_NOT_INITIALIZED`: what every entry returns while no driver is loaded.
pub const NOT_INITIALIZED: u32 = 3;
/// `CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND`: what an entry returns that the loaded driver lacks.
pub const SYMBOL_NOT_FOUND: u32 = 302;

/// What the driver's library is called on every Linux system.
pub const LIBRARY: &str = "libcuda.so.1";

/// Where each symbol jumps to, in the order of [`NAMES`].
static TABLE: [AtomicPtr<()>; NAMES.len()] =
    [const { AtomicPtr::new(not_loaded as *const () as *mut ()) }; NAMES.len()];

/// The library in the table; locked while it is being filled.
static LOADED: Mutex<Option<OsString>> = Mutex::new(None);

extern "C" fn not_loaded() -> u32 {
    NOT_INITIALIZED
}

extern "C" fn symbol_missing() -> u32 {
    SYMBOL_NOT_FOUND
}

/// Why the driver could not be loaded, in the words of the dynamic linker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError(String);

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for LoadError {}

/// Loads `libcuda.so.1` from where the dynamic linker looks, once for the whole process.
///
/// Calls after a success do nothing; calls after a failure try again.
///
/// # Errors
/// There is no such library, or it is not one for this machine.
pub fn load() -> Result<(), LoadError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: NVIDIA's driver library does nothing on loading that could break this process.
    if loaded.is_none() { unsafe { fill(&mut loaded, OsStr::new(LIBRARY)) } } else { Ok(()) }
}

/// Loads the driver from a file of that name instead of `libcuda.so.1`.
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
        Some(present) => Err(LoadError(format!("{} is loaded already", present.display()))),
        // SAFETY: the caller vouches for the library.
        None => unsafe { fill(&mut loaded, library.as_ref()) },
    }
}

/// Points the table into `library`.
///
/// # Safety
/// As for [`load_from`].
unsafe fn fill(loaded: &mut Option<OsString>, library: &OsStr) -> Result<(), LoadError> {
    // Local, so that these symbols and the library's own of the same names stay apart.
    // SAFETY: the caller vouches for the library.
    let handle = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) }.map_err(|e| {
        // The dynamic linker's words are in the source; the error itself says "dlopen failed".
        LoadError(e.source().map_or_else(|| e.to_string(), ToString::to_string))
    })?;
    for (entry, name) in TABLE.iter().zip(NAMES) {
        // SAFETY: the symbol is only taken as an address here.
        let target = unsafe { handle.get::<*mut ()>(name.as_bytes()) }
            .map_or(symbol_missing as *const () as *mut (), |symbol| symbol.into_raw().cast());
        entry.store(target, Ordering::Release);
    }
    // The table points into the library for as long as the process lives.
    std::mem::forget(handle);
    *loaded = Some(library.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // This process loads nothing; tests/fake.rs does.
    #[test]
    fn every_entry_returns_an_error_while_nothing_is_loaded() {
        assert_eq!(symbols::TRAMPOLINES.len(), NAMES.len());
        for (name, trampoline) in NAMES.iter().zip(symbols::TRAMPOLINES) {
            // SAFETY: the trampoline ends up in `not_loaded`, which has this signature.
            let call: extern "C" fn() -> u32 = unsafe { std::mem::transmute(*trampoline) };
            assert_eq!(call(), NOT_INITIALIZED, "{name}");
        }
    }

    #[test]
    fn names_are_distinct_and_sorted() {
        assert!(NAMES.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_missing_library_is_an_error_that_names_it() {
        // SAFETY: there is nothing to load.
        let error = unsafe { load_from("/nowhere/libcuda.so.1") }.unwrap_err();
        assert!(error.to_string().contains("/nowhere/libcuda.so.1"), "{error}");
    }
}
