//! Compiles a crate of GPU kernels to PTX, from a build script.
//!
//! ```no_run
//! use cuda_builder::CudaBuilder;
//!
//! let ptx = CudaBuilder::new("gpu-kernels").archs(&["sm_70", "sm_90"]).build()?;
//! for file in &ptx {
//!     println!("{}: {} ({})", file.arch, file.path.display(), file.origin);
//! }
//! # Ok::<(), cuda_builder::BuildError>(())
//! ```
//!
//! The compiler is rustc with its own NVPTX backend, stable releases included; neither the CUDA
//! toolkit nor LLVM is needed, only the source of `core`. See [`Toolchain::find`] for where it is
//! looked for.
//!
//! A repository can also keep its PTX, so that a machine without such a toolchain can build it:
//! [`CudaBuilder::keep`] writes it with a [`Stamp`] that holds a fingerprint of the sources, and
//! [`CudaBuilder::obtain`] takes it as long as the fingerprint fits. `cargo run -p warpsolve-cuda-builder --
//! keep gpu-kernels` is the command for that. Machine code for some devices can be kept beside the PTX
//! ([`CudaBuilder::machine_code`]), so that their drivers need not translate it.

mod arithmetic;
mod at_once;
mod compile;
mod error;
mod machine_code;
mod newer;
mod ptx;
mod sources;
mod stamp;
mod text;
mod toolchain;

pub use error::{BuildError, PTXAS_VARIABLE, TOOLCHAIN_VARIABLE};
pub use machine_code::Ptxas;
pub use ptx::{MachineCode, PtxFile, compute_capability, embed};
pub use stamp::{CubinStamp, Stamp};
pub use toolchain::Toolchain;

use arithmetic::Arithmetic;
use compile::{Compilation, Profile};
use sources::Sources;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable that chooses between kept and newly compiled PTX, see [`Policy::from_env`].
pub const POLICY_VARIABLE: &str = "WARPSOLVE_PTX";

/// Where PTX comes from.
///
/// ```no_run
/// use cuda_builder::{CudaBuilder, Policy};
///
/// // What a build script of a crate does that keeps its PTX.
/// let ptx = CudaBuilder::new("gpu-kernels").obtain(Policy::Auto)?;
/// # Ok::<(), cuda_builder::BuildError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// The kept PTX where it is that of the sources, else newly compiled.
    #[default]
    Auto,
    /// Newly compiled, always.
    Build,
    /// The kept PTX, whether or not the sources have changed since.
    Kept,
}

impl Policy {
    /// Reads [`POLICY_VARIABLE`]: `auto` (also when it is not set), `build` or `kept`.
    ///
    /// ```no_run
    /// use cuda_builder::{CudaBuilder, Policy};
    ///
    /// let ptx = CudaBuilder::new("gpu-kernels").obtain(Policy::from_env()?)?;
    /// # Ok::<(), cuda_builder::BuildError>(())
    /// ```
    pub fn from_env() -> Result<Self, BuildError> {
        match env::var(POLICY_VARIABLE).unwrap_or_default().as_str() {
            "" | "auto" => Ok(Policy::Auto),
            "build" => Ok(Policy::Build),
            "kept" => Ok(Policy::Kept),
            other => Err(BuildError::Usage(format!(
                "{POLICY_VARIABLE} is \"{other}\"; it can be auto, build or kept"
            ))),
        }
    }
}

/// Compiles one kernel crate; the settings first, then [`build`](Self::build).
///
/// ```no_run
/// use cuda_builder::CudaBuilder;
///
/// let builder = CudaBuilder::new("gpu-kernels").arch("sm_80").generate_line_info(true);
/// let ptx = builder.build()?;
/// # Ok::<(), cuda_builder::BuildError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CudaBuilder {
    path: PathBuf,
    archs: Vec<String>,
    devices: Vec<String>,
    profile: Profile,
    build_args: Vec<String>,
    llvm_ir: bool,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
}

