//! Kernels, and how many threads to launch them with.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::prelude::*;
//!
//! let _context = cust::quick_init()?;
//! # let (ptx, n) = ("", 1000_u32);
//! let module = Module::from_ptx(ptx, &[])?;
//! let fill = module.get_function("fill")?;
//! let stream = Stream::new(StreamFlags::DEFAULT, None)?;
//! let x = DeviceBuffer::<f32>::zeroed(n as usize)?;
//! // As many threads as the device runs best with.
//! let (_, block) = fill.suggested_launch_configuration(0, 0.into())?;
//! // SAFETY: `fill` takes a pointer and a length.
//! unsafe { launch!(fill<<<n.div_ceil(block), block, 0, stream>>>(x.as_device_ptr(), n))? };
//! # Ok(())
//! # }
//! ```

use crate::context::{CacheConfig, SharedMemoryConfig};
use crate::error::{CudaError, CudaResult, ToResult};
use crate::memory::DeviceCopy;
use crate::module::Module;
use crate::stream::Stream;
use crate::sys::{self, CUfunction, CUfunction_attribute};
use std::ffi::{CString, c_int, c_void};
use std::marker::PhantomData;

/// An example: a call, and the fields of what it gives.
macro_rules! example {
    ($name:ident $call:literal, $fields:literal) => {
        concat!(
            "\n```\nuse cust::function::",
            stringify!($name),
            ";\n\n",
            "assert_eq!(",
            stringify!($name),
            "::",
            $call,
            ", ",
            stringify!($name),
            " { ",
            $fields,
            " });\n```"
        )
    };
}

