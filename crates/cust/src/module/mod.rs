//! Modules: kernels and variables for a device.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::prelude::*;
//!
//! let _context = cust::quick_init()?;
//! # let ptx = "";
//! let module = Module::from_ptx(ptx, &[])?;
//! let fill = module.get_function("fill")?;
//! # Ok(())
//! # }
//! ```

mod image;

use crate::context::Owner;
use crate::error::{CudaError, CudaResult, DropResult, ToResult};
use crate::memory::{CopyDestination, DeviceCopy, DevicePointer, copy};
use crate::sys::{self, CUjit_option, CUmodule};
use bytemuck::AnyBitPattern;
use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::path::Path;

/// How much the translation of PTX optimises.
///
/// ```no_run
/// # use cust::module::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (_context, ptx) = (cust::quick_init()?, "");
/// let module = Module::from_ptx(ptx, &[ModuleJitOption::OptLevel(OptLevel::O1)])?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs, reason = "levels")]
pub enum OptLevel {
    O0 = 0,
    O1 = 1,
    O2 = 2,
    O3 = 3,
    O4 = 4,
}

/// What PTX is translated for. `Compute90` is compute capability 9.0.
///
/// ```no_run
/// # use cust::module::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (_context, ptx) = (cust::quick_init()?, "");
/// let module = Module::from_ptx(ptx, &[ModuleJitOption::Target(JitTarget::Compute80)])?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
#[allow(missing_docs, reason = "compute capabilities")]
pub enum JitTarget {
    Compute50 = 50,
    Compute52 = 52,
    Compute53 = 53,
    Compute60 = 60,
    Compute61 = 61,
    Compute62 = 62,
    Compute70 = 70,
    Compute72 = 72,
    Compute75 = 75,
    Compute80 = 80,
    Compute86 = 86,
    Compute87 = 87,
    Compute89 = 89,
    Compute90 = 90,
}

/// What a module that has both is loaded from, where its machine code is for another device.
///
/// ```no_run
/// # use cust::module::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (_context, bytes) = (cust::quick_init()?, [0_u8]);
/// let module = Module::from_fatbin(bytes, &[ModuleJitOption::Fallback(JitFallback::PreferPtx)])?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum JitFallback {
    /// From PTX.
    PreferPtx = 0,
    /// From machine code that runs on the device too.
    PreferCompatibleBinary = 1,
}

/// How a module is translated.
///
/// ```no_run
/// # use cust::module::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (_context, ptx) = (cust::quick_init()?, "");
/// let options = [ModuleJitOption::MaxRegisters(64), ModuleJitOption::GenerateLineInfo(true)];
/// let module = Module::from_ptx(ptx, &options)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleJitOption {
    /// Registers that a thread may have.
    MaxRegisters(u32),
    /// How much it is optimised.
    OptLevel(OptLevel),
    /// For the device of the current context, as without any option.
    DetermineTargetFromContext,
    /// The compute capability it is translated for.
    Target(JitTarget),
    /// What it is loaded from, PTX or machine code.
    Fallback(JitFallback),
    /// With information for a debugger. The spelling is cust's.
    GenenerateDebugInfo(bool),
    /// With line numbers.
    GenerateLineInfo(bool),
}

impl ModuleJitOption {
    /// The driver's options and their values, numbers in the place of pointers.
    ///
    /// In cust 0.3 an option without a value has none in the list, which shifts those behind it.
    ///
    /// ```no_run
    /// # use cust::module::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (options, values) = ModuleJitOption::into_raw(&[ModuleJitOption::MaxRegisters(64)]);
    /// assert_eq!((options.len(), values[0].addr()), (1, 64));
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_raw(options: &[ModuleJitOption]) -> (Vec<CUjit_option>, Vec<*mut c_void>) {
        let raw = |option: &ModuleJitOption| match *option {
            ModuleJitOption::MaxRegisters(registers) => (CUjit_option::CU_JIT_MAX_REGISTERS, registers),
            ModuleJitOption::OptLevel(level) => (CUjit_option::CU_JIT_OPTIMIZATION_LEVEL, level as u32),
            ModuleJitOption::DetermineTargetFromContext => (CUjit_option::CU_JIT_TARGET_FROM_CUCONTEXT, 0),
            ModuleJitOption::Target(target) => (CUjit_option::CU_JIT_TARGET, target as u32),
            ModuleJitOption::Fallback(fallback) => (CUjit_option::CU_JIT_FALLBACK_STRATEGY, fallback as u32),
            ModuleJitOption::GenenerateDebugInfo(wanted) => {
                (CUjit_option::CU_JIT_GENERATE_DEBUG_INFO, wanted.into())
            }
            ModuleJitOption::GenerateLineInfo(wanted) => {
                (CUjit_option::CU_JIT_GENERATE_LINE_INFO, wanted.into())
            }
        };
        let value = |(option, value): (CUjit_option, u32)| {
            (option, std::ptr::without_provenance_mut::<c_void>(value as usize))
        };
        options.iter().map(raw).map(value).unzip()
    }
}

