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
//!
//! ```
//! use cuda_std::{kernel, println, sim, thread};
//!
//! #[kernel]
//! pub unsafe fn greet() {
//!     println!("thread {}", thread::thread_idx_x());
//! }
//!
//! // SAFETY: it has no arguments.
//! let (result, text) = sim::captured(|| unsafe { sim::launch!(greet<<<1, 2>>>()) });
//! result?;
//! assert_eq!(text, "thread 0\nthread 1\n");
//! # Ok::<(), sim::Fault>(())
//! ```

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
///
/// ```
/// # use cuda_std::{sim, thread};
/// # let (_, text) = sim::captured(|| {
/// #     sim::call("example", cuda_std::host::Configuration::new(1, 1), || {
/// cuda_std::print!("{} of ", thread::thread_idx_x());
/// cuda_std::print!("{}", thread::block_dim_x());
/// #     })
/// # });
/// # assert_eq!(text, "0 of 1");
/// ```
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => {
        $crate::io::print(::core::format_args!($($argument)*))
    };
}

/// `std`'s `println!`, in a kernel.
///
/// ```
/// # use cuda_std::{sim, thread};
/// # let (_, text) = sim::captured(|| {
/// #     sim::call("example", cuda_std::host::Configuration::new(1, 1), || {
/// cuda_std::println!("x = {:.2}", 1.0 / 3.0);
/// #     })
/// # });
/// # assert_eq!(text, "x = 0.33\n");
/// ```
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
///
/// ```
/// # use cuda_std::{sim, thread};
/// # let fault = sim::call("example", cuda_std::host::Configuration::new(1, 1), || {
/// # let pivot = 0.0;
/// if pivot == 0.0 {
///     cuda_std::panic!("no pivot for thread {}", thread::thread_idx_x());
/// }
/// # });
/// # assert!(fault.unwrap_err().to_string().contains("panic: no pivot for thread 0, at "));
/// ```
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
///
/// ```
/// # use cuda_std::{sim, thread};
/// # let fault = sim::call("example", cuda_std::host::Configuration::new(1, 1), || {
/// # let x = f32::NAN;
/// cuda_std::assert!(x.is_finite(), "x is {x}");
/// # });
/// # assert!(fault.unwrap_err().to_string().contains("panic: x is NaN, at "));
/// ```
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
///
/// ```
/// # use cuda_std::{sim, thread};
/// # sim::call("example", cuda_std::host::Configuration::new(1, 32), || {
/// cuda_std::assert_eq!(thread::block_dim_x(), 32, "this kernel is written for one warp");
/// # }).unwrap();
/// ```
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
///
/// ```
/// # use cuda_std::{sim, thread};
/// # sim::call("example", cuda_std::host::Configuration::new(1, 32), || {
/// cuda_std::assert_ne!(thread::grid_dim_x(), 0);
/// # }).unwrap();
/// ```
#[macro_export]
macro_rules! assert_ne {
    ($left:expr, $right:expr $(,)?) => {
        $crate::__compare!("!=", !=, $left, $right, "")
    };
    ($left:expr, $right:expr, $($argument:tt)+) => {
        $crate::__compare!("!=", !=, $left, $right, ": {}", ::core::format_args!($($argument)+))
    };
}
