//! What a launcher needs to know of a kernel.
//!
//! ```
//! use cuda_std::host::{Configuration, Kernel};
//! use cuda_std::kernel;
//!
//! #[kernel(T = [f32, f64])]
//! pub unsafe fn fill<T: Copy>(value: T, x: *mut T) {
//!     *x = value;
//! }
//!
//! let launch = fill { value: 1.5_f32, x: std::ptr::null_mut() };
//! assert_eq!(launch.name(), "fill_f32");
//! launch.arguments(&mut |addresses| assert_eq!(addresses.len(), 2));
//! assert_eq!(Configuration::new(8, (16, 16)).block.count(), 256);
//! ```

use core::ffi::c_void;
use core::fmt;

/// Sizes, or a place, in up to three dimensions.
///
/// ```
/// # use cuda_std::host::{Configuration, Dim3};
/// assert_eq!(Dim3::from((8, 4)), Dim3 { x: 8, y: 4, z: 1 });
/// assert_eq!(Dim3::from((8, 4)).to_string(), "8 x 4");
/// ```
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
    ///
    /// ```
    /// # use cuda_std::host::{Configuration, Dim3};
    /// assert_eq!(Dim3 { x: 8, y: 4, z: 2 }.count(), 64);
    /// ```
    pub fn count(self) -> u64 {
        u64::from(self.x).saturating_mul(u64::from(self.y)).saturating_mul(u64::from(self.z))
    }

    /// The number of a place among those in order, x first.
    ///
    /// ```
    /// # use cuda_std::host::{Configuration, Dim3};
    /// let sizes = Dim3 { x: 8, y: 4, z: 2 };
    /// assert_eq!(sizes.number(Dim3 { x: 1, y: 2, z: 1 }), 1 + 8 * (2 + 4));
    /// ```
    pub fn number(self, place: Dim3) -> u32 {
        place.x + self.x * (place.y + self.y * place.z)
    }

    /// Place `number` of those in order, x first.
    ///
    /// ```
    /// # use cuda_std::host::{Configuration, Dim3};
    /// let sizes = Dim3 { x: 8, y: 4, z: 2 };
    /// assert_eq!(sizes.place(49), Dim3 { x: 1, y: 2, z: 1 });
    /// ```
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
///
/// ```
/// # use cuda_std::host::{Configuration, Dim3};
/// // With 1 KiB of dynamic shared memory.
/// let configuration = Configuration { shared_bytes: 1024, ..Configuration::new(8, 128) };
/// assert!(!configuration.cooperative);
/// ```
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
    ///
    /// ```
    /// # use cuda_std::host::{Configuration, Dim3};
    /// let configuration = Configuration::new((8, 2), 128);
    /// assert_eq!(configuration.grid, Dim3 { x: 8, y: 2, z: 1 });
    /// ```
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        let (grid, block, cluster) = (grid.into(), block.into(), 1.into());
        Configuration { grid, block, shared_bytes: 0, cooperative: false, cluster }
    }
}

/// A kernel with its arguments, ready to be launched; made by `#[kernel]`.
///
/// ```
/// # use cuda_std::host::{Configuration, Dim3};
/// use cuda_std::{host::Kernel, kernel};
///
/// #[kernel]
/// pub unsafe fn fill(value: f32, x: *mut f32) {
///     *x = value;
/// }
///
/// /// What a launcher needs.
/// fn describe(kernel: &dyn Kernel) -> String {
///     let mut count = 0;
///     kernel.arguments(&mut |addresses| count = addresses.len());
///     format!("{} with {count} arguments", kernel.name())
/// }
///
/// let launch = fill { value: 1.5, x: std::ptr::null_mut() };
/// assert_eq!(describe(&launch), "fill with 2 arguments");
/// ```
pub trait Kernel: Sync {
    /// Entry point in the PTX module.
    ///
    /// ```
    /// # use cuda_std::host::{Configuration, Dim3};
    /// # use cuda_std::{host::Kernel, kernel};
    /// #[kernel(N = [1, 2])]
    /// pub unsafe fn wait<const N: u32>() {}
    ///
    /// assert_eq!(wait::<2> {}.name(), "wait_2");
    /// assert_eq!(WAIT_ENTRIES, ["wait_1", "wait_2"]);
    /// ```
    ///
    /// # Panics
    /// If the kernel is generic and this instance is not in the lists of its `#[kernel(..)]`: no argument
    /// can cause it, only a program that names such an instance.
    fn name(&self) -> &'static str;
    /// Calls `use_them` with the address of every argument, in order (what `cuLaunchKernel` takes).
    ///
    /// Arguments without a size are left out, as they are in the PTX.
    ///
    /// ```
    /// # use cuda_std::host::{Configuration, Dim3};
    /// # use cuda_std::{host::Kernel, kernel};
    /// #[kernel]
    /// pub unsafe fn fill(value: f32, x: *mut f32) {}
    ///
    /// let launch = fill { value: 1.5, x: std::ptr::null_mut() };
    /// // SAFETY: the first argument is an f32.
    /// launch.arguments(&mut |addresses| assert_eq!(unsafe { *addresses[0].cast::<f32>() }, 1.5));
    /// ```
    fn arguments(&self, use_them: &mut dyn FnMut(&mut [*mut c_void]));
    /// As one of several launches at once; `None` unless the kernel is `#[kernel(batched)]`.
    ///
    /// ```
    /// # use cuda_std::{host::Kernel, kernel};
    /// #[kernel(T = [f32, f64], batched)]
    /// pub unsafe fn fill<T: Copy>(value: T, x: *mut T) {
    ///     *x = value;
    /// }
    ///
    /// let launch = fill { value: 1.5f32, x: std::ptr::null_mut() };
    /// let batched = launch.batched().unwrap();
    /// assert_eq!((batched.name(), batched.size()), ("fill_f32_batch", 16));
    /// assert_eq!(FILL_ENTRIES, ["fill_f32", "fill_f64", "fill_f32_batch", "fill_f64_batch"]);
    /// ```
    fn batched(&self) -> Option<Batched<'_>> {
        None
    }
    /// Runs the body once, as the simulated thread that is current.
    ///
    /// ```
    /// # use cuda_std::host::{Configuration, Dim3};
    /// # use cuda_std::{host::Kernel, kernel};
    /// #[kernel]
    /// pub unsafe fn fill(value: f32, x: *mut f32) {
    ///     *x = value;
    /// }
    ///
    /// let mut x = 0.0;
    /// // SAFETY: x may be written. The kernel needs no index of its thread, so that it runs without a grid.
    /// unsafe { fill { value: 1.5, x: &raw mut x }.run() };
    /// assert_eq!(x, 1.5);
    /// ```
    ///
    /// # Safety
    /// The kernel's own safety conditions hold for its arguments.
    unsafe fn run(&self);
}

