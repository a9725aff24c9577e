//! `new`. That the project builds and passes its tests is seen by `.ci/run new`.

use std::fs;
use std::path::Path;

use super::Shell;

/// The files of a project, without the folders.
const FILES: [&str; 9] = [
    ".github/workflows/ci.yml",
    ".gitignore",
    "Cargo.toml",
    "README.md",
    "build.rs",
    "kernels/Cargo.toml",
    "kernels/src/lib.rs",
    "kernels/tests/simulator.rs",
    "src/main.rs",
];

/// Every file below a folder, from there.
fn files(root: &Path) -> Vec<String> {
    let (mut folders, mut found) = (vec![root.to_path_buf()], vec![]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_project_has_its_files_and_dependencies() {
    let shell = Shell::new();
    let repository = env!("CARGO_MANIFEST_DIR");
    // An empty folder may be there.
    fs::create_dir(shell.path("heat-waves")).unwrap();
    let (stdout, stderr) = shell.run(&format!("new heat-waves --crates {repository}"), 0);
    assert_eq!(stderr, "");
    assert!(stdout.starts_with("heat-waves: 9 files") && stdout.contains("\n  cd heat-waves\n"), "{stdout}");
    let folder = shell.path("heat-waves");
    assert_eq!(files(&folder), FILES);
    for file in FILES {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let placeholder = ["{name}", "{cust}", "{cuda_std}", "{cuda_builder}"];
        assert!(placeholder.iter().all(|place| !text.contains(place)), "{file}: {text}");
    }
    let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
    assert_eq!(manifest["package"]["name"].as_str(), Some("heat-waves"));
    for name in ["cuda_std", "cuda_builder", "cust"] {
        let path = manifest["workspace"]["dependencies"][name]["path"].as_str().unwrap();
        assert!(Path::new(path).join("Cargo.toml").is_file() && Path::new(path).is_absolute(), "{path}");
        assert!(path.ends_with(&format!("crates/{name}")));
    }
    assert!(fs::read_to_string(folder.join("README.md")).unwrap().starts_with("# heat-waves\n"));
}

#[test]
fn without_a_copy_the_crates_come_from_the_registry() {
    let shell = Shell::new();
    shell.run("new waves", 0);
    let manifest: toml::Table = fs::read_to_string(shell.path("waves/Cargo.toml")).unwrap().parse().unwrap();
    let cust = &manifest["workspace"]["dependencies"]["cust"];
    assert_eq!(cust["package"].as_str(), Some("warpsolve-cust"));
    assert_eq!(cust["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_is_there_is_left_alone_and_names_are_those_of_crates() {
    let shell = Shell::new();
    fs::create_dir(shell.path("full")).unwrap();
    shell.file("full/notes.txt", "mine");
    shell.file("taken", "mine");
    for (line, expected) in [
        ("new full", "error: full is a folder that is not empty; take another name\n"),
        ("new taken", "error: taken is a file; take another name\n"),
        ("new 3d", "error: \"3d\" does not begin with a letter, as names of crates do; take another name"),
        ("new ../x", "error: \"../x\" has '.' in it: names of crates are made of letters, digits, - and _; "),
        ("new fn", "error: \"fn\" is a word of Rust; take another name, such as my-kernels\n"),
        ("new kernels", "error: \"kernels\" is a crate that the project uses; "),
        (
            "new x --crates full",
            "error: --crates full: it has no crates/cuda_std; name a copy of warpsolve's ",
        ),
    ] {
        let (stdout, stderr) = shell.run(line, 1);
        assert!(stdout.is_empty() && stderr.starts_with(expected), "{line}: {stderr}");
    }
    assert!(!shell.path("x").exists());
    assert_eq!(files(&shell.path("full")), ["notes.txt"]);
    assert_eq!(fs::read_to_string(shell.path("taken")).unwrap(), "mine");
}
