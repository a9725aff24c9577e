//! The files of a crate do not import each other in a circle.
//!
//! Every path (`use crate::a::b`, `super::c::f(..)`, `child::g(..)`) is followed through modules and
//! re-exports to the file that defines the item. Declaring a module, or re-exporting from it, is not an
//! import. Tests are left out: they may use whatever they test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
use std::path::{Path, PathBuf};

#[test]
fn no_files_import_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = |file: &PathBuf| file.strip_prefix(root).unwrap().display().to_string();
    let mut faults = String::new();
    let mut count = 0;
    for folder in crates(root) {
        let mut sources = Sources::default();
        sources.read_folder(&folder, &vec![]);
        let imports = sources.imports();
        count += imports.values().map(BTreeSet::len).sum::<usize>();
        for circle in circles(&imports) {
            faults += "\nThese import each other:\n";
            for file in &circle {
                let within: Vec<String> = imports[file].intersection(&circle).map(name).collect();
                faults += &format!("    {} imports {}\n", name(file), within.join(", "));
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(count > 500, "{count} imports: most were not found");
}

/// Where the crates have their sources.
fn crates(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.join("src"), root.join("host/src"), root.join("gpu-kernels/src")];
    folders.extend(fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src")));
    folders
}

/// A folder is a concept; one that holds more is several.
#[test]
fn no_folder_holds_more_than_a_fifth_of_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut lines = BTreeMap::new();
    let all: usize = crates(root).iter().map(|folder| count_lines(folder, &mut lines)).sum();
    // The folder of a crate's sources is the crate.
    for (folder, count) in lines.iter().filter(|(folder, _)| !folder.ends_with("src")) {
        println!("{:4.1} % {}", 100.0 * *count as f64 / all as f64, folder.display());
        assert!(5 * count <= all, "{}: {count} of {all} lines", folder.display());
    }
}

/// Counts the lines of Rust in each folder, subfolders included.
fn count_lines(folder: &Path, lines: &mut BTreeMap<PathBuf, usize>) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            count += count_lines(&path, lines);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            count += fs::read_to_string(&path).unwrap().lines().count();
        }
    }
    lines.insert(folder.into(), count);
    count
}

/// The names of a path, one after the other.
type Names = Vec<String>;
/// What each file imports.
type Imports = BTreeMap<PathBuf, BTreeSet<PathBuf>>;
type Tokens<'a> = Peekable<std::slice::Iter<'a, &'a str>>;

/// A module, in a file of its own or not.
struct Module {
    file: PathBuf,
    /// What `use` brings in: a name, and the path that it stands for.
    used: BTreeMap<String, Names>,
}

/// What stands in the files of a crate.
#[derive(Default)]
struct Sources {
    modules: BTreeMap<Names, Module>,
    /// Paths, each with the module that it stands in.
    mentions: Vec<(Names, Names)>,
}

impl Sources {
    /// Reads the files of a module's folder, except for tests.
    fn read_folder(&mut self, folder: &Path, module: &Names) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "tests" {
                self.read_folder(&path, &joined(module, &[name]));
            } else if path.extension().is_some_and(|extension| extension == "rs") && name != "tests" {
                let is_own = ["lib", "mod"].contains(&name.as_str());
                let module = if is_own { module.clone() } else { joined(module, &[name]) };
                let text = fs::read_to_string(&path).unwrap();
                self.scan(&mut tokens(&text).iter().peekable(), &path, &module);
            }
        }
    }

    /// Reads a module up to the brace that closes it.
    fn scan(&mut self, tokens: &mut Tokens, file: &Path, module: &Names) {
        self.modules.insert(module.clone(), Module { file: file.into(), used: BTreeMap::new() });
        let (mut depth, mut is_public, mut before) = (0, false, "");
        while let Some(&token) = tokens.next() {
            match token {
                "#" if is_of_tests(tokens) => skip_item(tokens),
                // Code that a macro writes elsewhere.
                "quote" if tokens.next_if_eq(&&"!").is_some() && tokens.peek() == Some(&&"{") => {
                    skip_item(tokens);
                }
                "mod" => {
                    let child = joined(module, &[tokens.next().unwrap().to_string()]);
                    if tokens.next() == Some(&"{") {
                        self.scan(tokens, file, &child);
                    }
                }
                // What an `impl Trait` captures.
                "use" if before == "+" => {}
                "use" => {
                    let mut leaves = vec![];
                    use_tree(tokens, vec![], &mut leaves);
                    for (name, path) in leaves {
                        if !is_public {
                            self.mentions.push((module.clone(), path.clone()));
                        }
                        // One name alone is a crate's, or a macro's that stands above.
                        if path.len() > 1 && name != "*" {
                            self.modules.get_mut(module).unwrap().used.insert(name, path);
                        }
                    }
                }
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" => depth -= 1,
                _ if is_name(token) && !["::", "$", ".", "fn"].contains(&before) => {
                    let mut path = vec![token.to_string()];
                    while tokens.next_if_eq(&&"::").is_some() {
                        path.extend(tokens.next_if(|token| is_name(token)).map(|name| name.to_string()));
                    }
                    self.mentions.push((module.clone(), path));
                }
                _ => {}
            }
            // `pub`, `pub(crate)` or `pub(super)` stands in front of what comes next.
            is_public = token == "pub" || is_public && ["(", "crate", "super", ")"].contains(&token);
            before = token;
        }
    }

    /// The files that each file takes something from.
    fn imports(&self) -> Imports {
        let mut imports: Imports =
            self.modules.values().map(|module| (module.file.clone(), BTreeSet::new())).collect();
        for (module, path) in &self.mentions {
            let file = &self.modules[module].file;
            if let Some(source) = self.file_of_item(module, path, 0).filter(|source| *source != file) {
                imports.get_mut(file).unwrap().insert(source.clone());
            }
        }
        imports
    }

    /// The file that defines the item which `path` is in `module`; `None` for modules, names of the file's
    /// own, and other crates. `depth` counts re-exports.
    fn file_of_item(&self, module: &Names, path: &[String], depth: u32) -> Option<&PathBuf> {
        let mut at = module.clone();
        for (k, name) in path.iter().enumerate() {
            let child = joined(&at, std::slice::from_ref(name));
            match name.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                _ if self.modules.contains_key(&child) => at = child,
                _ => {
                    let module = &self.modules[&at];
                    return match module.used.get(name) {
                        Some(from) if depth < 20 => {
                            self.file_of_item(&at, &joined(from, &path[k + 1..]), depth + 1)
                        }
                        _ => (k > 0).then_some(&module.file),
                    };
                }
            }
        }
        None
    }
}

