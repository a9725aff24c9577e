//! The Matrix Market reader on arbitrary bytes: `cargo +nightly fuzz run matrix_market`.
//!
//! It must never panic or allocate out of proportion, and what it accepts must survive a round trip
//! through the writer.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use warpsolve_host::Error;
use warpsolve_host::io::matrix_market::{parse_matrix, read_matrix, symmetry_of, write_matrix};

fuzz_target!(|bytes: &[u8]| {
    match parse_matrix(bytes, Path::new("fuzz.mtx")) {
        Ok((a, summary)) => {
            assert!(a.values().iter().all(|v| v.is_finite()));
            assert!(summary.duplicates <= summary.entries_in_file);
            let path = std::env::temp_dir().join(format!("warpsolve-fuzz-{}.mtx", std::process::id()));
            write_matrix(&path, &a, symmetry_of(&a), "").expect("a temporary file can be written");
            let again = read_matrix(&path, &mut |_, _| {}).expect("what was written can be read");
            assert_eq!(a, again.0);
        }
        Err(Error::Parse { line, .. }) => assert!(line >= 1),
        Err(Error::NotFinite { .. }) => {}
        Err(e) => panic!("{e}"),
    }
});
