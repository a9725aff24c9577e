//! What can go wrong between kernel sources and PTX.

use std::path::PathBuf;

/// The variable that names the toolchain to use: a prefix such as `/usr`, above `bin/rustc`.
pub const TOOLCHAIN_VARIABLE: &str = "WARPSOLVE_PTX_TOOLCHAIN";

/// The variable that names the `ptxas` to use.
pub const PTXAS_VARIABLE: &str = "WARPSOLVE_PTXAS";

/// Why there is no PTX, and what to do about it.
///
/// ```
/// use cuda_builder::{BuildError, embed, PtxFile};
///
/// let (arch, origin) = ("ninety".into(), String::new());
/// let file = PtxFile { arch, path: "ninety.ptx".into(), origin, machine_code: Vec::new() };
/// match embed(&[file]) {
///     Err(BuildError::Usage(message)) => assert_eq!(message, "ninety is no target: they read sm_90"),
///     other => unreachable!("{other:?}"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No Rust toolchain on this machine can compile for `nvptx64-nvidia-cuda`.
    #[error(
        "no Rust toolchain with the source of `core` was found, and PTX needs one. Looked at:\n{}\
         Install one of:\n    rustup component add rust-src\n    \
         apt-get install rustc-web cargo-web rust-web-src    (Debian, Ubuntu)\n\
         or name the prefix of another (the folder above bin/rustc) in {}.",
        list(.tried), TOOLCHAIN_VARIABLE
    )]
    NoToolchain {
        /// Every place that was looked at, and what is missing there.
        tried: Vec<(PathBuf, String)>,
    },
    /// The toolchain was there, but rustc or cargo failed.
    #[error("{} failed while it compiled {what}:\n{stderr}", program.display())]
    Compile {
        /// What was being compiled: "`core`", "gpu-kernels for sm_90".
        what: String,
        /// The program that failed.
        program: PathBuf,
        /// The end of what it printed.
        stderr: String,
    },
    /// A kernel uses what a target does not have.
    #[error(
        "{function} uses {instruction}, which needs {needed}, and is compiled for {arch} too. Leave {arch} out \
         of the targets (CudaBuilder::archs), or leave the kernel out where it cannot run: #[kernel(needs = \
         {needed})]"
    )]
    Target {
        /// The kernel, or a function that it calls.
        function: String,
        /// The instruction.
        instruction: String,
        /// The oldest target that has it.
        needed: String,
        /// The target.
        arch: String,
    },
    /// The PTX kept beside the kernels is not that of the sources, and none could be compiled.
    #[error(
        "the PTX kept in {} cannot be used: {why}, and compiling it anew failed: {source}",
        folder.display()
    )]
    Stale {
        /// The folder of kept PTX.
        folder: PathBuf,
        /// What does not fit.
        why: String,
        /// Why it was not compiled.
        source: Box<BuildError>,
    },
    /// The kept PTX was asked for by name, and it is missing or damaged.
    #[error("the PTX kept in {} cannot be used: {why}", folder.display())]
    Kept {
        /// The folder of kept PTX.
        folder: PathBuf,
        /// What is missing or does not fit.
        why: String,
    },
    /// Machine code was asked for, and there is no `ptxas`.
    #[error(
        "machine code needs NVIDIA's ptxas. Install it (pip install nvidia-cuda-nvcc, or the CUDA toolkit), \
         name it in {}, or keep PTX alone: keep <kernel crate> --cubin none",
        PTXAS_VARIABLE
    )]
    NoPtxas,
    /// The kernel crate's manifest could not be understood.
    #[error("cannot read the kernel crate {}: {message}", path.display())]
    Manifest {
        /// The crate's folder.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A variable or an argument has a value that means nothing.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

impl BuildError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| BuildError::Io { action, path, source }
    }
}

fn list(tried: &[(PathBuf, String)]) -> String {
    tried.iter().map(|(path, why)| format!("    {}: {why}\n", path.display())).collect()
}
