//! Finding a Rust toolchain that can compile for the GPU.
//!
//! rustc carries the NVPTX backend everywhere; what a plain installation lacks is `core` for
//! `nvptx64-nvidia-cuda`, and that is compiled here from the toolchain's own source. So a toolchain
//! will do when its sysroot holds `lib/rustlib/src/rust/library/core`: rustup's component
//! `rust-src`, or a distribution's package of that name.

use crate::error::{BuildError, TOOLCHAIN_VARIABLE};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest minor version of Rust 1 that will do: edition 2024, `-Cpanic=immediate-abort`.
const OLDEST_MINOR: u32 = 95;

/// A Rust toolchain that holds the source of `core`.
///
/// ```no_run
/// use cuda_builder::Toolchain;
///
/// match Toolchain::find() {
///     Ok(toolchain) => println!("kernels are compiled by {}", toolchain.version),
///     Err(why) => println!("{why}"),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler, not a rustup proxy.
    pub rustc: PathBuf,
    /// The cargo that belongs to it.
    pub cargo: PathBuf,
    /// The folder that holds `core/`.
    pub library: PathBuf,
    /// Version, commit and LLVM: "rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8". PTX is the same
    /// byte for byte where this is.
    pub version: String,
}

/// Where to look, so that tests can look elsewhere.
#[derive(Debug, Default)]
struct Places {
    /// The prefix named by [`TOOLCHAIN_VARIABLE`]; when there is one, nothing else counts.
    named: Option<PathBuf>,
    /// The compiler and the cargo that run the present build.
    running: Option<(PathBuf, Option<PathBuf>)>,
    /// Prefixes of distributions.
    prefixes: Vec<PathBuf>,
    /// rustup's folder of toolchains.
    rustup: Option<PathBuf>,
}

impl Places {
    fn from_environment() -> Self {
        let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from);
        let rustup = env::var_os("RUSTUP_HOME").map(PathBuf::from).or(home.map(|home| home.join(".rustup")));
        Places {
            named: env::var_os(TOOLCHAIN_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from),
            running: Some((
                env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()).into(),
                env::var_os("CARGO").map(PathBuf::from),
            )),
            prefixes: vec!["/usr".into()],
            rustup: rustup.map(|rustup| rustup.join("toolchains")),
        }
    }
}

impl Toolchain {
    /// The first that will do of: the one named by [`TOOLCHAIN_VARIABLE`] (and then no other), the one
    /// that runs this build, the distribution's under `/usr`, rustup's others, newest release first.
    ///
    /// ```no_run
    /// # use cuda_builder::Toolchain;
    /// let toolchain = Toolchain::find()?;
    /// assert!(toolchain.library.join("core").is_dir());
    /// # Ok::<(), cuda_builder::BuildError>(())
    /// ```
    pub fn find() -> Result<Self, BuildError> {
        find_in(&Places::from_environment())
    }

    /// Asks `rustc` who it is; the error says what is missing.
    fn probe(rustc: &Path, cargo: Option<&Path>) -> Result<Self, String> {
        let verbose = ask(rustc, &["-vV"])?;
        let sysroot = PathBuf::from(ask(rustc, &["--print", "sysroot"])?.trim());
        let field = |name: &str| {
            verbose.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).unwrap_or("unknown")
        };
        let release = field("release:");
        if minor_version(release).is_none_or(|minor| minor < OLDEST_MINOR) {
            return Err(format!("is Rust {release}, and 1.{OLDEST_MINOR} is the oldest that will do"));
        }
        let library = sysroot.join("lib/rustlib/src/rust/library");
        if !library.join("core/src/lib.rs").is_file() {
            return Err(format!("is Rust {release} without the source of `core` (rust-src)"));
        }
        // The sysroot's own programs: `rustc` itself may be a rustup proxy, and its answer depends
        // on the folder it is called in.
        let beside = |name: &str| Some(sysroot.join("bin").join(exe(name))).filter(|path| path.is_file());
        let cargo =
            beside("cargo").or(cargo.map(Path::to_path_buf)).ok_or("has no cargo beside it (cargo-web)")?;
        // "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)": the rest says who built it.
        let first = verbose.lines().next().unwrap_or_default();
        let version = first.split_inclusive(')').next().unwrap_or(first);
        Ok(Toolchain {
            rustc: beside("rustc").unwrap_or_else(|| rustc.to_path_buf()),
            cargo,
            library,
            version: format!("{version}, LLVM {}", field("LLVM version:")),
        })
    }
}

fn find_in(places: &Places) -> Result<Toolchain, BuildError> {
    let mut tried = Vec::new();
    let mut attempt = |rustc: PathBuf, cargo: Option<&Path>| match Toolchain::probe(&rustc, cargo) {
        Ok(toolchain) => Some(toolchain),
        Err(why) => {
            tried.push((rustc, why));
            None
        }
    };
    let in_prefix = |prefix: &Path| prefix.join("bin").join(exe("rustc"));
    let mut found = None;
    if let Some(prefix) = &places.named {
        found = attempt(in_prefix(prefix), None);
    } else {
        if let Some((rustc, cargo)) = &places.running {
            found = attempt(rustc.clone(), cargo.as_deref());
        }
        let others = places.prefixes.iter().cloned();
        for prefix in others.chain(places.rustup.iter().flat_map(|folder| rustup_toolchains(folder))) {
            found = found.or_else(|| attempt(in_prefix(&prefix), None));
        }
    }
    found.ok_or(BuildError::NoToolchain { tried })
}

