//! Machine code (cubin), assembled from PTX by NVIDIA's `ptxas` and kept compressed beside it.
//!
//! A driver translates PTX for its device when a program runs for the first time, one kernel after another:
//! seconds for some hundred kernels. Machine code is loaded as it is, but only by devices of the same major
//! compute capability, and of the same or a newer minor one. So it is kept for a few, and PTX serves the
//! rest.

use crate::at_once;
use crate::error::{BuildError, PTXAS_VARIABLE};
use crate::ptx::PtxFile;
use flate2::{Compression, GzBuilder};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// NVIDIA's assembler for PTX.
///
/// ```no_run
/// use cuda_builder::Ptxas;
///
/// match Ptxas::find()? {
///     Some(ptxas) => println!("{} {}", ptxas.path.display(), ptxas.version),
///     None => println!("there is no ptxas"),
/// }
/// # Ok::<(), cuda_builder::BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ptxas {
    /// The program.
    pub path: PathBuf,
    /// "V12.9.86".
    pub version: String,
}

impl Ptxas {
    /// The one named by [`PTXAS_VARIABLE`]; else the one on the `PATH`; else that of Python's package
    /// `nvidia-cuda-nvcc`. `None` where there is none of them.
    ///
    /// ```no_run
    /// # use cuda_builder::Ptxas;
    /// let Some(ptxas) = Ptxas::find()? else {
    ///     println!("skipped: there is no ptxas");
    ///     return Ok(());
    /// };
    /// # Ok::<(), cuda_builder::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// The one that was found does not run.
    pub fn find() -> Result<Option<Ptxas>, BuildError> {
        let named = env::var_os(PTXAS_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let found = named.or_else(on_path).or_else(in_python_packages);
        found.map(Ptxas::at).transpose()
    }

    fn at(path: PathBuf) -> Result<Ptxas, BuildError> {
        let output = run(Command::new(&path).arg("--version"), &path)?;
        let text = String::from_utf8_lossy(&output.stdout);
        // "Cuda compilation tools, release 12.9, V12.9.86"
        let version = text.split_whitespace().find(|word| word.starts_with('V'));
        let version = version.unwrap_or("of an unknown version").to_owned();
        Ok(Ptxas { path, version })
    }

    /// Assembles a PTX file for a device ("sm_90"); returns the machine code, compressed by gzip.
    ///
    /// ```no_run
    /// # use cuda_builder::{BuildError, Ptxas};
    /// let ptxas = Ptxas::find()?.ok_or(BuildError::NoPtxas)?;
    /// let code = ptxas.assemble("kernels/ptx/sm_90.ptx".as_ref(), "sm_90")?;
    /// # Ok::<(), BuildError>(())
    /// ```
    ///
    /// # Errors
    /// What `ptxas` says of the PTX or of the device.
    pub fn assemble(&self, ptx: &Path, device: &str) -> Result<Vec<u8>, BuildError> {
        let cubin = ptx.with_extension(format!("{device}.cubin"));
        self.translate(ptx, device, &["-o".as_ref(), cubin.as_os_str()])?;
        let code = fs::read(&cubin).map_err(BuildError::io("read", &cubin))?;
        fs::remove_file(&cubin).map_err(BuildError::io("remove", &cubin))?;
        // Without the time of day, so that the same code gives the same file.
        let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
        gzip.write_all(&code).and_then(|()| gzip.finish()).map_err(BuildError::io("compress", &cubin))
    }

    /// Assembles PTX files, each for its own target and all at the same time, and keeps nothing of it: for
    /// tests. Code is not optimised, which takes twice as long as the rest.
    ///
    /// ```no_run
    /// # use cuda_builder::{BuildError, CudaBuilder, Ptxas};
    /// let ptx = CudaBuilder::new("kernels").archs(&["sm_70", "sm_90"]).build()?;
    /// Ptxas::find()?.ok_or(BuildError::NoPtxas)?.check(&ptx)?;
    /// # Ok::<(), BuildError>(())
    /// ```
    ///
    /// # Errors
    /// What `ptxas` says of the first that is wrong.
    pub fn check(&self, files: &[PtxFile]) -> Result<(), BuildError> {
        let arguments = ["-O0", "-o", "/dev/null"].map(OsStr::new);
        at_once::map(files, |PtxFile { path, arch, .. }| self.translate(path, arch, &arguments)).map(drop)
    }

    /// The registers that a thread of each of these kernels of some PTX takes on a device ("sm_90").
    ///
    /// ```no_run
    /// # use cuda_builder::{BuildError, Ptxas};
    /// # let text = "";
    /// let ptxas = Ptxas::find()?.ok_or(BuildError::NoPtxas)?;
    /// let registers = ptxas.registers(text, "sm_90", &["vadd", "axpy"])?;
    /// println!("vadd takes {}", registers["vadd"]);
    /// # Ok::<(), BuildError>(())
    /// ```
    ///
    /// # Errors
    /// What `ptxas` says of the PTX, of the kernels or of the device.
    pub fn registers(
        &self,
        ptx: &str,
        device: &str,
        kernels: &[&str],
    ) -> Result<BTreeMap<String, u32>, BuildError> {
        let path = env::temp_dir().join(format!("cuda_builder-{}.ptx", std::process::id()));
        fs::write(&path, ptx).map_err(BuildError::io("write", &path))?;
        let names = kernels.join(",");
        let arguments = ["-v", "-o", "/dev/null", "-e", &names].map(OsStr::new);
        let text = self.translate(&path, device, &arguments);
        fs::remove_file(&path).map_err(BuildError::io("remove", &path))?;
        text.map(|text| registers(&text))
    }

    /// What it says of a PTX file.
    fn translate(&self, ptx: &Path, device: &str, arguments: &[&OsStr]) -> Result<String, BuildError> {
        let mut command = Command::new(&self.path);
        command.args(["-arch", device]).args(arguments).arg(ptx);
        let output = run(&mut command, &self.path)?;
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        if output.status.success() {
            return Ok(text.concat());
        }
        let (what, program) = (format!("{} for {device}", ptx.display()), self.path.clone());
        Err(BuildError::Compile { what, program, stderr: text.concat() })
    }
}

/// The registers of each kernel in what `ptxas -v` says.
fn registers(text: &str) -> BTreeMap<String, u32> {
    let mut kernel = "";
    let mut registers = BTreeMap::new();
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            kernel = rest.split('\'').next().unwrap_or_default();
        }
        let count = line.split_once("Used ").and_then(|(_, rest)| rest.split_once(" registers"));
        if let Some(count) = count.and_then(|(count, _)| count.parse().ok()) {
            registers.insert(kernel.to_owned(), count);
        }
    }
    registers
}

