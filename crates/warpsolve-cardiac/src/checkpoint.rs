//! The state of a simulation in a file, from which it can go on.
//!
//! The file holds, with the least significant byte first: magic (16 bytes), version (u32), fingerprint (u32),
//! steps (u64), dt (f64), the number of vectors (u32), the fingerprint of the stimuli (u32), the length of
//! each vector (u64), the vectors (f64), and the CRC-32 of all that (u32).

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::Crc;

use super::params::Params;
use crate::mesh::Mesh;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::io::atomic::write_atomically;

const MAGIC: &[u8; 16] = b"warpsolve heart\n";
const VERSION: u32 = 3;
/// Bytes from the magic to the fingerprint of the stimuli.
const HEAD: usize = 48;
/// More vectors than any formulation has.
const MOST_VECTORS: u32 = 64;
/// Values encoded at once.
const CHUNK: usize = 8192;

/// The state of a simulation between two steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Of mesh and parameters.
    pub(super) fingerprint: Fingerprint,
    pub(super) steps: u64,
    pub(super) dt: f64,
    pub(super) vectors: Vec<Vec<f64>>,
}

impl Checkpoint {
    /// The simulated time (ms).
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.dt
    }

    /// Writes it to a file. An earlier file is replaced when the new one is complete.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: &Path) -> Result<()> {
        write_atomically(path, |file| {
            let mut crc = Crc::new();
            let mut write = |bytes: &[u8]| {
                crc.update(bytes);
                file.write_all(bytes)
            };
            write(MAGIC)?;
            write(&VERSION.to_le_bytes())?;
            write(&self.fingerprint.rest.to_le_bytes())?;
            write(&self.steps.to_le_bytes())?;
            write(&self.dt.to_le_bytes())?;
            write(&(self.vectors.len() as u32).to_le_bytes())?;
            write(&self.fingerprint.stimuli.to_le_bytes())?;
            for vector in &self.vectors {
                write(&(vector.len() as u64).to_le_bytes())?;
            }
            for values in self.vectors.iter().flat_map(|vector| vector.chunks(CHUNK)) {
                write(&values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())?;
            }
            let sum = crc.sum();
            file.write_all(&sum.to_le_bytes())
        })
    }

    /// Reads what [`Checkpoint::save`] wrote.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, is not a checkpoint, has another version of the format, or
    /// is truncated or damaged.
    pub fn load(path: &Path) -> Result<Checkpoint> {
        Self::read(path).map_err(|source| Error::io("read", path, source))
    }

    fn read(path: &Path) -> io::Result<Checkpoint> {
        // A read from a pipe would wait for a writer.
        if !std::fs::metadata(path)?.is_file() {
            return Err(fault("this is not an ordinary file".into()));
        }
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut crc = Crc::new();
        let mut take = |bytes: usize| {
            let mut buffer = vec![0; bytes];
            file.read_exact(&mut buffer).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => damaged("it ends too early"),
                _ => error,
            })?;
            let before = crc.sum();
            crc.update(&buffer);
            Ok::<_, io::Error>((buffer, before))
        };
        let head = take(HEAD)?.0;
        if &head[..16] != MAGIC {
            return Err(fault("this is not a checkpoint; give a file that a simulation wrote as one".into()));
        }
        let version = u32_at(&head, 16);
        if version != VERSION {
            return Err(fault(format!(
                "this is a checkpoint of version {version}, and only version {VERSION} is read; start anew"
            )));
        }
        let count = u32_at(&head, 40);
        if count > MOST_VECTORS {
            return Err(damaged("it announces too many vectors"));
        }
        let lengths = take(8 * count as usize)?.0;
        let lengths: Vec<u64> = (0..count as usize).map(|k| u64_at(&lengths, 8 * k)).collect();
        // The sizes must be those of the file before anything is allocated.
        let values = lengths.iter().try_fold(0u64, |sum, &length| sum.checked_add(length));
        let expected = values
            .and_then(|values| values.checked_mul(8)?.checked_add(HEAD as u64 + 8 * u64::from(count) + 4));
        if expected != Some(size) {
            return Err(damaged("its size is not what its first bytes announce"));
        }
        let mut vectors = Vec::new();
        for length in lengths {
            let mut vector = Vec::with_capacity(length as usize);
            while vector.len() < length as usize {
                let chunk = take(8 * CHUNK.min(length as usize - vector.len()))?.0;
                vector.extend(chunk.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)));
            }
            vectors.push(vector);
        }
        let (sum, expected) = take(4)?;
        if u32_at(&sum, 0) != expected {
            return Err(damaged("its checksum is wrong"));
        }
        Ok(Checkpoint {
            fingerprint: Fingerprint { rest: u32_at(&head, 20), stimuli: u32_at(&head, 44) },
            steps: u64_at(&head, 24),
            dt: f64::from_bits(u64_at(&head, 32)),
            vectors,
        })
    }
}

fn fault(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn damaged(how: &str) -> io::Error {
    fault(format!("the checkpoint is truncated or damaged: {how}; take an earlier one"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

/// What tells simulations apart, CRC-32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    /// Of the stimuli.
    pub stimuli: u32,
    /// Of the mesh and of all other parameters but the limit of iterations, which changes no result.
    pub rest: u32,
}

/// That of a simulation.
pub(super) fn fingerprint<const C: usize>(mesh: &Mesh<C>, params: &Params) -> Fingerprint {
    let mut of_stimuli = Crc::new();
    of_stimuli.update(format!("{:?}", params.stimuli).as_bytes());
    let mut crc = Crc::new();
    let mut coordinates = |points: &[[f64; 3]]| {
        for points in points.chunks(CHUNK) {
            crc.update(&points.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        }
    };
    coordinates(mesh.points());
    mesh.fibres().into_iter().for_each(&mut coordinates);
    for cells in mesh.cells().chunks(CHUNK) {
        crc.update(&cells.as_flattened().iter().flat_map(|node| node.to_le_bytes()).collect::<Vec<u8>>());
    }
    if let Some(regions) = mesh.regions().filter(|_| !params.regions.is_empty()) {
        crc.update(&regions.iter().flat_map(|tag| tag.to_le_bytes()).collect::<Vec<u8>>());
    }
    let rest = Params { max_iterations: 0, stimuli: Vec::new(), ..params.clone() };
    crc.update(format!("{rest:?}").as_bytes());
    Fingerprint { stimuli: of_stimuli.sum(), rest: crc.sum() }
}
