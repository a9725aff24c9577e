//! Locks that outlast a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose data is valid even if a thread panicked while it held it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
