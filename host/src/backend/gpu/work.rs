//! What a launch is for.

use cuda_std::Real;

/// The threads of a launch, and the bytes that it must move through memory, whatever the caches keep, where that is known
/// before it runs.
///
/// A number of threads alone is work whose bytes depend on the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) threads: usize,
    pub(crate) bytes: Option<u64>,
}

impl Work {
    /// A thread for each of `n` elements, which reads or writes that of so many vectors; one that is read and written
    /// counts twice.
    pub(crate) fn on<T: Real>(n: usize, vectors: usize) -> Work {
        Work::moving(n, (n * vectors * size_of::<T>()) as u64)
    }

    /// The same with vectors of two types.
    pub(crate) fn on_both<T: Real, S: Real>(n: usize, of_t: usize, of_s: usize) -> Work {
        Work::moving(n, (n * (of_t * size_of::<T>() + of_s * size_of::<S>())) as u64)
    }

    /// So many threads and bytes.
    pub(crate) fn moving(threads: usize, bytes: u64) -> Work {
        Work { threads, bytes: Some(bytes) }
    }
}

impl From<usize> for Work {
    fn from(threads: usize) -> Work {
        Work { threads, bytes: None }
    }
}