/// Sizes in up to three dimensions.
macro_rules! sizes {
    ($($(#[$note:meta])* $name:ident)*) => {
        $(
            $(#[$note])*
            #[doc = example!($name "from((16, 8))", "x: 16, y: 8, z: 1")]
            #[derive(Copy, Clone, Debug, Hash, Eq, PartialEq)]
            pub struct $name {
                /// Along x.
                pub x: u32,
                /// Along y.
                pub y: u32,
                /// Along z.
                pub z: u32,
            }

            impl $name {
                /// In one dimension.
                #[doc = example!($name "x(16)", "x: 16, y: 1, z: 1")]
                pub fn x(x: u32) -> $name {
                    $name { x, y: 1, z: 1 }
                }

                /// In two dimensions.
                #[doc = example!($name "xy(16, 8)", "x: 16, y: 8, z: 1")]
                pub fn xy(x: u32, y: u32) -> $name {
                    $name { x, y, z: 1 }
                }

                /// In three dimensions.
                #[doc = example!($name "xyz(16, 8, 2)", "x: 16, y: 8, z: 2")]
                pub fn xyz(x: u32, y: u32, z: u32) -> $name {
                    $name { x, y, z }
                }

                /// x y z, if it is a number that the driver takes.
                fn total(self) -> CudaResult<c_int> {
                    let total = self.x.checked_mul(self.y).and_then(|xy| xy.checked_mul(self.z));
                    total.and_then(|total| total.try_into().ok()).ok_or(CudaError::InvalidValue)
                }
            }

            impl From<u32> for $name {
                fn from(x: u32) -> $name {
                    $name::x(x)
                }
            }

            impl From<(u32, u32)> for $name {
                fn from((x, y): (u32, u32)) -> $name {
                    $name::xy(x, y)
                }
            }

            impl From<(u32, u32, u32)> for $name {
                fn from((x, y, z): (u32, u32, u32)) -> $name {
                    $name::xyz(x, y, z)
                }
            }

            impl From<&$name> for $name {
                fn from(other: &$name) -> $name {
                    *other
                }
            }
        )*
    };
}

sizes! {
    /// Blocks of a grid.
    GridSize
    /// Threads of a block.
    BlockSize
}

/// What can be asked of a kernel.
///
/// ```no_run
/// # use cust::function::*;
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
/// # let fill = module.get_function("fill")?;
/// // What a thread has that found no place in registers.
/// let spilled = fill.get_attribute(FunctionAttribute::LocalSizeBytes)?;
/// # Ok(())
/// # }
/// ```
#[derive(Copy, Clone, Debug, Hash, Eq, PartialEq)]
#[repr(u32)]
#[non_exhaustive]
pub enum FunctionAttribute {
    /// Threads of the largest block that the device can run it with.
    MaxThreadsPerBlock = 0,
    /// Bytes of shared memory of a block, as far as the kernel declares it.
    SharedMemorySizeBytes = 1,
    /// Bytes of constants.
    ConstSizeBytes = 2,
    /// Bytes of local memory of a thread.
    LocalSizeBytes = 3,
    /// Registers of a thread.
    NumRegisters = 4,
    /// 70 for PTX of version 7.0.
    PtxVersion = 5,
    /// 90 for machine code for compute capability 9.0.
    BinaryVersion = 6,
    /// Whether it was compiled with `-Xptxas --dlcm=ca`.
    CacheModeCa = 7,
}

impl FunctionAttribute {
    fn as_raw(self) -> CUfunction_attribute {
        use CUfunction_attribute::*;
        match self {
            FunctionAttribute::MaxThreadsPerBlock => CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
            FunctionAttribute::SharedMemorySizeBytes => CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            FunctionAttribute::ConstSizeBytes => CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
            FunctionAttribute::LocalSizeBytes => CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
            FunctionAttribute::NumRegisters => CU_FUNC_ATTRIBUTE_NUM_REGS,
            FunctionAttribute::PtxVersion => CU_FUNC_ATTRIBUTE_PTX_VERSION,
            FunctionAttribute::BinaryVersion => CU_FUNC_ATTRIBUTE_BINARY_VERSION,
            FunctionAttribute::CacheModeCa => CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
        }
    }
}

/// A kernel of a module.
///
/// ```no_run
/// # use cust::function::*;
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
/// let fill = module.get_function("fill")?;
/// println!("{} registers", fill.get_attribute(FunctionAttribute::NumRegisters)?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Function<'a> {
    function: CUfunction,
    module: PhantomData<&'a Module>,
}

// SAFETY: any thread may use the handle; the driver locks what is behind it.
unsafe impl Send for Function<'_> {}
// SAFETY: as above.
unsafe impl Sync for Function<'_> {}

impl Module {
    /// A kernel.
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// let fill = module.get_function("fill")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is none of that name.
    pub fn get_function<T: AsRef<str>>(&self, name: T) -> CudaResult<Function<'_>> {
        let name = CString::new(name.as_ref()).map_err(|_| CudaError::NotFound)?;
        let mut function = std::ptr::null_mut();
        // SAFETY: `function` is writable, the handle is alive, and the name ends with a nul.
        unsafe { sys::cuModuleGetFunction(&mut function, self.as_inner(), name.as_ptr()) }.to_result()?;
        Ok(Function { function, module: PhantomData })
    }
}

impl Function<'_> {
    /// The value of a property.
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let fill = module.get_function("fill")?;
    /// let threads = fill.get_attribute(FunctionAttribute::MaxThreadsPerBlock)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn get_attribute(&self, attribute: FunctionAttribute) -> CudaResult<i32> {
        let mut value = 0;
        // SAFETY: the handle is alive, and `value` is writable.
        unsafe { sys::cuFuncGetAttribute(&mut value, attribute.as_raw(), self.function) }.to_result()?;
        Ok(value)
    }

    /// Allows launches with so many bytes of dynamic shared memory; without it there are 48 KiB for static
    /// and dynamic together.
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// let mut tiled = module.get_function("tiled")?;
    /// tiled.set_max_dynamic_shared_bytes(96 * 1024)?;
    /// // SAFETY: the kernel takes nothing.
    /// unsafe { launch!(tiled<<<8, 256, 96 * 1024, stream>>>())? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A block cannot have so many on this device.
    pub fn set_max_dynamic_shared_bytes(&mut self, bytes: u32) -> CudaResult<()> {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = i32::try_from(bytes).map_err(|_| CudaError::InvalidValue)?;
        // SAFETY: the handle is alive.
        unsafe { sys::cuFuncSetAttribute(self.function, attribute, bytes) }.to_result()
    }

    /// Chooses how fast memory is shared between cache and shared memory while it runs.
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// use cust::context::CacheConfig;
    ///
    /// let mut gather = module.get_function("gather")?;
    /// gather.set_cache_config(CacheConfig::PreferL1)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn set_cache_config(&mut self, config: CacheConfig) -> CudaResult<()> {
        // SAFETY: the handle is alive.
        unsafe { sys::cuFuncSetCacheConfig(self.function, config as u32) }.to_result()
    }

    /// Chooses the width of the banks of shared memory for it.
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// use cust::context::SharedMemoryConfig;
    ///
    /// let mut sums = module.get_function("sums_f64")?;
    /// sums.set_shared_memory_config(SharedMemoryConfig::EightByteBankSize)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn set_shared_memory_config(&mut self, config: SharedMemoryConfig) -> CudaResult<()> {
        // SAFETY: the handle is alive.
        unsafe { sys::cuFuncSetSharedMemConfig(self.function, config as u32) }.to_result()
    }

    /// The driver's handle. It lives as long as the module.
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let fill = module.get_function("fill")?;
    /// // SAFETY: the function is alive.
    /// unsafe { cust::sys::cuFuncSetCacheConfig(fill.to_raw(), 1) };
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_raw(&self) -> CUfunction {
        self.function
    }

    /// Bytes of dynamic shared memory that each of `blocks` blocks on a multiprocessor can have.
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let tiled = module.get_function("tiled")?;
    /// // With four blocks of 256 threads at a time.
    /// let bytes = tiled.available_dynamic_shared_memory_per_block(4.into(), 256.into())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn available_dynamic_shared_memory_per_block(
        &self,
        blocks: GridSize,
        block_size: BlockSize,
    ) -> CudaResult<usize> {
        let (blocks, threads, mut bytes) = (blocks.total()?, block_size.total()?, 0);
        // SAFETY: the handle is alive, and `bytes` is writable.
        unsafe { sys::cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, self.function, blocks, threads) }
            .to_result()?;
        Ok(bytes)
    }

    /// Blocks that a multiprocessor holds at a time.
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let tiled = module.get_function("tiled")?;
    /// // In blocks of 16 x 16 threads, with 8 KiB of dynamic shared memory each.
    /// let blocks = tiled.max_active_blocks_per_multiprocessor((16, 16).into(), 8192)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn max_active_blocks_per_multiprocessor(
        &self,
        block_size: BlockSize,
        shared_bytes: usize,
    ) -> CudaResult<u32> {
        let (threads, mut blocks) = (block_size.total()?, 0);
        // SAFETY: the handle is alive, and `blocks` is writable.
        unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut blocks,
                self.function,
                threads,
                shared_bytes,
            )
        }
        .to_result()?;
        Ok(blocks as u32)
    }

    /// A grid and a block that fill the device: the fewest blocks that do, and threads in each. A limit of 0
    /// threads is none.
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let fill = module.get_function("fill")?;
    /// let (grid, block) = fill.suggested_launch_configuration(0, 0.into())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn suggested_launch_configuration(
        &self,
        shared_bytes: usize,
        block_size_limit: BlockSize,
    ) -> CudaResult<(u32, u32)> {
        let (limit, mut grid, mut block) = (block_size_limit.total()?, 0, 0);
        // SAFETY: the handle is alive, both are writable, and shared memory does not depend on the block.
        unsafe {
            sys::cuOccupancyMaxPotentialBlockSize(
                &mut grid,
                &mut block,
                self.function,
                None,
                shared_bytes,
                limit,
            )
        }
        .to_result()?;
        Ok((grid as u32, block as u32))
    }
}