impl CudaBuilder {
    /// A builder for the crate in the folder `path`, optimised, for `sm_70`.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// // The folder with the kernels' Cargo.toml, from that of the build script.
    /// let ptx = CudaBuilder::new("../kernels").build()?;
    /// # Ok::<(), cuda_builder::BuildError>(())
    /// ```
    pub fn new(path: impl Into<PathBuf>) -> Self {
        CudaBuilder {
            path: path.into(),
            archs: vec!["sm_70".into()],
            devices: Vec::new(),
            profile: Profile {
                release: true,
                line_info: false,
                messages: false,
                arithmetic: Arithmetic::default(),
            },
            build_args: Vec::new(),
            llvm_ir: false,
            copy_to: None,
            target_dir: None,
        }
    }

    /// The one target: `sm_` with the compute capability it needs at least.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").arch("sm_80");
    /// ```
    pub fn arch(self, arch: &str) -> Self {
        self.archs(&[arch])
    }

    /// The targets, one PTX file for each. They are compiled at the same time.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").archs(&["sm_70", "sm_80", "sm_90"]);
    /// ```
    pub fn archs<S: AsRef<str>>(mut self, archs: &[S]) -> Self {
        self.archs.clear();
        for arch in archs.iter().map(AsRef::as_ref) {
            if !self.archs.iter().any(|known| known == arch) {
                self.archs.push(arch.to_owned());
            }
        }
        self
    }

    /// The devices ("sm_90") for which [`keep`](Self::keep) also keeps machine code, assembled by [`Ptxas`]
    /// from the newest target that the device can run. None at first.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").archs(&["sm_70", "sm_90"]).machine_code(&["sm_80", "sm_90"]);
    /// ```
    pub fn machine_code<S: AsRef<str>>(mut self, devices: &[S]) -> Self {
        self.devices = devices.iter().map(|device| device.as_ref().to_owned()).collect();
        self
    }

    /// Optimised without checks (the default), or barely optimised, with assertions and overflow checks.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// // With overflow checks, to find an error.
    /// let builder = CudaBuilder::new("kernels").release(false).panic_messages(true);
    /// ```
    pub fn release(mut self, release: bool) -> Self {
        self.profile.release = release;
        self
    }

    /// Whether the PTX names the lines of the source, for profilers and debuggers. Not at first.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// // ncu then shows the lines of the Rust source.
    /// let builder = CudaBuilder::new("kernels").generate_line_info(true);
    /// ```
    pub fn generate_line_info(mut self, wanted: bool) -> Self {
        self.profile.line_info = wanted;
        self
    }

    /// Whether a failed bounds check, or another panic, ends the kernel with its message and place. Not at
    /// first, because every check then has code for it. (Assertions of `cuda_std` always have a message.)
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").panic_messages(true);
    /// ```
    pub fn panic_messages(mut self, wanted: bool) -> Self {
        self.profile.messages = wanted;
        self
    }

    /// Whether subnormal numbers of f32 count as zero, in operands and results. Not at first. The simulator
    /// does not do so.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").ftz(true);
    /// ```
    pub fn ftz(mut self, wanted: bool) -> Self {
        self.profile.arithmetic.ftz = wanted;
        self
    }

    /// Whether square roots of f32 are approximations, faster and with a last bit that may be wrong. Not at
    /// first.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").fast_sqrt(true);
    /// ```
    pub fn fast_sqrt(mut self, wanted: bool) -> Self {
        self.profile.arithmetic.fast_sqrt = wanted;
        self
    }

    /// Whether quotients of f32 are approximations, faster and up to 2 units in the last place wrong, and 0
    /// for divisors from 2^126 on. Not at first.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").fast_div(true);
    /// ```
    pub fn fast_div(mut self, wanted: bool) -> Self {
        self.profile.arithmetic.fast_div = wanted;
        self
    }

    /// Whether a product and a sum become one instruction, which rounds once. Not at first, unlike in the
    /// published crate: results are then those of the simulator, and `mul_add` asks for it where it is
    /// wanted.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").fma_contraction(true);
    /// ```
    pub fn fma_contraction(mut self, wanted: bool) -> Self {
        self.profile.arithmetic.fma_contraction = wanted;
        self
    }

