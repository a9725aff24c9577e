//! What is left: clocks, and signs for debuggers and profilers.

use crate::platform;

/// Stops the kernel for a debugger; in the simulator it does nothing.
#[inline(always)]
pub fn breakpoint() {
    platform::breakpoint()
}

/// Triggers event `counter` of the profiler, 0 to 7; in the simulator it does nothing.
///
/// # Panics
/// If there is no such event.
#[inline(always)]
pub fn profiler_counter(counter: u32) {
    assert!(counter <= 7, "profilers have events 0 to 7");
    platform::profiler_counter(counter)
}

/// Clock cycles of this multiprocessor, counted from some time on. In the simulator every call counts as one.
#[inline(always)]
pub fn clock() -> u64 {
    platform::clock()
}

/// [`clock`] by the name of its register.
#[inline(always)]
pub fn clock64() -> u64 {
    platform::clock()
}