fn run(command: &mut Command, program: &Path) -> Result<Output, BuildError> {
    command.output().map_err(BuildError::io("run", program))
}

fn on_path() -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join("ptxas")).find(|file| file.is_file())
}

fn in_python_packages() -> Option<PathBuf> {
    let list = "import nvidia; print(*nvidia.__path__, sep='\\n')";
    let output = Command::new("python3").args(["-c", list]).output().ok()?;
    let folders = String::from_utf8_lossy(&output.stdout).into_owned();
    let files = folders.lines().flat_map(|folder| {
        ["cu13/bin/ptxas", "cuda_nvcc/bin/ptxas"].map(|inside| Path::new(folder).join(inside))
    });
    files.into_iter().find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_takes_registers() {
        let Some(ptxas) = Ptxas::find().unwrap() else {
            println!("skipped: there is no ptxas");
            return;
        };
        let ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry one()\n{\nret;\n}\n\
                   .visible .entry other()\n{\nret;\n}\n";
        let found = ptxas.registers(ptx, "sm_90", &["one"]).unwrap();
        assert!(found.len() == 1 && found["one"] > 0, "{found:?}");
        ptxas.registers(ptx, "sm_90", &["none"]).unwrap_err();
    }

    #[test]
    fn registers_are_those_of_the_kernel_above() {
        let text = "ptxas info    : 0 bytes gmem\n\
                    ptxas info    : Compiling entry function 'vadd_f64' for 'sm_90'\n\
                    ptxas info    : Function properties for vadd_f64\n    0 bytes stack frame\n\
                    ptxas info    : Used 16 registers, used 0 barriers\n\
                    ptxas info    : Compiling entry function 'dot' for 'sm_90'\n\
                    ptxas info    : Used 40 registers, used 1 barriers, 64 bytes smem\n";
        let expected = [("dot", 40), ("vadd_f64", 16)].map(|(name, count)| (name.to_owned(), count));
        assert_eq!(registers(text), BTreeMap::from(expected));
    }
}
