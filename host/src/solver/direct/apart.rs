//! Work that nobody can stop, done apart: whoever waits for it may leave it behind.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use crate::error::{Error, Result};

/// How long nobody looks whether the work is to be left.
const LOOK: Duration = Duration::from_millis(20);

/// Works in a thread of its own. `None` once `cancelled` is raised: then the thread, and what it holds, is
/// there until the work is done, or the program ends.
///
/// # Errors
/// [`Error::Io`] where the system has no thread left.
pub fn apart<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
    cancelled: &AtomicBool,
) -> Result<Option<R>> {
    let (sender, receiver) = channel();
    let work = move || {
        // Nobody takes it where the caller has left.
        drop(sender.send(work()));
    };
    let thread = Builder::new().spawn(work).map_err(|error| Error::io("start", "a thread", error))?;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(result) => return Ok(Some(result)),
            Err(RecvTimeoutError::Timeout) if !cancelled.load(Ordering::Relaxed) => {}
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            // The work has panicked.
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match thread.join() {
        Err(panic) => resume_unwind(panic),
        Ok(()) => unreachable!("a thread that ends has sent something"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn work_is_waited_for_until_it_is_left() {
        let raised = Arc::new(AtomicBool::new(false));
        assert_eq!(apart(|| 7, &raised).unwrap(), Some(7));
        let (hand, (sender, receiver)) = (raised.clone(), channel::<()>());
        let forever = move || {
            hand.store(true, Ordering::Relaxed);
            receiver.recv().is_ok()
        };
        assert_eq!(apart(forever, &raised).unwrap(), None);
        drop(sender);
    }

    #[test]
    #[should_panic(expected = "of the work")]
    fn a_panic_is_the_callers() {
        apart(|| panic!("of the work"), &AtomicBool::new(false)).unwrap();
    }
}
