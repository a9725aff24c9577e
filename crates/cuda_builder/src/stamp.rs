//! PTX kept in the repository, with a stamp that says what it was made of.
//!
//! A folder of kept PTX holds `sm_70.ptx`, `sm_90.ptx`, ... and `stamp.txt`: the fingerprint of the
//! sources, the compiler, and the hash of each file.

use crate::error::BuildError;
use crate::sources::text_hash;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const FILE: &str = "stamp.txt";
const HEADER: &str = "# Written by `cargo run -p warpsolve-cuda-builder -- keep`; do not edit.";

/// What a folder of kept PTX was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Version of the compiler, as in [`Toolchain::version`](crate::Toolchain::version).
    pub compiler: String,
    /// Fingerprint of the sources and of the compiler's arguments.
    pub sources: String,
    /// Hash of the PTX for each target ("sm_90").
    pub targets: BTreeMap<String, String>,
}

impl Stamp {
    /// Reads the stamp of a folder; the error says what is wrong with it.
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
        Ok(Stamp {
            compiler: take("compiler")?,
            sources: take("sources")?,
            targets: fields.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        })
    }

    /// Writes the stamp into a folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), BuildError> {
        let mut text = format!("{HEADER}\ncompiler {}\nsources {}\n", self.compiler, self.sources);
        for (target, hash) in &self.targets {
            text += &format!("{target} {hash}\n");
        }
        fs::write(folder.join(FILE), text).map_err(BuildError::io("write", folder.join(FILE)))
    }

    /// Checks that the folder holds the PTX for each of `archs`, unchanged since it was stamped.
    pub(crate) fn check_files(&self, folder: &Path, archs: &[String]) -> Result<(), String> {
        for arch in archs {
            let expected = self.targets.get(arch).ok_or_else(|| format!("there is none for {arch}"))?;
            let name = format!("{arch}.ptx");
            let text = fs::read(folder.join(&name)).map_err(|error| format!("{name}: {error}"))?;
            if text_hash(&text) != *expected {
                return Err(format!("{name} was changed after it was stamped"));
            }
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
        let stamp = Stamp {
            compiler: "rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8".into(),
            sources: "abc".into(),
            targets: [("sm_90".to_owned(), text_hash(text.as_bytes()))].into(),
        };
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

        fs::write(folder.join(FILE), "compiler rustc\n").unwrap();
        assert_eq!(Stamp::read(folder), Err("stamp.txt names no sources".to_owned()));
        fs::write(folder.join(FILE), "compiler\n").unwrap();
        assert!(Stamp::read(folder).is_err());
    }
}
