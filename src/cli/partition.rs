//! Partitions by name, and from files.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use warpsolve::comm::Partitioning;
use warpsolve::{Error, Result};

/// What `--partition` names.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionName {
    Blocks,
    Rcm,
    Metis,
    /// A file with the rank of each row, one a line.
    File(String),
}

impl FromStr for PartitionName {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "blocks" => PartitionName::Blocks,
            "rcm" => PartitionName::Rcm,
            "metis" => PartitionName::Metis,
            _ => PartitionName::File(name.into()),
        })
    }
}

impl PartitionName {
    /// What it names; before a matrix is read it is known whether this program can share out so.
    pub fn read(&self) -> Result<Partitioning> {
        match self {
            PartitionName::Blocks => Ok(Partitioning::Blocks),
            PartitionName::Rcm => Ok(Partitioning::Rcm),
            PartitionName::Metis => Partitioning::Metis.check().map(|()| Partitioning::Metis),
            PartitionName::File(path) => {
                read(Path::new(path)).map(|owner| Partitioning::Given(Arc::new(owner)))
            }
        }
    }
}

/// The rank of each row, one a line, as METIS writes them.
fn read(path: &Path) -> Result<Vec<u32>> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
    let rank = |(k, line): (usize, &str)| {
        let refused =
            |_| Error::parse(path, k as u64 + 1, format!("'{line}' is no rank: each line has one, from 0"));
        line.trim().parse().map_err(refused)
    };
    text.lines().enumerate().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn partitions_have_a_rank_a_line() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"0\n1\n 1 \n0\n").unwrap();
        let name: PartitionName = file.path().to_str().unwrap().parse().unwrap();
        assert_eq!(name.read().unwrap(), Partitioning::Given(Arc::new(vec![0, 1, 1, 0])));
        file.write_all(b"x\n").unwrap();
        let error = name.read().unwrap_err().to_string();
        assert!(error.contains(":5:") && error.contains("'x' is no rank"), "{error}");
        assert_eq!("rcm".parse::<PartitionName>().unwrap().read().unwrap(), Partitioning::Rcm);
    }
}