    /// More arguments for cargo, such as `--features`.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").build_args(&["--features", "double"]);
    /// ```
    pub fn build_args<S: AsRef<str>>(mut self, args: &[S]) -> Self {
        self.build_args.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Whether to write LLVM's intermediate code beside the PTX, `sm_90.ll` and so on. Not at first.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").emit_llvm_ir(true).copy_to("target/kernels");
    /// ```
    pub fn emit_llvm_ir(mut self, wanted: bool) -> Self {
        self.llvm_ir = wanted;
        self
    }

    /// A folder that is to receive a copy of the files, `sm_90.ptx` and so on; or, if its name ends in
    /// `.ptx`, a file, which receives the one for the oldest target: that runs everywhere.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// // For `include_str!("../resources/kernels.ptx")`.
    /// CudaBuilder::new("../kernels").copy_to("resources/kernels.ptx").build()?;
    /// # Ok::<(), cuda_builder::BuildError>(())
    /// ```
    pub fn copy_to(mut self, path: impl Into<PathBuf>) -> Self {
        self.copy_to = Some(path.into());
        self
    }

    /// Where to compile; else in the build script's `OUT_DIR`, or else in the workspace's `target`.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let builder = CudaBuilder::new("kernels").target_dir("target/kernels");
    /// ```
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(folder.into());
        self
    }

    /// Compiles the crate for every target.
    ///
    /// In a build script it also tells cargo what to watch.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// for file in CudaBuilder::new("kernels").build()? {
    ///     println!("{}", file.path.display());
    /// }
    /// # Ok::<(), cuda_builder::BuildError>(())
    /// ```
    pub fn build(&self) -> Result<Vec<PtxFile>, BuildError> {
        let sources = Sources::of(&self.path)?;
        self.watch(&sources);
        self.compile(&sources, &Toolchain::find()?)
    }

    /// The PTX for every target, kept or compiled as the policy says.
    ///
    /// In a build script it also tells cargo what to watch.
    ///
    /// ```no_run
    /// # use cuda_builder::{CudaBuilder, Policy, embed};
    /// let ptx = CudaBuilder::new("kernels").archs(&["sm_70", "sm_90"]).obtain(Policy::from_env()?)?;
    /// std::fs::write("target/embedded.rs", embed(&ptx)?).expect("a folder that can be written to");
    /// # Ok::<(), cuda_builder::BuildError>(())
    /// ```
    pub fn obtain(&self, policy: Policy) -> Result<Vec<PtxFile>, BuildError> {
        if self.is_published() && policy == Policy::Auto {
            // Its PTX was published with it; its manifest, which the stamp covers, cargo has rewritten since.
            return self.obtain_kept();
        }
        let sources = Sources::of(&self.path)?;
        self.watch(&sources);
        match policy {
            Policy::Build => self.compile(&sources, &Toolchain::find()?),
            Policy::Kept => self.obtain_kept(),
            Policy::Auto => {
                let fingerprint = self.fingerprint(&sources)?;
                let current = self.read_kept().and_then(|stamp| {
                    stamp.check_sources(&fingerprint).and_then(|()| self.take_kept(&stamp))
                });
                current.or_else(|why| {
                    Toolchain::find().and_then(|toolchain| self.compile(&sources, &toolchain)).map_err(
                        |source| BuildError::Stale { folder: self.kept_folder(), why, source: source.into() },
                    )
                })
            }
        }
    }

    /// The kept PTX, whatever the sources are.
    fn obtain_kept(&self) -> Result<Vec<PtxFile>, BuildError> {
        self.read_kept()
            .and_then(|stamp| self.take_kept(&stamp))
            .map_err(|why| BuildError::Kept { folder: self.kept_folder(), why })
    }

    /// Whether the kernel crate comes from a registry: cargo puts the manifest as it was beside its own.
    fn is_published(&self) -> bool {
        self.path.join("Cargo.toml.orig").is_file()
    }