/// A module in a context, which it keeps.
///
/// ```no_run
/// # use cust::module::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (_context, ptx) = (cust::quick_init()?, "");
/// let module = Module::from_ptx(ptx, &[])?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Module {
    /// Null once it is given back.
    module: CUmodule,
    owner: Owner,
}

// SAFETY: any thread may use the handle; the driver locks what is behind it.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Loads PTX into the current context. The driver translates it for the device, unless it finds the
    /// result in its cache.
    ///
    /// ```no_run
    /// # use cust::module::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let ptx = std::fs::read_to_string("kernels.ptx")?;
    /// let module = Module::from_ptx(ptx, &[])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The PTX is wrong or of a version that the driver does not know; or there is a nul in it, with which
    /// cust 0.3 panics.
    pub fn from_ptx<T: AsRef<str>>(ptx: T, options: &[ModuleJitOption]) -> CudaResult<Module> {
        let ptx = CString::new(ptx.as_ref()).map_err(|_| CudaError::InvalidPtx)?;
        Module::from_ptx_cstr(&ptx, options)
    }

    /// The same, without a copy.
    ///
    /// ```no_run
    /// # use cust::module::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let ptx = c".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }";
    /// let module = Module::from_ptx_cstr(ptx, &[])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Module::from_ptx`].
    pub fn from_ptx_cstr(ptx: &CStr, options: &[ModuleJitOption]) -> CudaResult<Module> {
        // SAFETY: the text ends with a nul.
        unsafe { Module::load(ptx.as_ptr().cast(), options) }
    }

    /// Loads a file: PTX, machine code (cubin), or both (fatbin).
    ///
    /// ```no_run
    /// # use cust::module::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let module = Module::from_file("kernels.cubin")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's; or there is a nul in the path.
    pub fn from_file<P: AsRef<Path>>(path: P) -> CudaResult<Module> {
        let path = CString::new(path.as_ref().as_os_str().as_encoded_bytes());
        let path = path.map_err(|_| CudaError::FileNotFound)?;
        let mut module = std::ptr::null_mut();
        // SAFETY: `module` is writable, and the path ends with a nul.
        unsafe { sys::cuModuleLoad(&mut module, path.as_ptr()) }.to_result()?;
        Ok(Module { module, owner: Owner::current() })
    }

    /// Loads machine code (cubin), which a toolkit made for this kind of device.
    ///
    /// It is read to the end that it gives for itself: here that end is compared with the length of `bytes`,
    /// as cust 0.3 does not.
    ///
    /// ```no_run
    /// # use cust::module::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let module = Module::from_cubin(std::fs::read("kernels.cubin")?, &[])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// It is for another kind of device, cut short, or something else.
    pub fn from_cubin<T: AsRef<[u8]>>(bytes: T, options: &[ModuleJitOption]) -> CudaResult<Module> {
        let bytes = bytes.as_ref();
        if !image::is_whole(bytes) {
            return Err(CudaError::InvalidImage);
        }
        // SAFETY: all that the image says to have is there.
        unsafe { Module::load(bytes.as_ptr().cast(), options) }
    }

    /// Loads what a toolkit made for several kinds of device, PTX among it.
    ///
    /// ```no_run
    /// # use cust::module::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let module = Module::from_fatbin(std::fs::read("kernels.fatbin")?, &[])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Module::from_cubin`].
    pub fn from_fatbin<T: AsRef<[u8]>>(bytes: T, options: &[ModuleJitOption]) -> CudaResult<Module> {
        Module::from_cubin(bytes, options)
    }

    /// Loads an image.
    ///
    /// # Safety
    /// It is PTX that ends with a nul, or machine code that is all there.
    unsafe fn load(image: *const c_void, options: &[ModuleJitOption]) -> CudaResult<Module> {
        let (mut options, mut values) = ModuleJitOption::into_raw(options);
        let (count, options) = (options.len() as u32, options.as_mut_ptr());
        let mut module = std::ptr::null_mut();
        // SAFETY: options and values are as many as said, `module` is writable, and the caller vouches for
        // the image.
        unsafe { sys::cuModuleLoadDataEx(&mut module, image, count, options, values.as_mut_ptr()) }
            .to_result()?;
        Ok(Module { module, owner: Owner::current() })
    }

    /// A variable, which cust 0.3 lets have any type. Here the type must be one of which every pattern of
    /// bits is a value, since kernels may have written any.
    ///
    /// ```no_run
    /// # use cust::module::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// use cust::memory::CopyDestination;
    ///
    /// let mut count = 0_u32;
    /// module.get_global::<u32>(c"COUNT")?.copy_to(&mut count)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is no variable of that name, or it has another size, with which cust 0.3 panics.
    pub fn get_global<'a, T>(&'a self, name: &CStr) -> CudaResult<Symbol<'a, T>>
    where
        T: DeviceCopy + AnyBitPattern,
    {
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: both are writable, the handle is alive, and the name ends with a nul.
        unsafe { sys::cuModuleGetGlobal_v2(&mut address, &mut bytes, self.module, name.as_ptr()) }
            .to_result()?;
        if bytes != size_of::<T>() {
            return Err(CudaError::InvalidValue);
        }
        Ok(Symbol { pointer: DevicePointer::from_raw(address), module: PhantomData })
    }

    /// The driver's handle.
    pub(crate) fn as_inner(&self) -> CUmodule {
        self.module
    }

    fn unload(&mut self) -> CudaResult<()> {
        if !self.module.is_null() {
            // SAFETY: the handle is owned, and functions and variables borrow the module.
            self.owner.enter(|| unsafe { sys::cuModuleUnload(self.module) }.to_result())?;
            self.module = std::ptr::null_mut();
        }
        Ok(())
    }

    /// Gives it back, and returns the driver's answer.
    ///
    /// ```no_run
    /// # use cust::module::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// if let Err((error, _module)) = Module::drop(module) {
    ///     println!("the driver says {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's, with the module.
    pub fn drop(mut module: Module) -> DropResult<Module> {
        module.unload().map_err(|error| (error, module))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let _ = self.unload();
    }
}

