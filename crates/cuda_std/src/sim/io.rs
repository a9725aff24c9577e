//! What kernels print, and how they fail.

use std::cell::RefCell;
use std::fmt::{Arguments, Write};

thread_local! {
    /// What was printed since somebody asked for it.
    static CAPTURED: RefCell<Option<String>> = const { RefCell::new(None) };
}

pub fn print(text: Arguments<'_>) {
    let printed = CAPTURED.with_borrow_mut(|captured| captured.as_mut().map(|all| all.write_fmt(text)));
    if printed.is_none() {
        std::print!("{text}");
    }
}

#[track_caller]
pub fn fail(message: Arguments<'_>) -> ! {
    std::panic!("{message}")
}

/// What `launches` returns, and what kernels printed meanwhile, which does not reach the terminal.
///
/// ```
/// # use cuda_std::{kernel, println, sim};
/// #[kernel]
/// pub unsafe fn greet() {
///     println!("good day");
/// }
///
/// // SAFETY: it has no arguments.
/// let (result, text) = sim::captured(|| unsafe { sim::launch!(greet<<<1, 1>>>()) });
/// assert_eq!((result, text.as_str()), (Ok(()), "good day\n"));
/// ```
pub fn captured<R>(launches: impl FnOnce() -> R) -> (R, String) {
    let before = CAPTURED.replace(Some(String::new()));
    let result = launches();
    (result, CAPTURED.replace(before).unwrap_or_default())
}