    /// Compiles, and keeps the result with its stamp in the folder [`kept_folder`](Self::kept_folder).
    ///
    /// Machine code of PTX that has not changed is kept as it is; other needs a [`Ptxas`].
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// let stamp = CudaBuilder::new("kernels").archs(&["sm_70", "sm_90"]).keep()?;
    /// println!("kept, by {}", stamp.compiler);
    /// # Ok::<(), cuda_builder::BuildError>(())
    /// ```
    pub fn keep(&self) -> Result<Stamp, BuildError> {
        let sources = Sources::of(&self.path)?;
        let toolchain = Toolchain::find()?;
        let folder = self.kept_folder();
        let before = self.read_kept().ok();
        // Taken before compiling: sources edited meanwhile then make the stamp stale, as they should.
        let fingerprint = self.fingerprint(&sources)?;
        let files = self.compile(&sources, &toolchain)?;
        fs::create_dir_all(&folder).map_err(BuildError::io("create", &folder))?;
        let mut stamp = Stamp::new(toolchain.version, fingerprint);
        for file in &files {
            let text = fs::read(&file.path).map_err(BuildError::io("read", &file.path))?;
            let path = folder.join(format!("{}.ptx", file.arch));
            fs::write(&path, &text).map_err(BuildError::io("write", &path))?;
            stamp.targets.insert(file.arch.clone(), sources::text_hash(&text));
        }
        for device in &self.devices {
            let ptx = ptx::newest_for(&files, device)?;
            let ptx_hash = &stamp.targets[&ptx.arch];
            let cubin = match before.as_ref().and_then(|before| before.cubin_of(&folder, device, ptx_hash)) {
                Some(unchanged) => unchanged,
                None => self.assemble(ptx, device, ptx_hash)?,
            };
            stamp.cubins.insert(device.clone(), cubin);
        }
        stamp.write(&folder)?;
        Ok(stamp)
    }

    fn assemble(&self, ptx: &PtxFile, device: &str, ptx_hash: &str) -> Result<CubinStamp, BuildError> {
        let ptxas = Ptxas::find()?.ok_or(BuildError::NoPtxas)?;
        let path = self.kept_folder().join(stamp::cubin_name(device));
        let code = ptxas.assemble(&ptx.path, device)?;
        fs::write(&path, &code).map_err(BuildError::io("write", &path))?;
        Ok(CubinStamp {
            hash: sources::hash(&code),
            arch: ptx.arch.clone(),
            ptx_hash: ptx_hash.to_owned(),
            ptxas: ptxas.version,
        })
    }

    /// The stamp of the kept PTX, if that is complete, unchanged, and made of the sources as they are.
    ///
    /// ```no_run
    /// # use cuda_builder::CudaBuilder;
    /// // For a test: the kept PTX is that of the sources.
    /// CudaBuilder::new("kernels").archs(&["sm_70", "sm_90"]).current_stamp()?;
    /// # Ok::<(), cuda_builder::BuildError>(())
    /// ```
    pub fn current_stamp(&self) -> Result<Stamp, BuildError> {
        let fingerprint = self.fingerprint(&Sources::of(&self.path)?)?;
        let check = |stamp: Stamp| {
            stamp.check_sources(&fingerprint)?;
            stamp.check_files(&self.kept_folder(), &self.archs)?;
            Ok(stamp)
        };
        self.read_kept().and_then(check).map_err(|why| BuildError::Kept { folder: self.kept_folder(), why })
    }

    /// The folder for kept PTX: `ptx` in the kernel crate.
    ///
    /// ```
    /// # use cuda_builder::CudaBuilder;
    /// assert_eq!(CudaBuilder::new("kernels").kept_folder(), std::path::Path::new("kernels/ptx"));
    /// ```
    pub fn kept_folder(&self) -> PathBuf {
        self.path.join("ptx")
    }

    fn fingerprint(&self, sources: &Sources) -> Result<String, BuildError> {
        sources.fingerprint(&self.profile.recipe())
    }

