//! VTU files. Numbers are text or base64 in the XML, or appended behind it; plain or compressed by zlib.

use std::borrow::Cow;
use std::path::Path;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::arrays::{Kind, Values};
use super::decode::{base64, inflate, uncompressed};
use super::{Attribute, Grid, is_wanted};
use crate::io::scan::{Encoding, Scanner, read_bytes};
use crate::mesh::Raw;
use warpsolve_host::error::{Error, Result};

/// Parses the bytes of a VTU file.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Raw> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let fail = |message: String| Error::Mesh(format!("{}: {message}", path.display()));
    let file = Outline::read(path, bytes)?;
    file.grid()?.into_mesh().map_err(fail)
}

/// The values of this name at the nodes of a VTU file.
///
/// # Errors
/// [`Error::Io`] when the file cannot be read; [`Error::Parse`] or [`Error::Mesh`] when it is malformed, or
/// has no such values.
pub fn read_point_data(path: &Path, name: &str) -> Result<Vec<f64>> {
    let bytes = read_bytes(path)?;
    let file = Outline::read(path, &bytes)?;
    let array = file.needed("PointData", Some(name))?;
    Ok(file.values(array, file.n_points)?.into_real())
}

/// A DataArray: what it holds, and where its numbers are.
struct Array {
    /// The element around it: Points, Cells, CellData, ...
    section: String,
    name: String,
    kind: String,
    components: usize,
    source: DataSource,
}

/// Where the numbers of an array are, in bytes of the file.
enum DataSource {
    Text {
        start: usize,
        end: usize,
    },
    Base64 {
        start: usize,
        end: usize,
    },
    /// Counted from the first byte of the appended data.
    Appended {
        offset: usize,
    },
}

/// The contents of the XML.
struct Outline<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    encoding: Encoding,
    /// Bytes of each number in the header of binary data.
    header_size: usize,
    compressed: bool,
    n_points: usize,
    n_cells: usize,
    arrays: Vec<Array>,
    /// The appended data, and whether it is in base64.
    appended: &'a [u8],
    appended_base64: bool,
}

impl<'a> Outline<'a> {
    fn read(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let mut file = Outline {
            path,
            bytes,
            encoding: Encoding::Little,
            header_size: 4,
            compressed: false,
            n_points: 0,
            n_cells: 0,
            arrays: Vec::new(),
            appended: &[],
            appended_base64: false,
        };
        let mut xml = Reader::from_reader(bytes);
        let mut open: Vec<String> = Vec::new();
        let mut pieces = 0;
        loop {
            let event = xml.read_event().map_err(|e| file.fail(xml.error_position(), e.to_string()))?;
            let at = xml.buffer_position();
            match &event {
                Event::Start(tag) | Event::Empty(tag) => {
                    let name = tag.name().as_ref().to_string();
                    match name.as_str() {
                        "VTKFile" => file.header(tag, at)?,
                        "Piece" => {
                            let (points, cells) =
                                (file.size(tag, at, "NumberOfPoints")?, file.size(tag, at, "NumberOfCells")?);
                            pieces += usize::from(points + cells > 0);
                            if pieces > 1 {
                                return Err(file.fail(
                                    at,
                                    "there is a second piece, whose points may repeat those of the first; \
                                     merge the pieces (in ParaView: Clean to Grid) and save again",
                                ));
                            }
                            (file.n_points, file.n_cells) =
                                (points.max(file.n_points), cells.max(file.n_cells));
                        }
                        "DataArray" => {
                            let section = open.last().cloned().unwrap_or_default();
                            let array = file.array(tag, at, section)?;
                            file.arrays.push(array);
                        }
                        "AppendedData" => {
                            file.appended_base64 = file.attribute(tag, at, "encoding")? != "raw";
                            file.append(at)?;
                            break;
                        }
                        _ => {}
                    }
                    if matches!(event, Event::Start(_)) {
                        open.push(name);
                    }
                }
                Event::End(_) => {
                    open.pop();
                }
                Event::Text(text) if open.last().is_some_and(|name| name == "DataArray") => {
                    let length = text.len();
                    let blank = text.trim().is_empty();
                    if let Some(Array {
                        source: DataSource::Text { start, end } | DataSource::Base64 { start, end },
                        ..
                    }) = file.arrays.last_mut().filter(|_| !blank)
                    {
                        (*start, *end) = (at as usize - length, at as usize);
                    }
                }
                Event::Eof if open.is_empty() => break,
                Event::Eof => return Err(file.fail(at, "the file ends within its XML; is it complete?")),
                _ => {}
            }
        }
        Ok(file)
    }

