//! Printing, and failing with a message.
//!
//! What a kernel prints reaches the terminal when the host waits for the device, each call in one piece (up
//! to 1000 bytes), and those of a thread in their order. In the simulator it is printed at once, or
//! [captured](crate::sim::captured).
//!
//! A failed assertion ends the kernel with the message, its place in the source, the block and the thread.
//! The host gets `CudaError::AssertError` when it next waits, and can launch nothing more. `panic!`,
//! `assert!`, `assert_eq!` and `assert_ne!` of this crate do that; a bounds check or another panic of `core`
//! traps without a word, unless `cuda_builder` is asked for messages.

use crate::platform;
use core::fmt::Arguments;

#[cfg(target_arch = "nvptx64")]
pub use crate::platform::{__assertfail, vprintf};

/// Prints.
#[doc(hidden)]
#[inline(never)]
pub fn print(text: Arguments<'_>) {
    platform::print(text)
}

/// Ends the kernel.
#[doc(hidden)]
#[inline(never)]
#[cold]
#[track_caller]
pub fn fail(message: Arguments<'_>) -> ! {
    platform::fail(message)
}

/// `std`'s `print!`, in a kernel.
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => {
        $crate::io::print(::core::format_args!($($argument)*))
    };
}

/// `std`'s `println!`, in a kernel.
#[macro_export]
macro_rules! println {
    () => {
        $crate::print!("\n")
    };
    ($($argument:tt)*) => {
        $crate::print!("{}\n", ::core::format_args!($($argument)*))
    };
}

/// `std`'s `panic!`, in a kernel.
#[macro_export]
macro_rules! panic {
    () => {
        $crate::io::fail(::core::format_args!("explicit panic"))
    };
    ($($argument:tt)+) => {
        $crate::io::fail(::core::format_args!($($argument)+))
    };
}

/// `std`'s `assert!`, in a kernel.
#[macro_export]
macro_rules! assert {
    ($condition:expr $(,)?) => {
        if !$condition {
            $crate::panic!("assertion failed: {}", ::core::stringify!($condition))
        }
    };
    ($condition:expr, $($argument:tt)+) => {
        if !$condition {
            $crate::panic!($($argument)+)
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __compare {
    ($what:literal, $operator:tt, $left:expr, $right:expr, $($argument:tt)*) => {
        match (&$left, &$right) {
            (left, right) => {
                if !(*left $operator *right) {
                    $crate::panic!(
                        "assertion `left {} right` failed{}\n  left: {:?}\n right: {:?}",
                        $what, ::core::format_args!($($argument)*), left, right
                    )
                }
            }
        }
    };
}

/// `std`'s `assert_eq!`, in a kernel.
#[macro_export]
macro_rules! assert_eq {
    ($left:expr, $right:expr $(,)?) => {
        $crate::__compare!("==", ==, $left, $right, "")
    };
    ($left:expr, $right:expr, $($argument:tt)+) => {
        $crate::__compare!("==", ==, $left, $right, ": {}", ::core::format_args!($($argument)+))
    };
}

/// `std`'s `assert_ne!`, in a kernel.
#[macro_export]
macro_rules! assert_ne {
    ($left:expr, $right:expr $(,)?) => {
        $crate::__compare!("!=", !=, $left, $right, "")
    };
    ($left:expr, $right:expr, $($argument:tt)+) => {
        $crate::__compare!("!=", !=, $left, $right, ": {}", ::core::format_args!($($argument)+))
    };
}
