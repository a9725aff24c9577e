//! What is left: clocks, and signs for debuggers and profilers.
//!
//! ```
//! # use cuda_std::{host::Configuration, sim};
//! # use cuda_std::misc;
//! # sim::call("example", Configuration::new(1, 1), || unsafe {
//! let before = misc::clock();
//! // What is measured.
//! assert!(misc::clock() > before);
//! # }).unwrap();
//! ```

use crate::platform;

/// Stops the kernel for a debugger; in the simulator it does nothing.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::misc;
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// # let sum = 0.0_f32;
/// if sum.is_nan() {
///     misc::breakpoint();
/// }
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn breakpoint() {
    platform::breakpoint()
}

/// Triggers event `counter` of the profiler, 0 to 7; in the simulator it does nothing.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::misc;
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// // The profiler counts how often threads come here.
/// misc::profiler_counter(0);
/// # }).unwrap();
/// ```
///
/// # Panics
/// If there is no such event.
#[inline(always)]
pub fn profiler_counter(counter: u32) {
    assert!(counter <= 7, "profilers have events 0 to 7");
    platform::profiler_counter(counter)
}

/// Clock cycles of this multiprocessor, counted from some time on. In the simulator every call counts as one.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::misc;
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// let before = misc::clock();
/// let cycles = misc::clock() - before;
/// assert!(cycles > 0);
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn clock() -> u64 {
    platform::clock()
}

/// [`clock`] by the name of its register.
///
/// ```
/// # use cuda_std::{host::Configuration, sim};
/// # use cuda_std::misc;
/// # sim::call("example", Configuration::new(1, 1), || unsafe {
/// assert!(misc::clock64() < misc::clock64());
/// # }).unwrap();
/// ```
#[inline(always)]
pub fn clock64() -> u64 {
    platform::clock()
}
