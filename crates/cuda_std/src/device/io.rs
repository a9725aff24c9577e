//! Printing, and failing with a message, by the functions that the driver has for it.

use core::ffi::c_void;
use core::fmt::{self, Arguments, Write};
use core::panic::Location;

unsafe extern "C" {
    /// The driver's: prints a C string by C's rules, with the arguments that the second pointer points to.
    pub fn vprintf(format: *const u8, arguments: *const c_void) -> i32;
    /// The driver's: prints the message with the place, and ends the kernel. Strings end with a nul.
    pub fn __assertfail(
        message: *const u8,
        file: *const u8,
        line: u32,
        function: *const u8,
        char_size: usize,
    );
}

/// A text of up to `N - 1` bytes with a nul behind it; what is longer is cut off.
struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    fn new(text: Arguments<'_>) -> Self {
        let mut new = Self { bytes: [0; N], length: 0 };
        let _ = new.write_fmt(text);
        new
    }
}

impl<const N: usize> Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if self.length + 1 < N {
                self.bytes[self.length] = byte;
                self.length += 1;
            }
        }
        Ok(())
    }
}

pub fn print(text: Arguments<'_>) {
    let text = Text::<1000>::new(text);
    let arguments = [text.bytes.as_ptr()];
    // SAFETY: both strings end with a nul, and the format takes one.
    unsafe { vprintf(c"%s".as_ptr().cast(), arguments.as_ptr().cast()) };
}

#[track_caller]
pub fn fail(message: Arguments<'_>) -> ! {
    let place = Location::caller();
    fail_at(message, place.file(), place.line())
}

/// Fails with a message and a place.
pub fn fail_at(message: Arguments<'_>, file: &str, line: u32) -> ! {
    let (message, file) = (Text::<500>::new(message), Text::<200>::new(format_args!("{file}")));
    // SAFETY: the strings end with a nul.
    unsafe {
        __assertfail(message.bytes.as_ptr(), file.bytes.as_ptr(), line, c"kernel".as_ptr().cast(), 1);
        core::arch::nvptx::trap()
    }
}
