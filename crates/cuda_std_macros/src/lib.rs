//! The `#[kernel]` attribute and the other procedural macros of `cuda_std`, which re-exports them.
//!
//! ```
//! use cuda_std::{kernel, memory::*, shared, sim, thread};
//!
//! /// Turns y round.
//! #[kernel]
//! pub unsafe fn turn(y: *mut f32) {
//!     let (tile, t) = (shared![f32; 64], thread::thread_idx_x() as usize);
//!     tile.set(t, y.ld(t));
//!     thread::sync_threads();
//!     y.st(t, tile.get(63 - t));
//! }
//!
//! let mut y = Vec::from_iter((0..64).map(|i| i as f32));
//! // SAFETY: y has 64 elements.
//! unsafe { sim::launch!(turn<<<1, 64>>>(y.as_mut_ptr())) }?;
//! assert_eq!(y[0], 63.0);
//! # Ok::<(), sim::Fault>(())
//! ```

mod kernel;
mod module;
mod only;
mod parameter;
mod shared;
mod variable;

use proc_macro::TokenStream;

/// Makes a kernel of an `unsafe fn`.
///
/// On the device (`nvptx64`) the function becomes an entry point of the PTX module. On the host the
/// function stays callable, and beside it appears a struct of the same name with one public field per
/// parameter, which implements `cuda_std::host::Kernel`: a launch is written
/// `launch(grid, block, &vadd { n, x, y })`. The constant `VADD_ENTRIES` lists the entry points.
///
/// A generic kernel names the types and constants it is compiled for, in the order of its parameters:
///
/// ```ignore
/// #[kernel(T = [f32, f64], E = [Product<T>, Residual<T>], W = [1, 2])]
/// pub unsafe fn spmv<T: Real, E: Epilogue<T>, const W: u32>(n: u32, x: *const T, e: E) { .. }
/// ```
///
/// Every combination becomes an entry point named after the function, the last path segment of each type
/// in snake case, and each number: `spmv_f64_residual_2`. A list may mention the parameters before it.
///
/// On devices of compute capability 9.0 and later, a kernel may be started before the one in front of it on
/// the stream has ended. Every entry point therefore begins with `cuda_std::thread::grid_dependency_launch`
/// and `grid_dependency_wait`, behind which all is as if it had been started later. With the word `waits` in
/// the attribute, `#[kernel(waits)]` or `#[kernel(T = [f32, f64], waits)]`, the second is left to the body,
/// which must call it on every path: its documentation says what may stand before it.
///
/// A kernel that uses what only newer devices have names the oldest target that can run it, `#[kernel(needs =
/// sm_90)]`. PTX for older targets is then without it, and a program for them must not launch it.
///
/// With the word `batched` every entry point has another beside it, `NAME_batch`, for up to `cuda_std::BATCH`
/// launches at once, which must not depend on each other: it takes an array of as many sets of arguments, and
/// `block_idx_y` tells which of them a block is for. `cuda_std::host::Kernel::batch` is a set of it.
///
/// Arguments must be `Copy`: numbers, raw pointers, references, and `#[repr(C)]` structs of these. The body
/// may call unsafe functions without an `unsafe` block, since next to everything a kernel does is one.
///
/// A slice, `&[T]` or `&mut [T]`, is two arguments to who launches the kernel: pointer and length. In the
/// struct it is a `cuda_std::host::Slice`. With other references among its arguments a kernel has no struct.
/// (`&mut` to memory that several threads use is undefined behaviour in Rust: results are better written
/// through a pointer.)
///
/// A kernel may have the name of the module around it, and be exported beside it: `mod gemm; pub use
/// gemm::gemm;`. Its struct is then private to the module, as a name can be exported once only, unless it is
/// generic.
#[proc_macro_attribute]
pub fn kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(attribute.into(), item.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// `shared![T; N]`: static shared memory of `N` elements of `T`, as a `cuda_std::shared::Shared<T>`, whose
/// accesses the simulator checks.
///
/// `T` and `N` may depend on the generic parameters of the function around it; instances of the function in
/// one kernel then share the memory where it has the same size. Evaluating it twice gives the same memory, as
/// a `__shared__` variable of CUDA does.
///
/// ```
/// use cuda_std::{shared, sim, thread};
///
/// /// Room for two warps.
/// const THREADS: usize = 64;
///
/// # sim::call("example", cuda_std::host::Configuration::new(1, 64), || unsafe {
/// let (tile, t) = (shared![f32; THREADS], thread::thread_idx_x() as usize);
/// tile.set(t, t as f32);
/// thread::sync_threads();
/// assert_eq!(tile.get(THREADS - 1), 63.0);
/// # }).unwrap();
/// ```
#[proc_macro]
pub fn shared(input: TokenStream) -> TokenStream {
    shared::expand(input.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// `shared_array![T; N]`: static shared memory of `N` elements of `T`, as a `*mut T`.
///
/// It is undefined until written. Evaluating it twice gives the same memory. Neither `T` nor `N` can be
/// generic.
///
/// ```
/// use cuda_std::{shared_array, sim, thread};
///
/// # sim::call("example", cuda_std::host::Configuration::new(1, 64), || unsafe {
/// let (tile, t) = (shared_array![f32; 64], thread::thread_idx_x() as usize);
/// *tile.add(t) = t as f32;
/// thread::sync_threads();
/// assert_eq!(*tile.add(63), 63.0);
/// # }).unwrap();
/// ```
#[proc_macro]
pub fn shared_array(input: TokenStream) -> TokenStream {
    variable::expand_array(input.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// Puts a `static mut` into `shared` memory, where each block has its own, undefined until written.
///
/// `global` and `constant` leave it where it is, in global memory.
///
/// ```
/// use cuda_std::{address_space, sim, thread};
///
/// #[address_space(shared)]
/// static mut TILE: [f32; 64] = [0.0; 64];
///
/// # sim::call("example", cuda_std::host::Configuration::new(1, 64), || unsafe {
/// let t = thread::thread_idx_x() as usize;
/// TILE[t] = t as f32;
/// thread::sync_threads();
/// assert_eq!(TILE[63], 63.0);
/// # }).unwrap();
/// ```
#[proc_macro_attribute]
pub fn address_space(space: TokenStream, item: TokenStream) -> TokenStream {
    variable::expand_attribute(space.into(), item.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// A function for the device alone: on the host, where its body is not compiled, it panics.
///
/// ```
/// use cuda_std::gpu_only;
///
/// /// The number of the multiprocessor that this thread runs on.
/// #[gpu_only]
/// pub fn multiprocessor() -> u32 {
///     let number;
///     // SAFETY: reads a register.
///     unsafe { core::arch::asm!("mov.u32 {}, %smid;", out(reg32) number) };
///     number
/// }
///
/// assert!(std::panic::catch_unwind(multiprocessor).is_err()); // on the host
/// ```
#[proc_macro_attribute]
pub fn gpu_only(_: TokenStream, item: TokenStream) -> TokenStream {
    only::expand(item.into()).unwrap_or_else(|e| e.into_compile_error()).into()
}

/// Marks a function as visible to other PTX, which every function with a name of its own (`#[no_mangle]`) is
/// here: changes nothing.
///
/// ```
/// use cuda_std::externally_visible;
///
/// #[externally_visible]
/// #[unsafe(no_mangle)]
/// pub extern "C" fn twice(x: f32) -> f32 {
///     2.0 * x
/// }
///
/// assert_eq!(twice(1.5), 3.0);
/// ```
#[proc_macro_attribute]
pub fn externally_visible(_: TokenStream, item: TokenStream) -> TokenStream {
    item
}
