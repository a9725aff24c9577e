//! Launches in clusters of blocks, from compute capability 9.0 on. (Not in the published crate.)
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::prelude::*;
//!
//! let _context = cust::quick_init()?;
//! # let module = Module::from_ptx("", &[])?;
//! let stream = Stream::new(StreamFlags::DEFAULT, None)?;
//! let in_pairs = stream.clusters(2);
//! // SAFETY: the kernel takes nothing.
//! unsafe { launch!(module.meet<<<8, 32, 0, in_pairs>>>())? };
//! # Ok(())
//! # }
//! ```

use crate::error::{CudaResult, ToResult};
use crate::function::{BlockSize, Function, GridSize};
use crate::stream::Stream;
use crate::sys::{self, CUclusterDim, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig};
use std::ffi::c_void;
use std::ptr::null_mut;

/// A stream for kernels whose blocks come in clusters, as `cuda_std::cluster` needs. It takes the place of
/// the stream in [`launch!`](crate::launch!):
///
/// ```no_run
/// use cust::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
/// let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
/// let by_four = stream.clusters(4);
/// let x = DeviceBuffer::<u32>::zeroed(8 * 256)?;
/// // SAFETY: the kernel stays within its 2048 elements.
/// unsafe { launch!(module.pass_on<<<8, 256, 0, by_four>>>(x.as_device_ptr()))? };
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Clusters<'a> {
    stream: &'a Stream,
    size: GridSize,
}

impl Stream {
    /// The stream for launches in clusters of so many blocks, up to 8. Each size divides the grid's.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (_context, module) = (cust::quick_init()?, Module::from_ptx("", &[])?);
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// let by_two_and_two = stream.clusters((2, 2));
    /// // SAFETY: the kernel takes nothing.
    /// unsafe { launch!(module.meet<<<(8, 4), 32, 0, by_two_and_two>>>())? };
    /// # Ok(())
    /// # }
    /// ```
    pub fn clusters(&self, size: impl Into<GridSize>) -> Clusters<'_> {
        Clusters { stream: self, size: size.into() }
    }
}

impl Clusters<'_> {
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
    /// unsafe { stream.clusters(2).launch(&kernel, 8, 32, 0, &[(&raw mut value).cast()])? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// As for [`Stream::launch`].
    ///
    /// # Errors
    /// [`InvalidClusterSize`](crate::error::CudaError::InvalidClusterSize) or another where the device has no
    /// clusters of that size or the grid cannot be divided into them, and those of [`Stream::launch`].
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
        let GridSize { x, y, z } = self.size;
        let mut attribute =
            CUlaunchAttribute::new(CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
        attribute.value.clusterDim = CUclusterDim { x, y, z };
        let config = CUlaunchConfig {
            gridDimX: grid.x,
            gridDimY: grid.y,
            gridDimZ: grid.z,
            blockDimX: block.x,
            blockDimY: block.y,
            blockDimZ: block.z,
            sharedMemBytes: shared_bytes,
            hStream: self.stream.as_inner(),
            attrs: &mut attribute,
            numAttrs: 1,
        };
        let arguments = arguments.as_ptr().cast_mut();
        // SAFETY: the handles are alive, and the attribute is there; the caller vouches for the arguments,
        // which the driver only reads.
        unsafe { sys::cuLaunchKernelEx(&config, function.to_raw(), arguments, null_mut()) }.to_result()
    }
}
