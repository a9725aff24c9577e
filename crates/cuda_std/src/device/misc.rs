//! Clocks, and signs for debuggers and profilers.

use core::arch::asm;

#[inline(always)]
pub fn breakpoint() {
    // SAFETY: stops for a debugger.
    unsafe { asm!("brkpt;", options(nostack, preserves_flags)) }
}

/// The instruction takes a number, and no register.
#[inline(always)]
pub fn profiler_counter(counter: u32) {
    macro_rules! trigger {
        ($($number:literal)*) => {
            match counter {
                // SAFETY: counts.
                $($number => unsafe {
                    asm!(concat!("pmevent ", $number, ";"), options(nomem, nostack, preserves_flags))
                },)*
                _ => {}
            }
        };
    }
    trigger!(0 1 2 3 4 5 6 7)
}

#[inline(always)]
pub fn clock() -> u64 {
    let cycles: u64;
    // SAFETY: reads a special register.
    unsafe { asm!("mov.u64 {}, %clock64;", out(reg64) cycles, options(nomem, nostack, preserves_flags)) };
    cycles
}
