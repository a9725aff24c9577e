//! Binary matrix files (`.wsm`): the arrays of compressed rows as they lie in memory, checksummed, so that
//! reading is little more than copying. docs/binary-matrix.md describes every byte.
//!
//! Nothing is allocated before the sizes in the header agree with one another and with the length of the
//! file. The arrays are checked by [`Csr::new`](crate::matrix::Csr::new) even if the checksums are right.

mod checksum;
mod fault;
mod header;
mod read;
mod rows;
#[cfg(test)]
mod tests;
mod write;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use header::MAGIC;

pub use fault::{Fault, Section};
pub use read::read_matrix;
pub use rows::{RowFile, SomeRows, Sums};
pub use write::write_matrix;

// The arrays are read and written as they are.
const _: () = assert!(cfg!(target_endian = "little") && size_of::<usize>() == 8);

/// Whether a file is to be read as binary: its name ends in `.wsm`, or its first bytes say so.
pub fn is_binary(path: &Path) -> bool {
    has_its_name(path) || starts_with_magic(path)
}

/// Whether a name ends in `.wsm`.
pub fn has_its_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("wsm"))
}

/// Whether the first bytes are those of the format. Pipes, which cannot be read twice, are left alone.
fn starts_with_magic(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    path.is_file()
        && File::open(path).is_ok_and(|file| file.read_exact_at(&mut start, 0).is_ok())
        && start == MAGIC
}
