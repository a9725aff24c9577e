//! Whether a module has a kernel's name.

use proc_macro::Span;
use std::fs;
use std::path::Path;

/// Whether the source file that is compiled is, or has in it, a module of that name.
///
/// The kernel is then exported as `module::name` under a name that the module has already, which works as
/// long as only functions have it: types and modules share their names.
pub fn is_named(name: &str) -> bool {
    // Unit tests are no macros.
    let file = proc_macro::is_available().then(|| Span::call_site().local_file()).flatten();
    file.is_some_and(|file| {
        is_file_of(&file, name) || fs::read_to_string(&file).is_ok_and(|text| declares(&text, name))
    })
}

/// `name.rs` and `name/mod.rs`.
fn is_file_of(file: &Path, name: &str) -> bool {
    let stem = file.file_stem().unwrap_or_default();
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    stem == name || (stem == "mod" && folder == name)
}

/// `mod name {` or `mod name;`
fn declares(text: &str, name: &str) -> bool {
    text.lines().filter_map(|line| line.trim_start().trim_start_matches("pub ").strip_prefix("mod ")).any(
        |rest| {
            rest.trim_start().strip_prefix(name).is_some_and(|end| end.trim_start().starts_with(['{', ';']))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_blocks_are_modules() {
        assert!(is_file_of(Path::new("src/gemm.rs"), "gemm"));
        assert!(is_file_of(Path::new("src/gemm/mod.rs"), "gemm"));
        assert!(!is_file_of(Path::new("src/gemm/tiled.rs"), "gemm"));
        assert!(declares("use x;\n    pub mod gemm {\n", "gemm"));
        assert!(declares("mod gemm;", "gemm"));
        assert!(!declares("mod gemm_tiled;\nfn gemm() {}", "gemm"));
    }
}