/// Reads what `use` brings in: each name with the path that it stands for.
fn use_tree(tokens: &mut Tokens, mut path: Names, leaves: &mut Vec<(String, Names)>) {
    while let Some(&token) = tokens.next_if(|token| ![",", "}", ";"].contains(token)) {
        match token {
            "::" => {}
            "{" => {
                while tokens.next_if_eq(&&"}").is_none() {
                    use_tree(tokens, path.clone(), leaves);
                    tokens.next_if_eq(&&",");
                }
                return;
            }
            "as" => return leaves.push((tokens.next().unwrap().to_string(), path)),
            // `a::{self}` is a.
            "self" if !path.is_empty() => {}
            name => path.push(name.into()),
        }
    }
    leaves.extend(path.last().cloned().map(|name| (name, path)));
}

/// Takes the attribute that has begun; whether it is `#[cfg(test)]`.
fn is_of_tests(tokens: &mut Tokens) -> bool {
    ["[", "cfg", "(", "test", ")", "]"].iter().all(|expected| tokens.next_if_eq(&expected).is_some())
}

/// Takes an item, to its semicolon or through its braces.
fn skip_item(tokens: &mut Tokens) {
    let mut depth = 0;
    for &token in tokens {
        match token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 && [";", "}"].contains(&token) {
            return;
        }
    }
}

/// The names and signs of a Rust source, without comments and strings.
fn tokens(source: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (vec![], source);
    while let Some(first) = rest.chars().next() {
        let name = rest.len() - rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_').len();
        let hashes =
            rest.strip_prefix('r').map_or("", |raw| &raw[..raw.len() - raw.trim_start_matches('#').len()]);
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").unwrap() + 2
        } else if first == 'r' && rest[1 + hashes.len()..].starts_with('"') {
            let start = 2 + hashes.len();
            start + rest[start..].find(&format!("\"{hashes}")).unwrap() + 1 + hashes.len()
        } else if first == '"' {
            quoted(rest, '"')
        } else if rest.starts_with("'\\") || first == '\'' && rest.chars().nth(2) == Some('\'') {
            quoted(rest, '\'')
        } else if first == '\'' {
            // A lifetime, with its name.
            1 + rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap()
        } else if rest.starts_with("r#") {
            2
        } else {
            let length = if name > 0 {
                name
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.extend(Some(&rest[..length]).filter(|_| !first.is_whitespace()));
            length
        };
        rest = &rest[length..];
    }
    tokens
}

/// The length of a literal between such quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let end = text[1..].find(|c| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    end.unwrap() + 2
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn joined(names: &[String], more: &[String]) -> Names {
    [names, more].concat()
}

/// The files that import each other, circle by circle.
fn circles(imports: &Imports) -> Vec<BTreeSet<PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> = imports
        .keys()
        .map(|file| {
            let (mut reached, mut next) = (BTreeSet::new(), vec![file]);
            while let Some(file) = next.pop() {
                next.extend(imports[file].iter().filter(|imported| reached.insert(*imported)));
            }
            (file, reached)
        })
        .collect();
    let mut circles: Vec<BTreeSet<PathBuf>> = vec![];
    for (file, from_it) in &reached {
        if from_it.contains(file) && !circles.iter().any(|circle| circle.contains(*file)) {
            let back = from_it.iter().filter(|other| reached[*other].contains(file));
            circles.push(back.map(|file| file.to_path_buf()).collect());
        }
    }
    circles
}

#[test]
fn circles_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("lib.rs", "mod a; mod b; mod c; pub use a::{self, Item as Thing}; pub use c::four;");
    // Through a re-export that has another name; a comment, a string and a test import nothing.
    write("a.rs", "use crate::b::{self}; pub struct Item; fn one() -> usize { b::two::<u8>() }");
    write("b.rs", "pub fn two<T>() -> usize { let _ = super::Thing; 'x'.len_utf8() }");
    write(
        "c.rs",
        "// super::a::Item\nconst C: &str = r#\"super::a::Item\"#; pub fn four() {} #[cfg(test)] mod tests { use super::*; use crate::a; }",
    );
    let mut sources = Sources::default();
    sources.read_folder(folder.path(), &vec![]);
    let imports = sources.imports();
    let file = |name: &str| folder.path().join(name);
    assert_eq!(imports[&file("a.rs")], BTreeSet::from([file("b.rs")]));
    assert_eq!(imports[&file("b.rs")], BTreeSet::from([file("a.rs")]));
    assert_eq!((imports[&file("c.rs")].len(), imports[&file("lib.rs")].len()), (0, 0));
    assert_eq!(circles(&imports), [BTreeSet::from([file("a.rs"), file("b.rs")])]);
}