/// A variable of a module.
///
/// ```no_run
/// # use cust::module::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
/// use cust::memory::CopyDestination;
///
/// let mut limit: Symbol<u32> = module.get_global(c"LIMIT")?;
/// limit.copy_from(&100)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Symbol<'a, T: DeviceCopy> {
    pointer: DevicePointer<T>,
    module: PhantomData<&'a Module>,
}

impl<T: DeviceCopy> Symbol<'_, T> {
    /// Where it is on the device.
    ///
    /// ```no_run
    /// # use cust::module::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// let limit: Symbol<u32> = module.get_global(c"LIMIT")?;
    /// println!("{:p}", limit.as_device_ptr());
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.pointer
    }
}

impl<T: DeviceCopy> std::fmt::Pointer for Symbol<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Pointer::fmt(&self.pointer, f)
    }
}

impl<T: DeviceCopy> crate::private::Sealed for Symbol<'_, T> {}
impl<T: DeviceCopy> CopyDestination<T> for Symbol<'_, T> {
    fn copy_from(&mut self, value: &T) -> CudaResult<()> {
        // SAFETY: the variable is there while the module is, and has the size of the value.
        unsafe { copy::upload(self.pointer.as_raw(), std::slice::from_ref(value), None) }
    }

    fn copy_to(&self, value: &mut T) -> CudaResult<()> {
        // SAFETY: as above, and whatever is there is a value.
        unsafe { copy::download(std::slice::from_mut(value), self.pointer.as_raw(), None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_a_value() {
        let options = [
            ModuleJitOption::DetermineTargetFromContext,
            ModuleJitOption::MaxRegisters(64),
            ModuleJitOption::OptLevel(OptLevel::O2),
            ModuleJitOption::GenerateLineInfo(true),
        ];
        let (options, values) = ModuleJitOption::into_raw(&options);
        assert_eq!(options.iter().map(|&option| option as u32).collect::<Vec<_>>(), [8, 0, 7, 13]);
        assert_eq!(values.iter().map(|value| value.addr()).collect::<Vec<_>>(), [0, 64, 2, 1]);
    }
}
