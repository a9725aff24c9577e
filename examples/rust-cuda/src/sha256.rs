//! SHA-2 by the crate `sha2`, as it comes from the registry.

use cuda_std::prelude::*;
use sha2::{Digest, Sha256, Sha512};

/// The hash of each of `out`'s messages of `length` bytes.
#[kernel]
pub unsafe fn sha256(messages: &[u8], length: usize, out: *mut [u8; 32]) {
    let i = thread::index_1d() as usize;
    if let Some(message) = messages.chunks_exact(length).nth(i) {
        let hash = Sha256::digest(message);
        unsafe { (*out.add(i)).copy_from_slice(&hash) };
    }
}

/// The hash of two texts, one behind the other.
#[kernel]
pub unsafe fn sha512_of_two(first: &[u8], second: &[u8], out: *mut [u8; 64]) {
    if thread::index_1d() == 0 {
        let mut hasher = Sha512::new();
        hasher.update(first);
        hasher.update(second);
        let hash = hasher.finalize();
        unsafe { (*out).copy_from_slice(&hash) };
    }
}