    /// An error at a byte of the XML. The message has the line.
    fn fail(&self, at: u64, message: impl Into<String>) -> Error {
        Scanner::new(self.path, self.bytes, (at as usize).min(self.bytes.len()), Encoding::Text).fail(message)
    }

    /// The value of an attribute, or "".
    fn attribute(&self, tag: &BytesStart, at: u64, name: &str) -> Result<String> {
        let fail = |message: String| self.fail(at, message);
        let Some(attribute) = tag.try_get_attribute(name).map_err(|e| fail(e.to_string()))? else {
            return Ok(String::new());
        };
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|e| fail(e.to_string()))?;
        Ok(value.trim().to_string())
    }

    fn size(&self, tag: &BytesStart, at: u64, name: &str) -> Result<usize> {
        let value = self.attribute(tag, at, name)?;
        // More would not fit into memory. Products with the size of a number stay below 2^64.
        value.parse().ok().filter(|&n: &usize| n <= u32::MAX as usize).ok_or_else(|| {
            self.fail(at, format!("{name}=\"{value}\" must be a whole number of at most 32 bits"))
        })
    }

    fn header(&mut self, tag: &BytesStart, at: u64) -> Result<()> {
        let shape = self.attribute(tag, at, "type")?;
        if shape != "UnstructuredGrid" {
            return Err(self.fail(
                at,
                format!("a file of type '{shape}' is no mesh; save as one UnstructuredGrid (.vtu)"),
            ));
        }
        self.encoding = if self.attribute(tag, at, "byte_order")? == "BigEndian" {
            Encoding::Big
        } else {
            Encoding::Little
        };
        self.header_size = if self.attribute(tag, at, "header_type")? == "UInt64" { 8 } else { 4 };
        self.compressed = match self.attribute(tag, at, "compressor")?.as_str() {
            "" => false,
            "vtkZLibDataCompressor" => true,
            other => {
                return Err(self
                    .fail(at, format!("data compressed by {other} cannot be read; save with zlib or none")));
            }
        };
        Ok(())
    }

    fn array(&self, tag: &BytesStart, at: u64, section: String) -> Result<Array> {
        let components = match tag.try_get_attribute("NumberOfComponents") {
            Ok(Some(_)) => self.size(tag, at, "NumberOfComponents")?,
            _ => 1,
        };
        let source = match self.attribute(tag, at, "format")?.as_str() {
            "appended" => DataSource::Appended {
                offset: self
                    .attribute(tag, at, "offset")?
                    .parse()
                    .map_err(|_| self.fail(at, "an appended array needs its offset, a whole number"))?,
            },
            "binary" => DataSource::Base64 { start: 0, end: 0 },
            "ascii" | "" => DataSource::Text { start: 0, end: 0 },
            other => {
                return Err(self.fail(at, format!("format '{other}' is none of ascii, binary and appended")));
            }
        };
        let (name, kind) = (self.attribute(tag, at, "Name")?, self.attribute(tag, at, "type")?);
        Ok(Array { section, name, kind, components, source })
    }

    /// Finds the appended data, which begins behind the first '_' after its tag.
    fn append(&mut self, at: u64) -> Result<()> {
        let behind = &self.bytes[at as usize..];
        let start =
            behind.iter().position(|b| !b.is_ascii_whitespace()).filter(|&start| behind[start] == b'_');
        let start =
            start.ok_or_else(|| self.fail(at, "appended data must begin with '_'; is the file complete?"))?;
        let data = &behind[start + 1..];
        // Base64 ends at the next '<', where the XML goes on. Binary data may have a '<' anywhere.
        let end = if self.appended_base64 { data.iter().position(|&b| b == b'<') } else { None };
        self.appended = &data[..end.unwrap_or(data.len())];
        Ok(())
    }

    fn grid(&self) -> Result<Grid> {
        let points = self.needed("Points", None)?;
        if points.components != 3 {
            return Err(self.complain(points, format!("points have 3 components, not {}", points.components)));
        }
        let whole = |name| {
            move |n| {
                let array = self.needed("Cells", Some(name))?;
                let values = self.values(array, n)?.into_whole();
                values.ok_or_else(|| self.complain(array, "it must hold whole numbers".into()))
            }
        };
        let ends: Vec<i64> = whole("offsets")(self.n_cells)?;
        let entries = usize::try_from(ends.last().copied().unwrap_or(0)).unwrap_or(usize::MAX);
        let mut grid = Grid {
            points: self.values(points, self.n_points)?.into_real(),
            connectivity: whole("connectivity")(entries)?,
            types: whole("types")(self.n_cells)?,
            ends,
            ..Grid::default()
        };
        for array in self.arrays.iter().filter(|array| is_wanted(&array.name)) {
            let (data, n) = match array.section.as_str() {
                "CellData" => (&mut grid.cell_data, self.n_cells),
                "PointData" => (&mut grid.point_data, self.n_points),
                _ => continue,
            };
            let (name, components, values) = (array.name.clone(), array.components, self.values(array, n)?);
            data.push(Attribute { name, components, values });
        }
        Ok(grid)
    }

    fn needed(&self, section: &str, name: Option<&str>) -> Result<&Array> {
        let fits = |array: &&Array| array.section == section && name.is_none_or(|name| array.name == name);
        self.arrays.iter().find(fits).ok_or_else(|| {
            let name = name.unwrap_or("Points");
            Error::Mesh(format!(
                "{}: there is no array '{name}' in <{section}>; is the file complete?",
                self.path.display()
            ))
        })
    }

    fn complain(&self, array: &Array, message: String) -> Error {
        Error::Mesh(format!(
            "{}: array '{}' in <{}>: {message}",
            self.path.display(),
            array.name,
            array.section
        ))
    }

    /// The numbers of an array of `tuples` tuples.
    fn values(&self, array: &Array, tuples: usize) -> Result<Values> {
        let complain = |message: String| self.complain(array, message);
        let kind = Kind::named(&array.kind)
            .ok_or_else(|| complain(format!("numbers of type '{}' cannot be read", array.kind)))?;
        let n = tuples.saturating_mul(array.components);
        let what = format!("array '{}'", array.name);
        if let DataSource::Text { start, end } = array.source {
            let mut text = Scanner::new(self.path, &self.bytes[..end], start, Encoding::Text);
            let values = kind.read(&mut text, n, &what)?;
            if !text.at_end() {
                return Err(text.fail(format!("{what} has more than the {n} numbers that are expected")));
            }
            return Ok(values);
        }
        let expected =
            n.checked_mul(kind.size()).ok_or_else(|| complain(format!("{n} numbers cannot be")))?;
        let stored = self.stored(array).map_err(complain)?;
        let data = if self.compressed {
            inflate(&stored, self.header_size, self.encoding, expected).map(Cow::Owned)
        } else {
            uncompressed(&stored, self.header_size, self.encoding, expected).map(Cow::Borrowed)
        };
        let data = data.map_err(complain)?;
        kind.read(&mut Scanner::new(self.path, &data, 0, self.encoding), n, &what)
    }

    /// The bytes of an array, with its header in front. Behind appended ones there may be those of others.
    fn stored(&self, array: &Array) -> std::result::Result<Cow<'a, [u8]>, String> {
        match array.source {
            DataSource::Text { start, end } | DataSource::Base64 { start, end } => {
                base64(&self.bytes[start..end]).map(Cow::Owned)
            }
            DataSource::Appended { offset } => {
                let behind = self.appended.get(offset..).ok_or_else(|| {
                    format!(
                        "it begins at byte {offset} of {} appended ones; is the file complete?",
                        self.appended.len()
                    )
                })?;
                // The array ends where the next one begins.
                let next = self.arrays.iter().filter_map(|other| match other.source {
                    DataSource::Appended { offset: other } => {
                        other.checked_sub(offset).filter(|&length| length > 0)
                    }
                    _ => None,
                });
                let own = &behind[..next.min().unwrap_or(behind.len()).min(behind.len())];
                if self.appended_base64 { base64(own).map(Cow::Owned) } else { Ok(Cow::Borrowed(own)) }
            }
        }
    }
}
