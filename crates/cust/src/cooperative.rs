//! Launches whose blocks wait for each other. (Not in the published crate.)
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::prelude::*;
//!
//! let _context = cust::quick_init()?;
//! # let module = Module::from_ptx("", &[])?;
//! let stream = Stream::new(StreamFlags::DEFAULT, None)?;
//! let together = stream.cooperative();
//! // The word that all blocks meet at, 0 at first.
//! let barrier = DeviceBuffer::<u32>::zeroed(1)?;
//! // SAFETY: the kernel takes a pointer to a word.
//! unsafe { launch!(module.meet<<<8, 32, 0, together>>>(barrier.as_device_ptr()))? };
//! # Ok(())
//! # }
//! ```

use crate::error::{CudaResult, ToResult};
use crate::function::{BlockSize, Function, GridSize};
use crate::stream::Stream;
use crate::sys;
use std::ffi::c_void;

/// A stream for kernels whose blocks must all be resident at once, as `thread::sync_grid` of `cuda_std`
/// needs. It takes the place of the stream in [`launch!`](crate::launch!):
///
/// ```no_run
/// use cust::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
/// let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
/// let together = stream.cooperative();
/// let x = DeviceBuffer::<f64>::zeroed(1000)?;
/// let barrier = DeviceBuffer::<u32>::zeroed(1)?;
/// // SAFETY: the kernel stays within its 1024 elements.
/// unsafe { launch!(module.relax<<<4, 256, 0, together>>>(x.as_device_ptr(), barrier.as_device_ptr()))? };
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Cooperative<'a>(&'a Stream);

impl Stream {
    /// The stream for cooperative launches.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// let together = stream.cooperative();
    /// // SAFETY: the kernel takes nothing.
    /// unsafe { launch!(module.meet<<<8, 32, 0, together>>>())? };
    /// # Ok(())
    /// # }
    /// ```
    pub fn cooperative(&self) -> Cooperative<'_> {
        Cooperative(self)
    }
}

impl Cooperative<'_> {
    /// Queues a kernel; see [`launch!`](crate::launch!).
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// let kernel = module.get_function("fill")?;
    /// let mut value = 7_u32;
    /// // SAFETY: the kernel takes a number.
    /// unsafe { stream.cooperative().launch(&kernel, 8, 32, 0, &[(&raw mut value).cast()])? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// As for [`Stream::launch`].
    ///
    /// # Errors
    /// [`CooperativeLaunchTooLarge`](crate::error::CudaError::CooperativeLaunchTooLarge) where the device
    /// cannot hold all blocks at once, and those of [`Stream::launch`].
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
            sys::cuLaunchCooperativeKernel(
                function.to_raw(),
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared_bytes,
                self.0.as_inner(),
                arguments.as_ptr().cast_mut(),
            )
        }
        .to_result()
    }
}
