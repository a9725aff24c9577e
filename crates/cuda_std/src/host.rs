//! What a launcher needs to know of a kernel.

use core::ffi::c_void;

/// A kernel with its arguments, ready to be launched; made by `#[kernel]`.
pub trait Kernel: Sync {
    /// Entry point in the PTX module.
    ///
    /// # Panics
    /// If the kernel is generic and this instance is not in the lists of its `#[kernel(..)]`: no argument
    /// can cause it, only a program that names such an instance.
    fn name(&self) -> &'static str;
    /// Calls `use_them` with the address of every argument, in order (what `cuLaunchKernel` takes).
    ///
    /// Arguments without a size are left out, as they are in the PTX.
    fn arguments(&self, use_them: &mut dyn FnMut(&mut [*mut c_void]));
    /// Runs the body once, as the simulated thread that is current.
    ///
    /// # Safety
    /// The kernel's own safety conditions hold for its arguments.
    unsafe fn run(&self);
}

/// The address and size of one argument.
#[doc(hidden)]
pub fn argument<T>(value: &T) -> (*mut c_void, usize) {
    (core::ptr::from_ref(value).cast_mut().cast(), size_of::<T>())
}

/// Implements [`Kernel::arguments`].
#[doc(hidden)]
pub fn pass<const N: usize>(
    arguments: [(*mut c_void, usize); N],
    use_them: &mut dyn FnMut(&mut [*mut c_void]),
) {
    let mut addresses = [core::ptr::null_mut(); N];
    let mut count = 0;
    for (address, size) in arguments {
        if size != 0 {
            addresses[count] = address;
            count += 1;
        }
    }
    use_them(&mut addresses[..count]);
}

/// [`Kernel::name`] of an instance that is not in the lists.
#[doc(hidden)]
pub fn not_compiled(instance: &str, compiled: &str) -> ! {
    panic!("{instance} has no entry point; add it to the lists of its #[kernel(..)], which give {compiled}")
}