impl Stream {
    /// Queues a kernel; see [`launch!`](crate::launch!).
    ///
    /// ```no_run
    /// # use cust::function::*;
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// let kernel = module.get_function("fill")?;
    /// let mut value = 7_u32;
    /// // SAFETY: the kernel takes a number.
    /// unsafe { stream.launch(&kernel, 8, 32, 0, &[(&raw mut value).cast()])? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// `arguments` points to a value for each parameter of the kernel, of its size, and the kernel stays
    /// within the memory that they name while that is there and nothing else uses it.
    ///
    /// # Errors
    /// The device cannot run blocks of that size, or the function is of another context.
    pub unsafe fn launch<G, B>(
        &self,
        function: &Function<'_>,
        grid_size: G,
        block_size: B,
        shared_bytes: u32,
        arguments: &[*mut c_void],
    ) -> CudaResult<()>
    where
        G: Into<GridSize>,
        B: Into<BlockSize>,
    {
        let (grid, block) = (grid_size.into(), block_size.into());
        // SAFETY: the handles are alive; the caller vouches for the arguments, which the driver only reads.
        unsafe {
            sys::cuLaunchKernel(
                function.to_raw(),
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_bytes,
                self.as_inner(),
                arguments.as_ptr().cast_mut(),
                std::ptr::null_mut(),
            )
        }
        .to_result()
    }
}

