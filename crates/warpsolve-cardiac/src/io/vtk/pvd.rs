//! Time series: a file for each frame, and a PVD file that lists them for ParaView.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::io::scan::{Encoding, Scanner};
use warpsolve_host::error::{Error, Result};
use warpsolve_host::io::atomic::write_atomically;

/// A series of frames.
///
/// `NAME.pvd` lists files such as `NAME_000000.vtu`, `NAME_000001.vtu`, ... in the same folder. It is
/// replaced whenever a frame is complete, so that the series of a run that was killed can be read.
pub struct Series {
    pvd: PathBuf,
    frames: Vec<Frame>,
}

/// An entry of the list.
#[derive(Debug, Clone, PartialEq)]
struct Frame {
    /// ms
    time: f64,
    /// Relative to the folder of the list.
    file: String,
}

impl Series {
    /// Starts a series without frames. An existing list is replaced.
    ///
    /// # Errors
    /// [`Error::Io`] when the list cannot be written.
    pub fn create(pvd: &Path) -> Result<Self> {
        let series = Series { pvd: pvd.to_path_buf(), frames: Vec::new() };
        series.list()?;
        Ok(series)
    }

    /// Continues a series: keeps the frames up to `time` (ms), where a restarted run begins, and drops later
    /// ones. If there is no list, a new one is started.
    ///
    /// # Errors
    /// [`Error::Io`] when the list cannot be read or written, [`Error::Parse`] when it is malformed.
    pub fn resume(pvd: &Path, time: f64) -> Result<Self> {
        let mut frames = match fs::read(pvd) {
            Ok(bytes) => parse(pvd, &bytes)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Error::io("read", pvd, e)),
        };
        frames.retain(|frame| frame.time <= time);
        let series = Series { pvd: pvd.to_path_buf(), frames };
        series.list()?;
        Ok(series)
    }

    /// The times of the frames so far, ms.
    pub fn times(&self) -> impl Iterator<Item = f64> {
        self.frames.iter().map(|frame| frame.time)
    }

    /// Adds a frame at `time` (ms): what `write` writes to the file that it is given, of this extension.
    ///
    /// # Errors
    /// [`Error::Option`] when `time` is not later than the last frame; those of `write`; [`Error::Io`] when
    /// the list cannot be written.
    pub fn add(&mut self, time: f64, extension: &str, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let last = self.frames.last().map_or(f64::NEG_INFINITY, |frame| frame.time);
        if !(time > last && time.is_finite()) {
            return Err(Error::Option(format!("a frame at {time} ms cannot follow one at {last} ms")));
        }
        let stem = self.pvd.file_stem().unwrap_or_default().to_string_lossy();
        // A list that was edited may already have the file of this number.
        let is_free = |file: &String| self.frames.iter().all(|frame| frame.file != *file);
        let mut names = (self.frames.len()..).map(|number| format!("{stem}_{number:06}.{extension}"));
        let file = names.find(is_free).expect("there are more numbers than frames");
        write(&self.pvd.with_file_name(&file))?;
        self.frames.push(Frame { time, file });
        self.list()
    }

    fn list(&self) -> Result<()> {
        write_atomically(&self.pvd, |to| fill(to, &self.frames))
    }
}

fn fill(to: &mut dyn Write, frames: &[Frame]) -> io::Result<()> {
    writeln!(to, "<?xml version=\"1.0\"?>")?;
    writeln!(to, "<VTKFile type=\"Collection\" version=\"1.0\">\n<Collection>")?;
    for Frame { time, file } in frames {
        writeln!(to, "<DataSet timestep=\"{time}\" part=\"0\" file=\"{}\"/>", escape(file.as_str()))?;
    }
    writeln!(to, "</Collection>\n</VTKFile>")
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Frame>> {
    let fail = |at: u64, message: String| {
        Scanner::new(path, bytes, (at as usize).min(bytes.len()), Encoding::Text).fail(message)
    };
    let mut xml = Reader::from_reader(bytes);
    let mut frames = Vec::new();
    loop {
        let event = xml.read_event().map_err(|e| fail(xml.error_position(), e.to_string()))?;
        let frame = match &event {
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == "DataSet" => frame(tag),
            Event::Eof => return Ok(frames),
            _ => continue,
        };
        let frame = frame.ok_or_else(|| {
            fail(xml.buffer_position(), "a DataSet needs a timestep, a number, and a file".to_string())
        })?;
        frames.push(frame);
    }
}

fn frame(tag: &BytesStart) -> Option<Frame> {
    let value = |name| {
        let attribute = tag.try_get_attribute(name).ok()??;
        Some(attribute.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
    };
    Some(Frame { time: value("timestep")?.parse().ok()?, file: value("file")? })
}
