//! PTX kept in the repository, with a stamp that says what it was made of.
//!
//! A folder of kept PTX holds `sm_70.ptx`, `sm_90.ptx`, ... and `stamp.txt`: the fingerprint of the
//! sources, the compiler, and the hash of each file. Machine code made of the PTX is in `sm_90.cubin.gz` and
//! so on, each with a line
//!
//! ```text
//! sm_90.cubin HASH of sm_90 HASH-OF-THE-PTX by ptxas V12.9.86
//! ```

use crate::error::BuildError;
use crate::ptx::MachineCode;
use crate::sources::{hash, text_hash};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const FILE: &str = "stamp.txt";
const HEADER: &str = "# Written by `cargo run -p warpsolve-cuda-builder -- keep`; do not edit.";

/// What a folder of kept PTX was made of.
///
/// ```no_run
/// use cuda_builder::Stamp;
///
/// let stamp = Stamp::read("kernels/ptx".as_ref())?;
/// println!("by {}, for {:?}", stamp.compiler, stamp.targets.keys());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Version of the compiler, as in [`Toolchain::version`](crate::Toolchain::version).
    pub compiler: String,
    /// Fingerprint of the sources and of the compiler's arguments.
    pub sources: String,
    /// Hash of the PTX for each target ("sm_90").
    pub targets: BTreeMap<String, String>,
    /// Machine code for each device ("sm_90").
    pub cubins: BTreeMap<String, CubinStamp>,
}

/// What a file of machine code was made of.
///
/// ```no_run
/// # use cuda_builder::Stamp;
/// let stamp = Stamp::read("kernels/ptx".as_ref())?;
/// for (device, cubin) in &stamp.cubins {
///     println!("machine code for {device} of the PTX for {}, by ptxas {}", cubin.arch, cubin.ptxas);
/// }
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CubinStamp {
    /// Hash of the compressed file.
    pub hash: String,
    /// The target of the PTX that it was assembled from, "sm_90".
    pub arch: String,
    /// Hash of that PTX.
    pub ptx_hash: String,
    /// Version of the assembler, "V12.9.86".
    pub ptxas: String,
}

/// The file of a device's machine code.
pub(crate) fn cubin_name(device: &str) -> String {
    format!("{device}.cubin.gz")
}

impl CubinStamp {
    /// What is in the line, if it is the line of machine code.
    fn parse(value: &str) -> Option<CubinStamp> {
        match value.split_whitespace().collect::<Vec<_>>()[..] {
            [hash, "of", arch, ptx_hash, "by", "ptxas", version] => Some(CubinStamp {
                hash: hash.into(),
                arch: arch.into(),
                ptx_hash: ptx_hash.into(),
                ptxas: version.into(),
            }),
            _ => None,
        }
    }

    fn check(&self, folder: &Path, device: &str) -> Result<(), String> {
        let name = cubin_name(device);
        let code = fs::read(folder.join(&name)).map_err(|error| format!("{name}: {error}"))?;
        if hash(&code) == self.hash {
            Ok(())
        } else {
            Err(format!("{name} was changed after it was stamped"))
        }
    }

    fn text(&self) -> String {
        format!("{} of {} {} by ptxas {}", self.hash, self.arch, self.ptx_hash, self.ptxas)
    }
}

impl Stamp {
    /// A stamp of no files yet.
    pub(crate) fn new(compiler: String, sources: String) -> Stamp {
        Stamp { compiler, sources, targets: BTreeMap::new(), cubins: BTreeMap::new() }
    }

    /// Reads the stamp of a folder; the error says what is wrong with it.
    ///
    /// ```no_run
    /// # use cuda_builder::Stamp;
    /// let stamp = Stamp::read("kernels/ptx".as_ref())?;
    /// # Ok::<(), String>(())
    /// ```
    pub fn read(folder: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(folder.join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
        let mut fields: BTreeMap<&str, &str> = BTreeMap::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (key, value) =
                line.split_once(' ').ok_or_else(|| format!("{FILE}: no value in \"{line}\""))?;
            fields.insert(key, value.trim());
        }
        let mut take =
            |key| fields.remove(key).map(str::to_owned).ok_or_else(|| format!("{FILE} names no {key}"));
        let mut stamp = Stamp::new(take("compiler")?, take("sources")?);
        for (key, value) in fields {
            match key.strip_suffix(".cubin") {
                None => drop(stamp.targets.insert(key.to_owned(), value.to_owned())),
                Some(device) => {
                    let cubin = CubinStamp::parse(value)
                        .ok_or_else(|| format!("{FILE}: {key} does not say what it was made of"))?;
                    stamp.cubins.insert(device.to_owned(), cubin);
                }
            }
        }
        Ok(stamp)
    }

