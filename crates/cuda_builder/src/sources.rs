//! The sources that determine the PTX, and their fingerprint.

use crate::error::BuildError;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel crate and the crates in this repository that it is built from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sources {
    /// Name of the kernel crate.
    pub package: String,
    /// Name of its library target.
    pub library: String,
    /// The file that its library begins with.
    pub root: PathBuf,
    /// The folder that holds the `Cargo.lock`.
    pub workspace: PathBuf,
    /// Name and folder of the kernel crate and of everything it depends on by path, sorted by name.
    pub crates: Vec<(String, PathBuf)>,
}

impl Sources {
    /// Reads the manifests of the workspace that the crate in `folder` belongs to.
    pub fn of(folder: &Path) -> Result<Self, BuildError> {
        let fault = |message: String| BuildError::Manifest { path: folder.to_path_buf(), message };
        let folder = folder.canonicalize().map_err(|error| fault(error.to_string()))?;
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
            .arg(plain(&folder).join("Cargo.toml"))
            .output()
            .map_err(|error| fault(format!("cargo does not run: {error}")))?;
        if !output.status.success() {
            return Err(fault(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let metadata: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| fault(error.to_string()))?;
        Self::from_metadata(&metadata, plain(&folder))
            .ok_or_else(|| fault("`cargo metadata` does not list it".into()))
    }

    fn from_metadata(metadata: &Value, folder: &Path) -> Option<Self> {
        let packages = metadata["packages"].as_array()?;
        let package_in = |folder: &Path| {
            packages.iter().find(|package| {
                package["manifest_path"].as_str().is_some_and(|path| Path::new(path).parent() == Some(folder))
            })
        };
        let root = package_in(folder)?;
        let mut crates = vec![(root["name"].as_str()?.to_owned(), folder.to_path_buf())];
        let mut next = 0;
        while next < crates.len() {
            let package = package_in(&crates[next].1);
            let dependencies = package.and_then(|package| package["dependencies"].as_array());
            for dependency in dependencies.into_iter().flatten().filter(|it| it["kind"] != "dev") {
                if let (Some(name), Some(path)) = (dependency["name"].as_str(), dependency["path"].as_str())
                    && crates.iter().all(|(_, known)| known != Path::new(path))
                {
                    crates.push((name.to_owned(), path.into()));
                }
            }
            next += 1;
        }
        crates.sort();
        let is_library = |target: &&Value| {
            target["crate_types"].as_array().is_some_and(|types| types.iter().any(|it| it != "bin"))
        };
        let library = root["targets"].as_array()?.iter().find(is_library)?;
        Some(Sources {
            package: root["name"].as_str()?.to_owned(),
            library: library["name"].as_str()?.replace('-', "_"),
            root: library["src_path"].as_str()?.into(),
            workspace: metadata["workspace_root"].as_str()?.into(),
            crates,
        })
    }

    /// What a crate of kernels needs at its head and need not say there: that it has no `std`, and the
    /// features that `#[kernel]` uses.
    pub fn missing_attributes(&self) -> Result<Vec<String>, BuildError> {
        let text = fs::read_to_string(&self.root).map_err(BuildError::io("read", &self.root))?;
        let features = ["abi_ptx", "asm_experimental_arch"].map(|name| (name, format!("feature({name})")));
        let known = features.into_iter().chain([("no_std", "no_std".to_owned())]);
        Ok(known.filter(|(word, _)| !text.contains(word)).map(|(_, attribute)| attribute).collect())
    }

    /// SHA-256 over names and contents of every source file, whatever its line ends, and over `recipe`.
    pub fn fingerprint(&self, recipe: &str) -> Result<String, BuildError> {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(recipe.as_bytes());
        for (name, folder) in &self.crates {
            for file in source_files(folder)? {
                let bytes =
                    fs::read(folder.join(&file)).map_err(BuildError::io("read", folder.join(&file)))?;
                add(format!("{name}/{file}").as_bytes());
                add(&unix_lines(&bytes));
            }
        }
        Ok(hex(&hash.finalize()))
    }
}

/// SHA-256 of bytes.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a text, whatever its line ends.
pub(crate) fn text_hash(text: &[u8]) -> String {
    hex(&Sha256::digest(unix_lines(text)))
}

/// `Cargo.toml` and everything under `src`, as sorted paths with `/` in them.
fn source_files(folder: &Path) -> Result<Vec<String>, BuildError> {
    let mut files = vec!["Cargo.toml".to_owned()];
    let mut folders = vec!["src".to_owned()];
    while let Some(relative) = folders.pop() {
        let path = folder.join(&relative);
        for entry in fs::read_dir(&path).map_err(BuildError::io("list", &path))? {
            let entry = entry.map_err(BuildError::io("list", &path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // What editors leave behind.
            if name.starts_with('.') || name.ends_with('~') {
                continue;
            }
            let inner = format!("{relative}/{name}");
            if entry.path().is_dir() { folders.push(inner) } else { files.push(inner) }
        }
    }
    files.sort();
    Ok(files)
}

fn unix_lines(bytes: &[u8]) -> Vec<u8> {
    let kept = |&i: &usize| !(bytes[i] == b'\r' && bytes.get(i + 1) == Some(&b'\n'));
    (0..bytes.len()).filter(kept).map(|i| bytes[i]).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Without the `\\?\` that Windows puts before canonical paths, and that cargo does not print.
fn plain(path: &Path) -> &Path {
    path.to_str().and_then(|text| text.strip_prefix(r"\\?\")).map_or(path, Path::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn two_crates(root: &Path, line_end: &str) -> Sources {
        let crates = ["kernels", "std"].map(|name| (name.to_owned(), root.join(name)));
        for (name, folder) in &crates {
            fs::create_dir_all(folder.join("src/inner")).unwrap();
            fs::write(folder.join("Cargo.toml"), format!("[package]{line_end}name = \"{name}\"{line_end}"))
                .unwrap();
            fs::write(folder.join("src/lib.rs"), format!("mod inner;{line_end}")).unwrap();
            fs::write(folder.join("src/inner/mod.rs"), "// \r alone stays\n").unwrap();
        }
        Sources {
            package: "kernels".into(),
            library: "kernels".into(),
            root: root.join("kernels/src/lib.rs"),
            workspace: root.into(),
            crates: crates.into(),
        }
    }

    #[test]
    fn the_fingerprint_ignores_place_and_line_ends_only() {
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let unix = two_crates(here.path(), "\n");
        let expected = unix.fingerprint("-O").unwrap();
        assert_eq!(expected.len(), 64);
        assert_eq!(two_crates(there.path(), "\r\n").fingerprint("-O").unwrap(), expected);
        assert_ne!(unix.fingerprint("-O3").unwrap(), expected);

        // Left behind by an editor: no source.
        fs::write(here.path().join("std/src/.lib.rs.swp"), "x").unwrap();
        fs::write(here.path().join("std/src/lib.rs~"), "x").unwrap();
        assert_eq!(unix.fingerprint("-O").unwrap(), expected);

        let inner = here.path().join("std/src/inner");
        fs::write(inner.join("mod.rs"), "//  alone stays\n").unwrap();
        let without_return = unix.fingerprint("-O").unwrap();
        assert_ne!(without_return, expected);
        fs::rename(inner.join("mod.rs"), inner.join("nom.rs")).unwrap();
        assert_ne!(unix.fingerprint("-O").unwrap(), without_return);
    }

    #[test]
    fn hashes_are_those_of_sha256() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(text_hash(b"abc"), abc);
        assert_eq!(text_hash(b"a\r\nb\n"), text_hash(b"a\nb\n"));
    }

    #[test]
    fn path_dependencies_are_followed_and_dev_dependencies_are_not() {
        let metadata = json!({
            "workspace_root": "/w",
            "packages": [
                { "name": "gpu-kernels", "manifest_path": "/w/gpu/Cargo.toml",
                  "targets": [{ "name": "bench", "crate_types": ["bin"] },
                              { "name": "gpu-kernels", "crate_types": ["rlib"],
                                "src_path": "/w/gpu/src/lib.rs" }],
                  "dependencies": [{ "name": "cuda_std", "kind": null, "path": "/w/std" },
                                   { "name": "host", "kind": "dev", "path": "/w/host" },
                                   { "name": "libm", "kind": null }] },
                { "name": "cuda_std", "manifest_path": "/w/std/Cargo.toml", "targets": [],
                  "dependencies": [{ "name": "a_macro", "kind": null, "path": "/w/macro" }] },
                { "name": "a_macro", "manifest_path": "/w/macro/Cargo.toml", "targets": [], "dependencies": [] },
                { "name": "host", "manifest_path": "/w/host/Cargo.toml", "targets": [], "dependencies": [] },
            ]
        });
        let sources = Sources::from_metadata(&metadata, Path::new("/w/gpu")).unwrap();
        let names: Vec<&str> = sources.crates.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a_macro", "cuda_std", "gpu-kernels"]);
        assert_eq!((sources.package.as_str(), sources.library.as_str()), ("gpu-kernels", "gpu_kernels"));
        assert_eq!(Sources::from_metadata(&metadata, Path::new("/w/absent")), None);
    }
}
