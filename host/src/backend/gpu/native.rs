//! Kernels of other compilers beside those of this crate: CUDA C++, or anything else that gives PTX or
//! machine code.

use std::path::Path;

use cuda_std::Real;
use cust::context::CurrentContext;
use cust::module::Module;

use super::matrix::Layout;
use super::{DeviceMatrix, Gpu};
use crate::error::{Error, Result};
use crate::launch::driver::failed;
use crate::launch::{Address, NativeLaunch};

/// What a file of machine code for one device begins with.
const ELF: &[u8] = b"\x7fELF";
/// What a file of machine code and PTX for several devices begins with.
const FATBIN: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();

/// A module of kernels that were compiled elsewhere, loaded beside the kernels of a [`Gpu`]; see
/// [`Gpu::attach`].
pub struct NativeModule {
    module: Module,
    gpu: Gpu,
}

/// An argument of a kernel, by its type there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument {
    /// A pointer to device memory, as [`DeviceVector::as_device_ptr`](super::DeviceVector::as_device_ptr) and
    /// [`DeviceMatrix::addresses`] give them.
    Pointer(Address),
    /// `int` or `unsigned int`.
    U32(u32),
    /// `long long` or `unsigned long long`.
    U64(u64),
    /// `float`.
    F32(f32),
    /// `double`.
    F64(f64),
}

impl Argument {
    /// Where the value is.
    fn place(&self) -> *mut std::ffi::c_void {
        fn of<V>(value: &V) -> *mut std::ffi::c_void {
            std::ptr::from_ref(value).cast_mut().cast()
        }
        match self {
            Argument::Pointer(value) | Argument::U64(value) => of(value),
            Argument::U32(value) => of(value),
            Argument::F32(value) => of(value),
            Argument::F64(value) => of(value),
        }
    }
}

impl Gpu {
    /// Loads a module of kernels that were compiled elsewhere: PTX (text), a cubin or a fatbin, which are
    /// told apart by how they begin.
    ///
    /// # Errors
    /// [`Error::Device`] with the driver's message if the module does not load, or if this is the simulator,
    /// which runs kernels written in Rust alone.
    pub fn attach(&self, image: &[u8]) -> Result<NativeModule> {
        let Some(cuda) = self.cuda() else {
            return Err(Error::Device {
                call: "attach".into(),
                message: format!(
                    "{} runs kernels written in Rust, and no PTX or machine code; use a GPU",
                    self.device().info().name
                ),
            });
        };
        CurrentContext::set_current(&cuda.context).map_err(failed("cuCtxSetCurrent"))?;
        let module = if image.starts_with(ELF) {
            Module::from_cubin(image, &[])
        } else if image.starts_with(&FATBIN) {
            Module::from_fatbin(image, &[])
        } else {
            let text = str::from_utf8(image).map_err(|_| Error::Device {
                call: "attach".into(),
                message: "this is no PTX, cubin or fatbin".into(),
            })?;
            Module::from_ptx(text, &[])
        };
        Ok(NativeModule { module: module.map_err(failed("cuModuleLoadData"))?, gpu: self.clone() })
    }

    /// [`Gpu::attach`] of a file.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, and those of [`Gpu::attach`].
    pub fn attach_file(&self, path: &Path) -> Result<NativeModule> {
        self.attach(&std::fs::read(path).map_err(|error| Error::io("read", path, error))?)
    }
}

impl NativeModule {
    /// Queues the kernel of this name on the stream of the module's device: behind all that was queued there,
    /// and before all that will be, kernels written in Rust included. It counts and is profiled as they are.
    ///
    /// `shared` is dynamic shared memory, in bytes. Inside of what a monitor guards it runs all the same: it
    /// does not know the guard.
    ///
    /// # Safety
    /// The arguments are those of the kernel, in number, order and type, and the kernel stays within the
    /// memory that they name while that is there.
    ///
    /// # Errors
    /// [`Error::Device`]: there is no kernel of this name, or it cannot be launched so.
    pub unsafe fn launch(
        &self,
        kernel: &'static str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        arguments: &[Argument],
    ) -> Result<()> {
        if let Some(cuda) = self.gpu.cuda() {
            CurrentContext::set_current(&cuda.context).map_err(failed("cuCtxSetCurrent"))?;
        }
        let function = self.module.get_function(kernel);
        let function = function.map_err(failed(format!("cuModuleGetFunction({kernel})")))?.to_raw();
        let mut places: Vec<_> = arguments.iter().map(Argument::place).collect();
        let launch = NativeLaunch { name: kernel, function, grid, block, shared, arguments: &mut places };
        // SAFETY: the function is of this module, which is there; the rest is the caller's promise.
        unsafe { self.gpu.device().launch_native(launch) }
    }
}

/// Where a matrix in device memory is, for kernels that were compiled elsewhere; valid while it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixAddresses {
    /// Columns, 32 bits each unless the arrangement says otherwise.
    pub col_idx: Address,
    /// Values.
    pub values: Address,
    /// How the two are arranged.
    pub arrangement: Arrangement,
}

/// How a matrix is arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Row by row. Row i begins at entry `row_ptr[i]`.
    Crs {
        /// Where the row pointers are.
        row_ptr: Address,
        /// Whether they have 64 bits, and not 32.
        wide: bool,
    },
    /// Entry j of row i is at `i + stride j`, for j below `width`.
    Ell {
        /// Entries of a row.
        width: usize,
        /// From one entry of a row to the next.
        stride: usize,
    },
    /// Slices of 32 rows, each as long as its longest row: entry j of row k of slice s is at `slice_ptr[s] +
    /// k + 32 j`.
    Sell {
        /// Where the beginnings of the slices are, 64 bits each.
        slice_ptr: Address,
        /// Where the row at each position is, 32 bits each; 0 where rows are in order.
        permutation: Address,
        /// Where the least column of each 32 neighbouring entries is, 32 bits each; `col_idx` has how far
        /// from it each entry is, 16 bits each. 0 where `col_idx` has columns.
        bases: Address,
    },
}

impl<T: Real> DeviceMatrix<T> {
    /// Where it is in device memory; `None` in a format of this crate's own: with coded or compressed
    /// entries, or of blocks.
    pub fn addresses(&self) -> Option<MatrixAddresses> {
        let arrangement = match &self.layout {
            Layout::Crs { row_ptr, wide, .. } => Arrangement::Crs { row_ptr: row_ptr.address, wide: *wide },
            Layout::Ell { width, stride } => Arrangement::Ell { width: *width, stride: *stride },
            Layout::Sell { slices, bases } => Arrangement::Sell {
                slice_ptr: slices.slice_ptr.address,
                permutation: slices.permutation.as_ref().map_or(0, |rows| rows.address),
                bases: bases.as_ref().map_or(0, |bases| bases.address),
            },
            _ => return None,
        };
        Some(MatrixAddresses { col_idx: self.col_idx.address, values: self.values.address, arrangement })
    }
}
