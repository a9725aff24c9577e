//! What a launcher needs to know of a kernel.

/// A kernel with its arguments, ready to be launched; made by `#[kernel]`.
pub trait Kernel: Sync {
    /// Entry point in the PTX module.
    fn name(&self) -> &'static str;
    /// Calls `use_them` with the address of every argument, in order (what `cuLaunchKernel` takes).
    fn arguments(&self, use_them: &mut dyn FnMut(&mut [*mut core::ffi::c_void]));
    /// Runs the body once, as the simulated thread that is current.
    ///
    /// # Safety
    /// The kernel's own safety conditions hold for its arguments.
    unsafe fn run(&self);
}
