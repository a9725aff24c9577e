//! Compiling: `core` and `alloc` once for a toolchain, then the kernel crate once for each target.
//!
//! `core` is compiled by one call of rustc and not by cargo's `-Zbuild-std`, because that resolves the
//! dependencies of all of `std` and so wants a network (or vendored crates) where nothing of the kind
//! is needed. Neither step links anything: rustc is told to stop after it has written the assembly,
//! and assembly for this target is PTX.

use crate::arithmetic::Arithmetic;
use crate::error::BuildError;
use crate::sources::{Sources, text_hash};
use crate::toolchain::Toolchain;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "nvptx64-nvidia-cuda";

/// Arguments of rustc that shape the code, for `core` and for kernels.
const CODE: [&str; 3] = [
    // Jump threading copies a block with a barrier in it, and then the threads of a block wait at two
    // different barriers (rust-lang/rust#137086; rustc 1.95 and 1.96).
    "-Zmir-enable-passes=-JumpThreading",
    "-Zunstable-options",
    "-Cstrip=debuginfo",
];
/// A failed bounds check is one `trap`: no call, no message, no names of files in the PTX.
const WITHOUT_MESSAGES: [&str; 2] = ["-Cpanic=immediate-abort", "-Zlocation-detail=none"];

/// The runtime routines that rustc wants to exist; NVPTX needs none of them but `memcmp` (see
/// [`crate::text`]).
const BUILTINS: &str = "#![no_std]\n#![feature(compiler_builtins)]\n#![compiler_builtins]\n";

/// What cargo must not inherit: the settings of the build that runs this one. (Network, registry and the
/// host's linker are the user's, and stay.)
const INHERITED: [&str; 8] = ["CARGO", "RUST", "TARGET", "HOST", "OUT_DIR", "MAKEFLAGS", "MFLAGS", "__CARGO"];
const KEPT: [&str; 7] = [
    "CARGO_HOME",
    "CARGO_TARGET_",
    "CARGO_NET_",
    "CARGO_HTTP_",
    "CARGO_REGISTR",
    "CARGO_SOURCE_",
    "RUSTUP_HOME",
];

/// What kind of code is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Profile {
    /// Optimised.
    pub release: bool,
    /// With the lines of the source in the PTX.
    pub line_info: bool,
    /// With messages of panics.
    pub messages: bool,
    pub arithmetic: Arithmetic,
}

impl Profile {
    /// Cargo's settings, each as environment variable without `CARGO_PROFILE_RELEASE_`; the workspace's
    /// own release profile is the host's business and must not leak in.
    fn settings(self) -> [(&'static str, &'static str); 9] {
        let checks = if self.release { "false" } else { "true" };
        [
            ("OPT_LEVEL", if self.release { "3" } else { "1" }),
            ("DEBUG_ASSERTIONS", checks),
            ("OVERFLOW_CHECKS", checks),
            ("LTO", "fat"),
            ("CODEGEN_UNITS", "1"),
            ("PANIC", "abort"),
            ("DEBUG", if self.line_info { "line-directives-only" } else { "false" }),
            ("INCREMENTAL", "false"),
            ("STRIP", "debuginfo"),
        ]
    }

    /// Arguments of rustc.
    fn code(self) -> Vec<&'static str> {
        let panics: &[&str] = if self.messages { &["-Cpanic=abort"] } else { &WITHOUT_MESSAGES };
        [&CODE, panics].concat()
    }

    /// All that shapes the PTX besides sources and compiler, as one text.
    pub fn recipe(self) -> String {
        let recipe = format!("{:?} {:?}", self.code(), self.settings());
        if self.arithmetic == Arithmetic::default() {
            recipe
        } else {
            format!("{recipe} {:?}", self.arithmetic)
        }
    }
}

/// One compilation of a kernel crate, for as many targets as wanted.
pub(crate) struct Compilation<'a> {
    pub toolchain: &'a Toolchain,
    pub sources: &'a Sources,
    pub manifest: PathBuf,
    pub profile: Profile,
    /// More arguments of cargo.
    pub build_args: &'a [String],
    /// Whether to write what LLVM was given, too.
    pub llvm_ir: bool,
    /// A folder of ours alone: the outer cargo holds the lock of its own.
    pub target_dir: &'a Path,
}

/// What `core` is compiled for: the oldest target of kernels. Those for newer ones use it too, since only its
/// bitcode is taken.
const CORE_ARCH: &str = "sm_70";