/// Where an argument of a kernel is, and how large.
#[doc(hidden)]
pub fn argument<T: DeviceCopy>(value: &T) -> (*mut c_void, usize) {
    (std::ptr::from_ref(value).cast_mut().cast(), size_of::<T>())
}

/// Where the arguments are that PTX has parameters for: those with a size.
#[doc(hidden)]
pub fn parameters(arguments: &[(*mut c_void, usize)]) -> Vec<*mut c_void> {
    arguments.iter().filter(|(_, size)| *size > 0).map(|(place, _)| *place).collect()
}

/// Takes what a kernel takes.
#[doc(hidden)]
pub fn must_be_device_copy<T: DeviceCopy>(_: T) {}

/// Queues a kernel, in CUDA's notation: grid, block, bytes of dynamic shared memory, stream, and its
/// arguments.
///
/// Grid and block are numbers, pairs or triples of them, [`GridSize`] or [`BlockSize`]. The kernel is a
/// [`Function`], or `module.name`, which is looked up at every launch. The stream is a variable.
///
/// The result is a [`CudaResult`]: the kernel is queued. If the kernel fails, the next call that waits for it
/// returns the error.
///
/// # Safety
/// The arguments are as many as the kernel takes and of the same types, and the kernel stays within the
/// memory that they name while that is there and nothing else uses it. Nothing checks that.
///
/// ```no_run
/// # use cust::prelude::*;
/// # fn main() -> cust::error::CudaResult<()> {
/// # let (module, stream) = (Module::from_ptx("", &[])?, Stream::new(StreamFlags::DEFAULT, None)?);
/// # let x = DeviceBuffer::from_slice(&[0_u32; 1000])?;
/// // SAFETY: `fill` takes a pointer, a length and a value.
/// unsafe {
///     launch!(module.fill<<<4, 256, 0, stream>>>(x.as_device_ptr(), x.len(), 7_u32))?;
///     let fill = module.get_function("fill")?;
///     launch!(fill<<<(4, 1), (256, 1, 1), 0, stream>>>(x.as_device_ptr(), x.len(), 8_u32))?;
/// }
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! launch {
    (
        $module:ident . $function:ident <<<$grid:expr, $block:expr, $shared:expr, $stream:ident>>>
        ( $($argument:expr),* $(,)? )
    ) => {
        match $module.get_function(stringify!($function)) {
            Ok(function) => {
                $crate::launch!(function<<<$grid, $block, $shared, $stream>>>($($argument),*))
            }
            Err(error) => Err(error),
        }
    };
    (
        $function:ident <<<$grid:expr, $block:expr, $shared:expr, $stream:ident>>>
        ( $($argument:expr),* $(,)? )
    ) => {{
        // Not called: the compiler's complaints point at the arguments as they are written.
        let _ = || ($($crate::function::must_be_device_copy($argument),)*);
        $stream.launch(
            &$function,
            $grid,
            $block,
            $shared,
            &$crate::function::parameters(&[$($crate::function::argument(&$argument)),*]),
        )
    }};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_size_is_no_parameter() {
        let (a, nothing, b) = (1_u32, (), 2_u64);
        let [first, second, third] = [argument(&a), argument(&nothing), argument(&b)];
        assert_eq!(parameters(&[first, second, third]), [first.0, third.0]);
    }
}