/// Toolchains installed by rustup: releases before channels (a nightly may break what is unstable),
/// newest first.
fn rustup_toolchains(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut toolchains: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    let rank = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (minor_version(&name), name.starts_with("stable"), name)
    };
    toolchains.sort_by_key(|path| std::cmp::Reverse(rank(path)));
    toolchains
}

/// 95 of "1.95.0", "1.95.0-x86_64-unknown-linux-gnu".
fn minor_version(release: &str) -> Option<u32> {
    release.strip_prefix("1.")?.split(['.', '-']).next()?.parse().ok()
}

fn ask(rustc: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(rustc)
        .args(arguments)
        .output()
        .map_err(|error| format!("does not run ({})", error.kind()))?;
    if !output.status.success() {
        return Err(format!("does not run ({})", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn exe(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A folder that answers like a toolchain.
    fn fake(prefix: &Path, release: &str, with_source: bool, with_cargo: bool) {
        fs::create_dir_all(prefix.join("bin")).unwrap();
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --print ]; then echo '{}'; else\n\
             printf 'rustc {release} (0a1b2c3 2026-01-02) (Debian)\\nrelease: {release}\\nLLVM version: 22.1.8\\n'; fi\n",
            prefix.display()
        );
        write_executable(&prefix.join("bin/rustc"), &script);
        if with_cargo {
            write_executable(&prefix.join("bin/cargo"), "#!/bin/sh\n");
        }
        if with_source {
            let core = prefix.join("lib/rustlib/src/rust/library/core/src");
            fs::create_dir_all(&core).unwrap();
            fs::write(core.join("lib.rs"), "").unwrap();
        }
    }

    fn write_executable(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn the_running_toolchain_comes_first_then_the_distribution_then_rustup() {
        let root = tempfile::tempdir().unwrap();
        let [running, usr, rustup] = ["running", "usr", "rustup"].map(|name| root.path().join(name));
        let newest = rustup.join("1.102.0-x86_64-unknown-linux-gnu");
        fake(&running, "1.95.0", true, true);
        fake(&usr, "1.96.0", true, true);
        fake(&rustup.join("nightly-x86_64-unknown-linux-gnu"), "1.104.0-nightly", true, true);
        fake(&rustup.join("1.98.0-x86_64-unknown-linux-gnu"), "1.98.0", true, true);
        fake(&newest, "1.102.0", true, true);
        let places = Places {
            named: None,
            running: Some((running.join("bin/rustc"), None)),
            prefixes: vec![usr.clone()],
            rustup: Some(rustup),
        };

        let found = find_in(&places).unwrap();
        assert_eq!(found.rustc, running.join("bin/rustc"));
        assert_eq!(found.cargo, running.join("bin/cargo"));
        assert_eq!(found.library, running.join("lib/rustlib/src/rust/library"));
        assert_eq!(found.version, "rustc 1.95.0 (0a1b2c3 2026-01-02), LLVM 22.1.8");

        fs::remove_dir_all(running.join("lib")).unwrap();
        assert_eq!(find_in(&places).unwrap().rustc, usr.join("bin/rustc"));

        fs::remove_dir_all(&usr).unwrap();
        assert_eq!(find_in(&places).unwrap().rustc, newest.join("bin/rustc"));
    }

    #[test]
    fn a_named_toolchain_excludes_all_others() {
        let root = tempfile::tempdir().unwrap();
        let [named, usr] = ["named", "usr"].map(|name| root.path().join(name));
        fake(&usr, "1.96.0", true, true);
        let places = Places { named: Some(named.clone()), prefixes: vec![usr], ..Places::default() };
        let Err(BuildError::NoToolchain { tried }) = find_in(&places) else { panic!("found another") };
        assert_eq!(tried.len(), 1);
        assert_eq!(tried[0].0, named.join("bin/rustc"));

        fake(&named, "1.97.0", true, true);
        assert_eq!(find_in(&places).unwrap().rustc, named.join("bin/rustc"));
    }

    #[test]
    fn the_error_says_what_each_place_lacks_and_what_to_install() {
        let root = tempfile::tempdir().unwrap();
        let names = ["old", "bare", "cargoless"];
        let [old, bare, cargoless] = names.map(|name| root.path().join(name));
        fake(&old, "1.94.1", true, true);
        fake(&bare, "1.96.0", false, true);
        fake(&cargoless, "1.96.0", true, false);
        let prefixes = vec![old, bare, cargoless, root.path().join("nowhere")];
        let message = find_in(&Places { prefixes, ..Places::default() }).unwrap_err().to_string();
        for part in [
            "old/bin/rustc: is Rust 1.94.1, and 1.95 is the oldest",
            "bare/bin/rustc: is Rust 1.96.0 without the source of `core`",
            "cargoless/bin/rustc: has no cargo",
            "nowhere/bin/rustc: does not run",
            "rustup component add rust-src",
            "apt-get install rustc-web cargo-web rust-web-src",
            "WARPSOLVE_PTX_TOOLCHAIN",
        ] {
            assert!(message.contains(part), "no \"{part}\" in:\n{message}");
        }
    }

    #[test]
    fn a_cargo_of_the_running_build_serves_a_sysroot_without_one() {
        let root = tempfile::tempdir().unwrap();
        let prefix = root.path().join("sysroot");
        fake(&prefix, "1.96.0", true, false);
        let cargo = root.path().join("elsewhere/cargo");
        let running = Some((prefix.join("bin/rustc"), Some(cargo.clone())));
        assert_eq!(find_in(&Places { running, ..Places::default() }).unwrap().cargo, cargo);
    }
}