    fn read_kept(&self) -> Result<Stamp, String> {
        Stamp::read(&self.kept_folder())
    }

    fn take_kept(&self, stamp: &Stamp) -> Result<Vec<PtxFile>, String> {
        let folder = self.kept_folder().canonicalize().map_err(|error| error.to_string())?;
        stamp.check_files(&folder, &self.archs)?;
        let file = |arch: &String| PtxFile {
            arch: arch.clone(),
            path: folder.join(format!("{arch}.ptx")),
            origin: format!("kept, {}", stamp.compiler),
            machine_code: stamp.machine_code(&folder, arch),
        };
        let files: Vec<PtxFile> = self.archs.iter().map(file).collect();
        self.copy(&files).map_err(|error| error.to_string())?;
        Ok(files)
    }

    fn compile(&self, sources: &Sources, toolchain: &Toolchain) -> Result<Vec<PtxFile>, BuildError> {
        let target_dir = match &self.target_dir {
            Some(folder) => folder.clone(),
            None => match env::var_os("OUT_DIR").or_else(|| env::var_os("CARGO_TARGET_DIR")) {
                Some(folder) => PathBuf::from(folder),
                None => sources.workspace.join("target"),
            }
            .join("cuda_builder"),
        };
        fs::create_dir_all(&target_dir).map_err(BuildError::io("create", &target_dir))?;
        let target_dir = target_dir.canonicalize().map_err(BuildError::io("find", &target_dir))?;
        let compilation = Compilation {
            toolchain,
            sources,
            manifest: self.path.join("Cargo.toml"),
            profile: self.profile,
            build_args: &self.build_args,
            llvm_ir: self.llvm_ir,
            target_dir: &target_dir,
        };
        if self.archs.is_empty() {
            return Ok(Vec::new());
        }
        let sysroot = compilation.sysroot()?;
        let files = at_once::map(&self.archs, |arch| self.compile_for(arch, &compilation, &sysroot))?;
        self.copy(&files)?;
        Ok(files)
    }

    fn compile_for(
        &self,
        arch: &str,
        compilation: &Compilation,
        sysroot: &Path,
    ) -> Result<PtxFile, BuildError> {
        let ptx = text::strip(&compilation.assembly(arch, sysroot)?, self.profile.line_info);
        let ptx = text::complete(&text::move_to_shared(&ptx));
        let ptx = self.profile.arithmetic.apply(newer::raise_version(&ptx));
        newer::check(&ptx, arch)?;
        let path = compilation.target_dir.join(format!("{arch}.ptx"));
        fs::write(&path, ptx).map_err(BuildError::io("write", &path))?;
        let origin = format!("built by {}", compilation.toolchain.version);
        Ok(PtxFile { arch: arch.to_owned(), path, origin, machine_code: Vec::new() })
    }

    fn copy(&self, files: &[PtxFile]) -> Result<(), BuildError> {
        let Some(path) = &self.copy_to else { return Ok(()) };
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let oldest = files.iter().min_by_key(|file| compute_capability(&file.arch));
            return oldest.map_or(Ok(()), |file| copy_file(file, path));
        }
        fs::create_dir_all(path).map_err(BuildError::io("create", path))?;
        files.iter().try_for_each(|file| copy_file(file, &path.join(format!("{}.ptx", file.arch))))
    }

    /// Tells cargo what the PTX depends on, when a build script is asking.
    fn watch(&self, sources: &Sources) {
        if env::var_os("OUT_DIR").is_none() {
            return;
        }
        for variable in [TOOLCHAIN_VARIABLE, POLICY_VARIABLE] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        for (_, folder) in &sources.crates {
            println!("cargo:rerun-if-changed={}", folder.join("Cargo.toml").display());
            println!("cargo:rerun-if-changed={}", folder.join("src").display());
        }
        println!("cargo:rerun-if-changed={}", self.kept_folder().display());
    }
}

fn copy_file(file: &PtxFile, copy: &Path) -> Result<(), BuildError> {
    fs::copy(&file.path, copy).map(drop).map_err(BuildError::io("write", copy))
}