/// A kernel with its arguments, as one of up to [`BATCH`](crate::BATCH) that are launched at once.
///
/// The entry point [`name`](Batched::name) takes an array of [`BATCH`](crate::BATCH) sets of arguments, one
/// after the other. Of a grid with as many blocks along y as there are sets, the blocks with index k there do
/// what a launch with the k-th set does, so those along x are as many as of one launch.
///
/// ```
/// use cuda_std::{BATCH, host::Kernel, kernel};
///
/// #[kernel(batched)]
/// pub unsafe fn fill(value: f64, x: *mut f64) {
///     *x = value;
/// }
///
/// // What the driver gets for two launches, as one with 2 blocks along y.
/// let mut sets = [[0_u64; 2]; BATCH];
/// for (set, value) in sets.iter_mut().zip([1.5, 2.5]) {
///     let launch = fill { value, x: std::ptr::null_mut() };
///     // SAFETY: a set has 16 bytes.
///     unsafe { launch.batched().unwrap().write(set.as_mut_ptr().cast()) };
/// }
/// assert_eq!(sets.map(|set| f64::from_bits(set[0]))[..3], [1.5, 2.5, 0.0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Batched<'a> {
    name: &'static str,
    arguments: *const u8,
    size: usize,
    kernel: core::marker::PhantomData<&'a ()>,
}

impl<'a> Batched<'a> {
    /// The set that is laid out as `arguments`.
    #[doc(hidden)]
    pub fn of<K>(arguments: &'a K, name: &'static str) -> Self {
        const { assert!(align_of::<K>() <= 8) };
        let (kernel, arguments) = (core::marker::PhantomData, core::ptr::from_ref(arguments).cast());
        Batched { name, arguments, size: size_of::<K>(), kernel }
    }

    /// Entry point in the PTX module.
    ///
    /// ```
    /// # use cuda_std::{host::Kernel, kernel};
    /// #[kernel(N = [1, 2], batched)]
    /// pub unsafe fn wait<const N: u32>(turns: u32) {}
    ///
    /// assert_eq!(wait::<2> { turns: 7 }.batched().unwrap().name(), "wait_2_batch");
    /// ```
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Bytes of a set.
    ///
    /// ```
    /// # use cuda_std::{host::Kernel, kernel};
    /// #[kernel(batched)]
    /// pub unsafe fn put(i: u32, x: *mut f32) {}
    ///
    /// assert_eq!(put { i: 7, x: std::ptr::null_mut() }.batched().unwrap().size(), 16);
    /// ```
    pub fn size(&self) -> usize {
        self.size
    }

    /// Writes the set.
    ///
    /// ```
    /// # use cuda_std::{host::Kernel, kernel};
    /// #[kernel(batched)]
    /// pub unsafe fn advance(steps: u64) {}
    ///
    /// let mut set = [0_u64];
    /// // SAFETY: a set has 8 bytes.
    /// unsafe { advance { steps: 7 }.batched().unwrap().write(set.as_mut_ptr().cast()) };
    /// assert_eq!(set, [7]);
    /// ```
    ///
    /// # Safety
    /// There is room for [`size`](Batched::size) bytes at `to`, an address that 8 divides, or one of the
    /// array that began with such a one.
    pub unsafe fn write(&self, to: *mut c_void) {
        // SAFETY: the caller's promise; the arguments live for as long as this refers to them.
        unsafe { core::ptr::copy_nonoverlapping(self.arguments, to.cast::<u8>(), self.size) }
    }
}

/// A slice as an argument of a kernel: pointer and length, which are two arguments to the driver.
///
/// ```
/// # use cuda_std::host::{Configuration, Dim3};
/// use cuda_std::host::Slice;
///
/// let slice = Slice::from(&[1.0, 2.0, 3.0][..]);
/// assert_eq!(slice.length, 3);
/// ```
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
///
/// ```
/// # use cuda_std::host::{Configuration, Dim3};
/// use cuda_std::host::SliceMut;
///
/// let mut y = [0.0; 3];
/// let slice = SliceMut::from(&mut y[..]);
/// assert_eq!(slice.length, 3);
/// ```
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
