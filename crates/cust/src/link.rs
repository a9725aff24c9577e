//! Joining PTX and machine code to one module.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::link::Linker;
//!
//! let _context = cust::quick_init()?;
//! # let (kernels, library) = ("", [0_u8]);
//! let mut linker = Linker::new()?;
//! linker.add_ptx(kernels)?;
//! linker.add_cubin(library)?;
//! let cubin = linker.complete()?;
//! # Ok(())
//! # }
//! ```

use crate::context::Owner;
use crate::error::{CudaError, CudaResult, ToResult};
use crate::sys::{self, CUjitInputType, CUlinkState};
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

/// Joins what is added to it. It keeps its context.
///
/// ```no_run
/// use cust::link::Linker;
/// use cust::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (kernels, library) = ("", "");
/// let _context = cust::quick_init()?;
/// let mut linker = Linker::new()?;
/// linker.add_ptx(kernels)?;
/// linker.add_ptx(library)?;
/// let module = Module::from_cubin(linker.complete()?, &[])?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Linker {
    state: CUlinkState,
    owner: Owner,
}

// SAFETY: any thread may use the handle, and only one does at a time.
unsafe impl Send for Linker {}
// SAFETY: nothing can be done with a shared one.
unsafe impl Sync for Linker {}

impl Linker {
    /// For the device of the current context.
    ///
    /// ```no_run
    /// # use cust::link::Linker;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let _context = cust::quick_init()?;
    /// let linker = Linker::new()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// No context is current.
    pub fn new() -> CudaResult<Self> {
        let mut state = null_mut();
        // SAFETY: there are no options, and `state` is writable.
        unsafe { sys::cuLinkCreate_v2(0, null_mut(), null_mut(), &mut state) }.to_result()?;
        Ok(Linker { state, owner: Owner::current() })
    }

    /// Adds PTX.
    ///
    /// ```no_run
    /// # use cust::link::Linker;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let ptx = "";
    /// let mut linker = Linker::new()?;
    /// linker.add_ptx(ptx)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// It is wrong, or there is a nul in it.
    pub fn add_ptx(&mut self, ptx: impl AsRef<str>) -> CudaResult<()> {
        let ptx = CString::new(ptx.as_ref()).map_err(|_| CudaError::InvalidPtx)?;
        self.add(CUjitInputType::CU_JIT_INPUT_PTX, ptx.as_bytes_with_nul())
    }

    /// Adds machine code.
    ///
    /// ```no_run
    /// # use cust::link::Linker;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let mut linker = Linker::new()?;
    /// linker.add_cubin(std::fs::read("kernels.cubin")?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// It is none, or of another device.
    pub fn add_cubin(&mut self, cubin: impl AsRef<[u8]>) -> CudaResult<()> {
        self.add(CUjitInputType::CU_JIT_INPUT_CUBIN, cubin.as_ref())
    }

    /// Adds machine code for several devices.
    ///
    /// ```no_run
    /// # use cust::link::Linker;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let mut linker = Linker::new()?;
    /// linker.add_fatbin(std::fs::read("kernels.fatbin")?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is none for this device.
    pub fn add_fatbin(&mut self, fatbin: impl AsRef<[u8]>) -> CudaResult<()> {
        self.add(CUjitInputType::CU_JIT_INPUT_FATBINARY, fatbin.as_ref())
    }

    fn add(&mut self, kind: CUjitInputType, data: &[u8]) -> CudaResult<()> {
        let bytes = data.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: the driver reads the data during the call; there are no options, and no name.
        let added = self.owner.enter(|| unsafe {
            sys::cuLinkAddData_v2(
                self.state,
                kind,
                bytes,
                data.len(),
                c"".as_ptr(),
                0,
                null_mut(),
                null_mut(),
            )
        });
        added.to_result()
    }

    /// All that was added as machine code.
    ///
    /// ```no_run
    /// # use cust::link::Linker;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let mut linker = Linker::new()?;
    /// use cust::module::Module;
    ///
    /// let module = Module::from_cubin(linker.complete()?, &[])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Something is declared and not there, or there twice.
    pub fn complete(self) -> CudaResult<Vec<u8>> {
        let (mut cubin, mut bytes) = (null_mut(), 0);
        // SAFETY: both are writable.
        let completed =
            self.owner.enter(|| unsafe { sys::cuLinkComplete(self.state, &mut cubin, &mut bytes) });
        completed.to_result()?;
        // SAFETY: the driver has put so many bytes there, which the linker owns.
        Ok(unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), bytes) }.to_vec())
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: the handle is given back once.
        self.owner.enter(|| unsafe { sys::cuLinkDestroy(self.state) });
    }
}
