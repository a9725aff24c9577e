//! Panics of kernels: faults with a place, of which nothing is printed.

use super::fault::FaultKind;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether a thread of a kernel runs.
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    /// Where it panicked.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Lets a thread of a kernel run. An error is its panic.
pub(super) fn catch<R>(thread: impl FnOnce() -> R) -> Result<R, FaultKind> {
    listen();
    RUNNING.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(thread));
    RUNNING.set(false);
    outcome.map_err(|payload| FaultKind::Panic {
        message: message(&*payload),
        place: PLACE.take().unwrap_or_default(),
    })
}

/// Takes note of where kernels panic, and leaves all other panics to whoever took note before.
fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if RUNNING.get() {
                PLACE.set(panic.location().map(ToString::to_string));
            } else {
                others(panic);
            }
        }));
    });
}

/// The text of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| s.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "of unknown cause".into())
}
