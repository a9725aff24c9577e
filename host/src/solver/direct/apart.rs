//! Work that nobody can stop, done apart: whoever waits for it may leave it behind.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use rayon::ThreadPoolBuilder;

use crate::error::{Error, Result};

/// How long nobody looks whether the work is to be left.
const LOOK: Duration = Duration::from_millis(20);

/// Works, where that is not short in a thread of its own; `None` once `cancelled` is raised.
///
/// # Errors
/// Those of the work, and [`Error::Io`] where the system has no thread left.
pub fn unless_cancelled<R: Send + 'static>(
    is_short: bool,
    cancelled: &AtomicBool,
    work: impl FnOnce() -> Result<R> + Send + 'static,
) -> Result<Option<R>> {
    match is_short {
        _ if cancelled.load(Ordering::Relaxed) => Ok(None),
        true => work().map(Some),
        false => apart(work, cancelled)?.transpose(),
    }
}

/// Works in a thread of its own. `None` once `cancelled` is raised: then the thread, and what it holds, is
/// there until the work is done, or the program ends. The work has a pool of as many threads as the caller's,
/// of which one waits here: it may be the only one.
///
/// # Errors
/// [`Error::Io`] where the system has no thread left.
fn apart<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
    cancelled: &AtomicBool,
) -> Result<Option<R>> {
    let (sender, receiver) = channel();
    let no_thread = |error| Error::io("start", "a thread", error);
    let pool = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build();
    let pool = pool.map_err(|error| no_thread(std::io::Error::other(error)))?;
    let work = move || {
        // Nobody takes it where the caller has left.
        drop(sender.send(pool.install(work)));
    };
    let thread = Builder::new().spawn(work).map_err(no_thread)?;
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
    fn work_has_as_many_threads_as_the_caller() {
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let threads = || apart(rayon::current_num_threads, &AtomicBool::new(false)).unwrap();
        assert_eq!(pool.install(threads), Some(3));
    }

    #[test]
    #[should_panic(expected = "of the work")]
    fn a_panic_is_the_callers() {
        apart(|| panic!("of the work"), &AtomicBool::new(false)).unwrap();
    }
}
