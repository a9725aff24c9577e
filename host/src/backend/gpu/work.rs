//! The work of a launch: its threads and its bytes.

use cuda_std::Real;

/// The threads of a launch, and the bytes that it must move through memory, not counting what caches save.
/// `None` if the bytes depend on the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) threads: usize,
    pub(crate) bytes: Option<u64>,
}

impl Work {
    /// A thread for each of `n` elements, which reads or writes its element of this many vectors. A vector
    /// that is read and written counts twice.
    pub(crate) fn on<T: Real>(n: usize, vectors: usize) -> Work {
        Work::moving(n, (n * vectors * size_of::<T>()) as u64)
    }

    /// The same with vectors of two types.
    pub(crate) fn on_both<T: Real, S: Real>(n: usize, in_t: usize, in_s: usize) -> Work {
        Work::moving(n, (n * (in_t * size_of::<T>() + in_s * size_of::<S>())) as u64)
    }

    /// This many threads and bytes.
    pub(crate) fn moving(threads: usize, bytes: u64) -> Work {
        Work { threads, bytes: Some(bytes) }
    }
}

impl From<usize> for Work {
    fn from(threads: usize) -> Work {
        Work { threads, bytes: None }
    }
}