    /// Writes the stamp into a folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), BuildError> {
        let mut text = format!("{HEADER}\ncompiler {}\nsources {}\n", self.compiler, self.sources);
        for (target, hash) in &self.targets {
            text += &format!("{target} {hash}\n");
        }
        for (device, cubin) in &self.cubins {
            text += &format!("{device}.cubin {}\n", cubin.text());
        }
        fs::write(folder.join(FILE), text).map_err(BuildError::io("write", folder.join(FILE)))
    }

    /// The stamp of a device's machine code, if that was made of this PTX and has not changed since.
    pub(crate) fn cubin_of(&self, folder: &Path, device: &str, ptx_hash: &str) -> Option<CubinStamp> {
        let cubin = self.cubins.get(device).filter(|cubin| cubin.ptx_hash == ptx_hash)?;
        cubin.check(folder, device).ok()?;
        Some(cubin.clone())
    }

    /// The machine code that was made of the PTX for `arch`.
    pub(crate) fn machine_code(&self, folder: &Path, arch: &str) -> Vec<MachineCode> {
        let made = self.cubins.iter().filter(|(_, cubin)| cubin.arch == arch);
        made.map(|(device, _)| MachineCode { device: device.clone(), path: folder.join(cubin_name(device)) })
            .collect()
    }

    /// Checks that the folder holds the PTX for each of `archs`, and the machine code made of it, unchanged
    /// since it was stamped.
    pub(crate) fn check_files(&self, folder: &Path, archs: &[String]) -> Result<(), String> {
        for arch in archs {
            let expected = self.targets.get(arch).ok_or_else(|| format!("there is none for {arch}"))?;
            let name = format!("{arch}.ptx");
            let text = fs::read(folder.join(&name)).map_err(|error| format!("{name}: {error}"))?;
            if text_hash(&text) != *expected {
                return Err(format!("{name} was changed after it was stamped"));
            }
        }
        for (device, cubin) in self.cubins.iter().filter(|(_, cubin)| archs.contains(&cubin.arch)) {
            if self.targets.get(&cubin.arch) != Some(&cubin.ptx_hash) {
                return Err(format!("{} was made of another {}.ptx", cubin_name(device), cubin.arch));
            }
            cubin.check(folder, device)?;
        }
        Ok(())
    }

    /// Checks that the sources are those that the PTX was made of.
    pub(crate) fn check_sources(&self, fingerprint: &str) -> Result<(), String> {
        if self.sources == fingerprint { Ok(()) } else { Err("the kernel sources have changed since".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archs(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_stamp_notices_every_change() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        assert!(Stamp::read(folder).unwrap_err().starts_with("stamp.txt: "));

        let text = ".version 7.8\nret;\n";
        let compiler = "rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8";
        let mut stamp = Stamp::new(compiler.into(), "abc".into());
        stamp.targets.insert("sm_90".to_owned(), text_hash(text.as_bytes()));
        stamp.write(folder).unwrap();
        assert_eq!(Stamp::read(folder).unwrap(), stamp);

        let wanted = archs(&["sm_90"]);
        assert!(stamp.check_files(folder, &wanted).unwrap_err().starts_with("sm_90.ptx: "));
        fs::write(folder.join("sm_90.ptx"), text.replace('\n', "\r\n")).unwrap();
        assert_eq!(stamp.check_files(folder, &wanted), Ok(()));
        assert_eq!(
            stamp.check_files(folder, &archs(&["sm_70", "sm_90"])),
            Err("there is none for sm_70".to_owned())
        );
        fs::write(folder.join("sm_90.ptx"), text.replace("7.8", "7.9")).unwrap();
        assert!(stamp.check_files(folder, &wanted).unwrap_err().contains("changed"));

        assert_eq!(stamp.check_sources("abc"), Ok(()));
        assert!(stamp.check_sources("abd").is_err());

        fs::write(folder.join("sm_90.ptx"), text).unwrap();
        stamp.cubins.insert(
            "sm_100".to_owned(),
            CubinStamp {
                hash: hash(b"code"),
                arch: "sm_90".into(),
                ptx_hash: text_hash(text.as_bytes()),
                ptxas: "V12.9.86".into(),
            },
        );
        stamp.write(folder).unwrap();
        assert_eq!(Stamp::read(folder).unwrap(), stamp);
        assert!(stamp.check_files(folder, &wanted).unwrap_err().starts_with("sm_100.cubin.gz: "));
        fs::write(folder.join("sm_100.cubin.gz"), b"code").unwrap();
        assert_eq!(stamp.check_files(folder, &wanted), Ok(()));
        let has_cubin = |ptx_hash: &str| stamp.cubin_of(folder, "sm_100", ptx_hash).is_some();
        assert!(has_cubin(&stamp.targets["sm_90"]) && !has_cubin("another"));
        assert_eq!(stamp.machine_code(folder, "sm_90")[0].path, folder.join("sm_100.cubin.gz"));
        assert_eq!(stamp.machine_code(folder, "sm_70"), []);
        fs::write(folder.join("sm_100.cubin.gz"), b"edoc").unwrap();
        assert!(stamp.check_files(folder, &wanted).unwrap_err().contains("sm_100.cubin.gz was changed"));
        let mut another = stamp.clone();
        another.targets.insert("sm_90".into(), text_hash(b"ret;"));
        fs::write(folder.join("sm_90.ptx"), b"ret;").unwrap();
        assert!(another.check_files(folder, &wanted).unwrap_err().contains("another sm_90.ptx"));

        fs::write(folder.join(FILE), "compiler rustc\nsources abc\nsm_90.cubin abc\n").unwrap();
        assert!(Stamp::read(folder).unwrap_err().contains("sm_90.cubin does not say"));
        fs::write(folder.join(FILE), "compiler rustc\n").unwrap();
        assert_eq!(Stamp::read(folder), Err("stamp.txt names no sources".to_owned()));
        fs::write(folder.join(FILE), "compiler\n").unwrap();
        assert!(Stamp::read(folder).is_err());
    }
}
