//! Columns that do the same at once.

use std::sync::Arc;

use crate::error::Result;

/// Backends of columns that do the same at once: their work may wait for that of the others meanwhile.
pub trait AtOnce: Send + Sync {
    /// From now on it may.
    fn begin(&self);

    /// All of it is queued, and from now on none waits.
    ///
    /// # Errors
    /// Those of the device.
    fn end(&self) -> Result<()>;
}

/// Backends of columns, and who is told when they do the same at once, if that is of use.
pub type SideBySide<B> = (Vec<B>, Option<Arc<dyn AtOnce>>);
