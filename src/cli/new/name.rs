//! Names that a crate with a program may have.

use warpsolve::{Error, Result};

/// Words of the language, none of which cargo takes.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "union", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];
/// Crates that come with the compiler, and folders of cargo.
const TAKEN: [&str; 9] =
    ["alloc", "build", "core", "deps", "examples", "incremental", "proc_macro", "std", "test"];
/// Crates of the project.
const OWN: [&str; 4] = ["cuda_builder", "cuda_std", "cust", "kernels"];

/// Refuses what is no name of a crate.
pub fn check(name: &str) -> Result<()> {
    match fault(name) {
        Some(fault) => {
            Err(Error::Option(format!("\"{name}\" {fault}; take another name, such as my-kernels")))
        }
        None => Ok(()),
    }
}

/// Why a name cannot be a crate's.
fn fault(name: &str) -> Option<String> {
    // In code a crate has _ for -.
    let word = name.replace('-', "_");
    let allowed = |c: &char| c.is_ascii_alphanumeric() || *c == '-' || *c == '_';
    if name.is_empty() {
        Some("is no name".into())
    } else if let Some(other) = name.chars().find(|c| !allowed(c)) {
        Some(format!("has {other:?} in it: names of crates are made of letters, digits, - and _"))
    } else if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        Some("does not begin with a letter, as names of crates do".into())
    } else if KEYWORDS.contains(&word.as_str()) {
        Some("is a word of Rust".into())
    } else if TAKEN.contains(&word.as_str()) {
        Some("is a name that Rust's compiler or cargo has for itself".into())
    } else if OWN.contains(&word.as_str()) {
        Some("is a crate that the project uses".into())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_cargo_takes() {
        for good in ["a", "my-kernels", "my_kernels2", "Heat", "saxpy", "x86"] {
            assert_eq!(fault(good), None, "{good}");
        }
        for (bad, why) in [
            ("", "is no name"),
            ("3d", "begin with a letter"),
            ("-x", "begin with a letter"),
            ("_x", "begin with a letter"),
            ("a b", "has ' ' in it"),
            ("a/b", "has '/' in it"),
            ("..", "has '.' in it"),
            ("wärme", "has 'ä' in it"),
            ("fn", "a word of Rust"),
            ("yield", "a word of Rust"),
            ("test", "for itself"),
            ("proc-macro", "for itself"),
            ("cuda-std", "the project uses"),
            ("kernels", "the project uses"),
        ] {
            assert!(fault(bad).is_some_and(|fault| fault.contains(why)), "{bad}: {:?}", fault(bad));
        }
    }
}
