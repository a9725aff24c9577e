//! PTX files, and the source that embeds them in a program.

use crate::error::BuildError;
use std::path::{Path, PathBuf};

/// Machine code of a kernel crate for one device architecture.
///
/// ```
/// use cuda_builder::MachineCode;
///
/// let code = MachineCode { device: "sm_90".into(), path: "ptx/sm_90.cubin.gz".into() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineCode {
    /// The architecture that it is for, "sm_90".
    pub device: String,
    /// Where it is, compressed by gzip.
    pub path: PathBuf,
}

/// PTX of a kernel crate for one target.
///
/// ```
/// use cuda_builder::PtxFile;
///
/// let file = PtxFile {
///     arch: "sm_90".into(),
///     path: "target/cuda_builder/sm_90.ptx".into(),
///     origin: "built by rustc".into(),
///     machine_code: Vec::new(),
/// };
/// assert_eq!(cuda_builder::compute_capability(&file.arch), Some((9, 0)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PtxFile {
    /// The target, "sm_90".
    pub arch: String,
    /// Where the text is.
    pub path: PathBuf,
    /// "built by rustc 1.96.0 (...), LLVM 22.1.8" or "kept, rustc 1.96.0 (...), LLVM 22.1.8".
    pub origin: String,
    /// Machine code made of it, for some devices; only kept PTX has any.
    pub machine_code: Vec<MachineCode>,
}

/// The newest PTX that a device ("sm_90") can run.
pub(crate) fn newest_for<'a>(files: &'a [PtxFile], device: &str) -> Result<&'a PtxFile, BuildError> {
    let wanted = compute_capability(device)
        .ok_or_else(|| BuildError::Usage(format!("{device} is no device: they read sm_90")))?;
    let target = |file: &PtxFile| compute_capability(&file.arch).filter(|&target| target <= wanted);
    let newest = files.iter().filter(|file| target(file).is_some()).max_by_key(|file| target(file));
    newest.ok_or_else(|| BuildError::Usage(format!("no PTX is old enough for {device}")))
}

/// (9, 0) of "sm_90", (12, 0) of "sm_120a".
///
/// ```
/// use cuda_builder::compute_capability;
///
/// assert_eq!(compute_capability("sm_90"), Some((9, 0)));
/// assert_eq!(compute_capability("sm_120a"), Some((12, 0)));
/// assert_eq!(compute_capability("compute_90"), None);
/// ```
pub fn compute_capability(arch: &str) -> Option<(u32, u32)> {
    let digits = arch.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let (major, minor) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Rust source of a slice of `EmbeddedPtx { target, origin, text, machine_code }`, newest target first, for a
/// build script to write and the crate to `include!`. `machine_code` is a slice of pairs: the compute
/// capability of a device, and its machine code compressed by gzip.
///
/// ```
/// # use cuda_builder::{PtxFile, embed};
/// # let (path, origin) = ("sm_90.ptx".into(), "built by rustc".into());
/// # let file = PtxFile { arch: "sm_90".into(), path, origin, machine_code: Vec::new() };
/// let source = embed(&[file])?;
/// assert!(source.contains("EmbeddedPtx { target: (9, 0), "));
/// assert!(source.contains("include_str!(\"sm_90.ptx\")"));
/// # Ok::<(), cuda_builder::BuildError>(())
/// ```
pub fn embed(files: &[PtxFile]) -> Result<String, BuildError> {
    let mut targets = Vec::new();
    for file in files {
        targets.push((known_capability(&file.arch)?, file));
    }
    targets.sort_by_key(|&(target, _)| std::cmp::Reverse(target));
    let mut source = String::from("&[\n");
    for (target, file) in targets {
        let path: &Path = &file.path;
        source += &format!(
            "    EmbeddedPtx {{ target: {target:?}, origin: {:?}, text: include_str!({path:?}), machine_code: &[",
            file.origin
        );
        for code in &file.machine_code {
            source += &format!("({:?}, include_bytes!({:?})), ", known_capability(&code.device)?, code.path);
        }
        source += "] },\n";
    }
    Ok(source + "]\n")
}

fn known_capability(arch: &str) -> Result<(u32, u32), BuildError> {
    compute_capability(arch).ok_or_else(|| BuildError::Usage(format!("{arch} is no target: they read sm_90")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_compute_capabilities() {
        assert_eq!(compute_capability("sm_70"), Some((7, 0)));
        assert_eq!(compute_capability("sm_90a"), Some((9, 0)));
        assert_eq!(compute_capability("sm_121"), Some((12, 1)));
        for wrong in ["sm_", "sm_9", "compute_90", "90", "sm_x0", ""] {
            assert_eq!(compute_capability(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_embedded_source_names_every_file_newest_first() {
        let file = |arch: &str, devices: &[&str]| PtxFile {
            arch: arch.into(),
            path: format!("/out/{arch}.ptx").into(),
            origin: "built by rustc \"x\"".into(),
            machine_code: devices
                .iter()
                .map(|device| MachineCode {
                    device: device.to_string(),
                    path: format!("/out/{device}.gz").into(),
                })
                .collect(),
        };
        assert_eq!(
            embed(&[file("sm_70", &[]), file("sm_90", &["sm_90", "sm_120"])]).unwrap(),
            "&[\n    EmbeddedPtx { target: (9, 0), origin: \"built by rustc \\\"x\\\"\", \
             text: include_str!(\"/out/sm_90.ptx\"), machine_code: &[\
             ((9, 0), include_bytes!(\"/out/sm_90.gz\")), ((12, 0), include_bytes!(\"/out/sm_120.gz\")), ] },\n    \
             EmbeddedPtx { target: (7, 0), origin: \"built by rustc \\\"x\\\"\", \
             text: include_str!(\"/out/sm_70.ptx\"), machine_code: &[] },\n]\n"
        );
        assert!(embed(&[file("ninety", &[])]).unwrap_err().to_string().contains("ninety"));
    }

    #[test]
    fn a_device_runs_ptx_that_is_not_newer() {
        let file = |arch: &str| PtxFile {
            arch: arch.into(),
            path: PathBuf::new(),
            origin: String::new(),
            machine_code: Vec::new(),
        };
        let files = [file("sm_70"), file("sm_90")];
        for (device, expected) in [("sm_80", "sm_70"), ("sm_90", "sm_90"), ("sm_120", "sm_90")] {
            assert_eq!(newest_for(&files, device).unwrap().arch, expected);
        }
        assert!(newest_for(&files, "sm_60").unwrap_err().to_string().contains("sm_60"));
        assert!(newest_for(&files, "ninety").unwrap_err().to_string().contains("ninety"));
    }
}