impl Compilation<'_> {
    /// Compiles `core` and `alloc` where that has not been done, and returns the sysroot that holds them.
    pub fn sysroot(&self) -> Result<PathBuf, BuildError> {
        let library = &self.toolchain.library;
        let manifest = library.join("core/Cargo.toml");
        let manifest = fs::read_to_string(&manifest).map_err(BuildError::io("read", manifest))?;
        let edition = manifest.lines().find_map(|line| line.strip_prefix("edition = "));
        let edition = edition.map_or("2024", |edition| edition.trim().trim_matches('"'));
        let flags = [
            format!("--edition={edition}"),
            format!("--target={TARGET}"),
            format!("--remap-path-prefix={}=/library", library.display()),
            format!("-Ctarget-cpu={CORE_ARCH}"),
            "-Copt-level=3".into(),
            "-Ccodegen-units=1".into(),
            // Bitcode only.
            "-Clinker-plugin-lto".into(),
            "-Zforce-unstable-if-unmarked".into(),
            "--crate-type=rlib".into(),
            "--cap-lints=allow".into(),
            "-Cmetadata=core".into(),
        ];
        let code = self.profile.code();
        let key = text_hash(format!("{:?} {flags:?} {code:?} {BUILTINS}", self.toolchain).as_bytes());
        let shared = self.shared_folder();
        let sysroot = shared.join(format!("core-{}", &key[..16]));
        let inside = Path::new("lib/rustlib").join(TARGET).join("lib");
        if sysroot.join(&inside).is_dir() {
            return Ok(sysroot);
        }
        // Made aside and renamed when it is complete.
        let unfinished = shared.join(format!("core-{}.{}", &key[..16], std::process::id()));
        let folder = unfinished.join(&inside);
        fs::create_dir_all(&folder).map_err(BuildError::io("create", &folder))?;
        let builtins = unfinished.join("compiler_builtins.rs");
        fs::write(&builtins, BUILTINS).map_err(BuildError::io("write", &builtins))?;
        let crates = [
            ("core", library.join("core/src/lib.rs")),
            ("compiler_builtins", builtins),
            ("alloc", library.join("alloc/src/lib.rs")),
        ];
        for (name, source) in &crates {
            let mut rustc = clean_command(&self.toolchain.rustc);
            rustc.arg(source).args(["--crate-name", name]).args(&flags).args(&code).arg("--sysroot");
            rustc.arg(&unfinished).arg("-o").arg(folder.join(format!("lib{name}.rlib")));
            run(rustc, name)?;
        }
        match fs::rename(&unfinished, &sysroot) {
            // Another build was faster.
            Err(_) if sysroot.join(&inside).is_dir() => {
                fs::remove_dir_all(&unfinished).map_err(BuildError::io("remove", &unfinished))?;
            }
            renamed => renamed.map_err(BuildError::io("create", &sysroot))?,
        }
        Ok(sysroot)
    }

    /// Where `core` is: for all kernel crates that are compiled below one of cargo's target folders, which
    /// have this file in them.
    fn shared_folder(&self) -> PathBuf {
        let target = self.target_dir.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
        target.map_or_else(|| self.target_dir.to_owned(), |target| target.join("cuda_builder"))
    }

    /// The assembly of the kernel crate for one target, as rustc wrote it.
    pub fn assembly(&self, arch: &str, sysroot: &Path) -> Result<String, BuildError> {
        let remap = format!("--remap-path-prefix={}=.", self.sources.workspace.display());
        let mut flags = vec![format!("--sysroot={}", sysroot.display()), format!("-Ctarget-cpu={arch}")];
        flags.extend(self.profile.code().into_iter().map(String::from));
        flags.extend(self.profile.arithmetic.code().into_iter().map(String::from));
        flags.push(remap.clone());

        // cargo does not know of this file. Its name tells apart all that cargo tells apart, and where
        // it is missing cargo must not find everything up to date.
        let made_by =
            (&self.manifest, self.toolchain, self.profile.settings(), self.build_args, self.llvm_ir);
        let key = format!("{flags:?} {made_by:?}");
        let key = text_hash(key.as_bytes());
        let file = self.target_dir.join(format!("{arch}-{}.s", &key[..16]));
        // One for each target, as cargo locks it: targets are compiled at the same time.
        let target_dir = self.target_dir.join("cargo").join(arch);
        let made = target_dir.join(TARGET);
        if made.is_dir() && !file.is_file() {
            fs::remove_dir_all(&made).map_err(BuildError::io("remove", &made))?;
        }

        let mut cargo = clean_command(&self.toolchain.cargo);
        cargo
            .env("RUSTC", &self.toolchain.rustc)
            .env("RUSTC_WRAPPER", "")
            .env("RUSTC_WORKSPACE_WRAPPER", "")
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
        for (key, value) in self.profile.settings() {
            cargo.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
        }
        cargo.args(["rustc", "--release", "--lib", "--crate-type=cdylib", "--target", TARGET]);
        cargo.arg("--manifest-path").arg(&self.manifest).arg("--target-dir").arg(&target_dir);
        cargo.args(self.build_args);
        if self.sources.workspace.join("Cargo.lock").is_file() {
            cargo.arg("--locked");
        }
        // `-Zno-link`: there is no linker for PTX, and nothing to link. The remapping is repeated here
        // because cargo lets arguments without one flow into the names of symbols.
        cargo.args(["--", "-Zno-link", &remap]).arg(format!("--emit=asm={}", file.display()));
        if self.llvm_ir {
            cargo.arg(format!("--emit=llvm-ir={}", self.target_dir.join(format!("{arch}.ll")).display()));
        }
        cargo.args(self.sources.missing_attributes()?.iter().map(|it| format!("-Zcrate-attr={it}")));
        run(cargo, &format!("{} for {arch}", self.sources.package))?;
        fs::read_to_string(&file).map_err(BuildError::io("read", file))
    }
}

/// A command that knows nothing of the build that started this one.
fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if INHERITED.iter().any(|prefix| text.starts_with(prefix))
            && !KEPT.iter().any(|prefix| text.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
    // The target's features are unstable; stable compilers have them behind this variable.
    command.env("RUSTC_BOOTSTRAP", "1");
    command
}

fn run(mut command: Command, what: &str) -> Result<(), BuildError> {
    let program = PathBuf::from(command.get_program());
    let output = command.output().map_err(BuildError::io("run", &program))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(BuildError::Compile { what: what.to_owned(), program, stderr })
}
