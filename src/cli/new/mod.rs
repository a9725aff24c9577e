//! `warpsolve new`: a project with a GPU kernel, to begin from.

mod name;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use warpsolve::{Error, Result};

use super::args::NewArgs;
use super::output::print;
use super::status::SUCCESS;

/// Where each file goes, and what is in it.
const FILES: [(&str, &str); 9] = [
    ("Cargo.toml", include_str!("template/Cargo.toml.txt")),
    ("build.rs", include_str!("template/build.rs")),
    ("src/main.rs", include_str!("template/main.rs")),
    ("kernels/Cargo.toml", include_str!("template/kernels.toml.txt")),
    ("kernels/src/lib.rs", include_str!("template/kernels.rs")),
    ("kernels/tests/simulator.rs", include_str!("template/simulator.rs")),
    (".github/workflows/ci.yml", include_str!("template/ci.yml")),
    (".gitignore", include_str!("template/gitignore.txt")),
    ("README.md", include_str!("template/README.md.txt")),
];

/// The crates that a project depends on: their names in the template, which are those of their folders.
const CRATES: [&str; 3] = ["cuda_std", "cuda_builder", "cust"];

/// Writes the project; returns the exit status.
pub fn run(args: NewArgs) -> Result<u8> {
    name::check(&args.name)?;
    let folder = Path::new(&args.name);
    check_folder(folder)?;
    let crates = args.crates.as_deref().map(checkout).transpose()?;
    let fill = |text: &str| {
        CRATES.iter().fold(text.replace("{name}", &args.name), |text, name| {
            text.replace(&format!("{{{name}}}"), &source(crates.as_deref(), name))
        })
    };
    for (file, text) in FILES {
        let text =
            if file.ends_with("ci.yml") && crates.is_some() { from_registry(text) } else { text.into() };
        write(&folder.join(file), &fill(&text))?;
    }
    let name = &args.name;
    print(&format!(
        "{name}: {} files, with a kernel, its test in the simulator, and a program. Go on with\n\n  \
         cd {name}\n  rustup component add rust-src\n  cargo test --workspace\n  cargo run\n",
        FILES.len()
    ))?;
    if crates.is_none() {
        print(
            "\nThe GPU crates come from the registry. Where they are not there yet, name a copy of the repository: --crates PATH\n",
        )?;
    }
    Ok(SUCCESS)
}

/// Refuses a folder that has something in it, and what is none.
fn check_folder(folder: &Path) -> Result<()> {
    let what = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => "is a file",
        Err(error) => return Err(Error::io("read", folder, error)),
        Ok(entries) => match entries.into_iter().next() {
            None => return Ok(()),
            Some(_) => "is a folder that is not empty",
        },
    };
    Err(Error::Option(format!("{} {what}; take another name", folder.display())))
}

/// The folder of crates in a copy of warpsolve's repository, from the root of the file system.
fn checkout(repository: &Path) -> Result<PathBuf> {
    let crates = repository.join("crates");
    if let Some(missing) = CRATES.iter().find(|name| !crates.join(name).join("Cargo.toml").is_file()) {
        return Err(Error::Option(format!(
            "--crates {}: it has no crates/{missing}; name a copy of warpsolve's repository",
            repository.display()
        )));
    }
    crates.canonicalize().map_err(|error| Error::io("find", crates, error))
}

/// Where a crate comes from, as manifests say it.
fn source(crates: Option<&Path>, name: &str) -> String {
    match crates {
        Some(crates) => {
            let path = crates.join(name).display().to_string();
            format!("path = \"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
        }
        None => format!("version = \"{}\"", env!("CARGO_PKG_VERSION")),
    }
}

/// The tests on every push of a project that takes the crates from a folder of this machine, which no other
/// has: those of the registry take their place.
fn from_registry(text: &str) -> String {
    let checkout = "      - uses: actions/checkout@v4\n";
    let replace = format!(
        "      # Cargo.toml names a folder of the machine that this project was made on.\n      \
         - run: sed -i 's|path = \"[^\"]*crates[^\"]*\"|version = \"{}\"|' Cargo.toml\n",
        env!("CARGO_PKG_VERSION")
    );
    text.replace(checkout, &format!("{checkout}{replace}"))
}

/// Writes a file, and the folders to it.
fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Error::io("create the folder", folder, error))?;
    }
    fs::write(path, text).map_err(|error| Error::io("write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_machines_take_the_crates_from_the_registry() {
        let (_, text) = FILES.into_iter().find(|(file, _)| file.ends_with("ci.yml")).unwrap();
        let text = from_registry(text);
        let replaced =
            text.find("sed -i 's|path = \"[^\"]*crates[^\"]*\"|version = ").expect("a line that does it");
        assert!(replaced < text.find("cargo fmt").unwrap(), "{text}");
    }
}
