//! How accesses to global memory may be cached.

/// How a load may be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// The default.
    Plain,
    /// Nobody writes it during the kernel: through the read-only path.
    Constant,
    /// As `Constant`, and read once: gone first from both caches.
    Streamed,
    /// Others may have written it a moment ago.
    Volatile,
    /// Others may be writing it now, and both values will do.
    Flag,
}

/// How a store may be cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Store {
    /// The default.
    Plain,
    /// Not read again soon.
    Streamed,
    /// Others look for it at once.
    Volatile,
}
