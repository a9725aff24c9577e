//! How rows are shared out.

use crate::matrix::SLICE;

/// Rows a task handles: a few tens of microseconds of work, so that stealing evens out uneven rows.
pub(crate) const CHUNK: usize = 64 * SLICE;
