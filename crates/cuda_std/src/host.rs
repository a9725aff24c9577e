//! What a launcher needs to know of a kernel.

use core::ffi::c_void;
use core::fmt;

/// Sizes, or a place, in up to three dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim3 {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl Dim3 {
    /// x y z, the number of places.
    pub fn count(self) -> u64 {
        u64::from(self.x).saturating_mul(u64::from(self.y)).saturating_mul(u64::from(self.z))
    }

    /// The number of a place among those in order, x first.
    pub fn number(self, place: Dim3) -> u32 {
        place.x + self.x * (place.y + self.y * place.z)
    }

    /// Place `number` of those in order, x first.
    pub fn place(self, number: u32) -> Dim3 {
        let (row, x) = (number / self.x, number % self.x);
        Dim3 { x, y: row % self.y, z: row / self.y }
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Dim3 { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Dim3 { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Dim3 { x, y, z }
    }
}

/// "8", "8 x 4" or "8 x 4 x 2".
impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Dim3 { x, y, z } = self;
        match (y, z) {
            (1, 1) => write!(f, "{x}"),
            (_, 1) => write!(f, "{x} x {y}"),
            _ => write!(f, "{x} x {y} x {z}"),
        }
    }
}

/// How many threads a launch starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Configuration {
    /// Blocks.
    pub grid: Dim3,
    /// Threads in a block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory in a block.
    pub shared_bytes: u32,
    /// Whether all blocks have a place at once, so that they can wait for each other in
    /// [`sync_grid`](crate::thread::sync_grid).
    pub cooperative: bool,
    /// Blocks in a [cluster](crate::cluster), 1 at first. Each size divides the grid's.
    pub cluster: Dim3,
}

impl Configuration {
    /// Blocks and threads, without dynamic shared memory.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        let (grid, block, cluster) = (grid.into(), block.into(), 1.into());
        Configuration { grid, block, shared_bytes: 0, cooperative: false, cluster }
    }
}

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

/// A slice as an argument of a kernel: pointer and length, which are two arguments to the driver.
#[derive(Debug, Clone, Copy)]
pub struct Slice<T> {
    /// Its first element, where the kernel runs.
    pub pointer: *const T,
    /// Elements.
    pub length: usize,
}

impl<T> From<&[T]> for Slice<T> {
    fn from(slice: &[T]) -> Self {
        Slice { pointer: slice.as_ptr(), length: slice.len() }
    }
}

/// A slice that the kernel writes.
#[derive(Debug, Clone, Copy)]
pub struct SliceMut<T> {
    /// Its first element, where the kernel runs.
    pub pointer: *mut T,
    /// Elements.
    pub length: usize,
}

impl<T> From<&mut [T]> for SliceMut<T> {
    fn from(slice: &mut [T]) -> Self {
        SliceMut { pointer: slice.as_mut_ptr(), length: slice.len() }
    }
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
