//! Starting a kernel while the one in front of it still runs (programmatic dependent launch).
//!
//! Between two kernels of a stream the device is idle for some microseconds: the first one's last blocks
//! run alone, and the second one's blocks start only afterwards. With an attribute at its launch the second
//! may start as soon as every block of the first has executed `griddepcontrol.launch_dependents` (or has
//! ended) and there is room; it executes `griddepcontrol.wait` before it touches memory, which waits until
//! the first has ended and all that it wrote is visible. `#[kernel]` puts both into every kernel for compute
//! capability 9.0 and later; see `cuda_std::thread`.
//!
//! The attribute concerns the edge between two kernels alone. A copy, a memset, an event or the host waits
//! for the kernels in front as ever, and a kernel behind a copy or a memset for that.

use super::function::Function;
use crate::launch::switch::leaves_on;
use cust::sys::{self, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig, CUresult, CUstream};
use std::ffi::{OsStr, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// Set to `0` it keeps every kernel waiting for the end of the one in front, for measurements. It is read
/// when a [`Driver`](super::Driver) is opened.
pub const PDL_VARIABLE: &str = "WARPSOLVE_PDL";

/// What kernels that wait by themselves contain.
const WAIT: &str = "griddepcontrol.wait";

/// Whether the kernel with this PTX waits for the one in front by itself. Any other must not be started
/// before that has ended.
pub(super) fn waits(ptx: &str) -> bool {
    ptx.contains(WAIT)
}

/// Launches kernels, with overlap where they and the driver are made for it.
pub(super) struct Launcher {
    overlap: AtomicBool,
}

impl Launcher {
    /// As [`PDL_VARIABLE`] says.
    pub(super) fn from_env() -> Launcher {
        Launcher::new(std::env::var_os(PDL_VARIABLE).as_deref())
    }

    fn new(setting: Option<&OsStr>) -> Launcher {
        Launcher { overlap: AtomicBool::new(leaves_on(setting)) }
    }

    /// Queues a kernel on `grid` blocks, along x and y, of `block` threads.
    ///
    /// # Safety
    /// Function and stream are of the current context; the arguments are those that the kernel takes.
    pub(super) unsafe fn launch(
        &self,
        function: Function,
        [grid_x, grid_y]: [u32; 2],
        block: u32,
        stream: CUstream,
        arguments: &mut [*mut c_void],
    ) -> CUresult {
        let arguments = arguments.as_mut_ptr();
        let extra = std::ptr::null_mut();
        if function.waits && self.overlap.load(Ordering::Relaxed) {
            let mut attribute = CUlaunchAttribute::new(
                CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            );
            attribute.value.programmaticStreamSerializationAllowed = 1;
            let config = CUlaunchConfig {
                gridDimX: grid_x,
                gridDimY: grid_y,
                gridDimZ: 1,
                blockDimX: block,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: 0,
                hStream: stream,
                attrs: &raw mut attribute,
                numAttrs: 1,
            };
            // SAFETY: the caller vouches for its part; the configuration lives until the call returns.
            let status = unsafe { sys::cuLaunchKernelEx(&config, function.handle, arguments, extra) };
            if status != CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND {
                return status;
            }
            // A driver before 11.8 has no such function. Nothing was launched.
            self.overlap.store(false, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe {
            let handle = function.handle;
            sys::cuLaunchKernel(handle, grid_x, grid_y, 1, block, 1, 1, 0, stream, arguments, extra)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zero_switches_it_off() {
        for (setting, expected) in [(None, true), (Some("0"), false), (Some("1"), true), (Some(""), true)] {
            let launcher = Launcher::new(setting.map(OsStr::new));
            assert_eq!(launcher.overlap.into_inner(), expected, "{setting:?}");
        }
    }
}
