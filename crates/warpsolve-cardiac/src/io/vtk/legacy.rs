//! Legacy VTK files (`.vtk`), ASCII and binary, versions 1.0 to 5.1.

use std::path::Path;

use super::arrays::{Kind, Values};
use super::{Attribute, Grid, is_wanted};
use crate::io::scan::{Encoding, Scanner, shorten};
use crate::mesh::Raw;
use warpsolve_host::error::{Error, Result};

/// Parses the bytes of a legacy file.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Raw> {
    let mut file = Scanner::new(path, bytes, 0, Encoding::Text);
    let version = file.line().unwrap_or_default();
    let version = version.trim_start_matches("# vtk DataFile Version").trim();
    let major: u32 = version.split('.').next().and_then(|major| major.parse().ok()).ok_or_else(|| {
        file.fail(format!("'# vtk DataFile Version x.y' is expected, not the version '{}'", shorten(version)))
    })?;
    let _title = file.line();
    let encoding = match file.filled_line().unwrap_or_default().to_uppercase().as_str() {
        "ASCII" => Encoding::Text,
        "BINARY" => Encoding::Big,
        other => return Err(file.fail(format!("ASCII or BINARY is expected, not '{}'", shorten(other)))),
    };
    file.encoding = encoding;
    let mut reader = Reader { file, major, grid: Grid::default(), section: None };
    while reader.section()? {}
    reader.grid.into_mesh().map_err(|message| Error::Mesh(format!("{}: {message}", path.display())))
}

/// What attributes belong to.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    Points,
    Cells,
}

struct Reader<'a> {
    file: Scanner<'a>,
    major: u32,
    grid: Grid,
    /// Whether the next attributes are those of points or of cells, and the number of these.
    section: Option<(Of, usize)>,
}

impl Reader<'_> {
    /// Reads the next keyword and its data; false at the end of the file.
    fn section(&mut self) -> Result<bool> {
        let keyword = self.file.word().to_uppercase();
        match keyword.as_str() {
            "" => {
                if self.grid.types.is_empty() {
                    return Err(self.file.fail("the file ends before CELL_TYPES; is it complete?"));
                }
                return Ok(false);
            }
            "DATASET" => {
                let shape = self.file.line().unwrap_or_default();
                if !shape.eq_ignore_ascii_case("UNSTRUCTURED_GRID") {
                    let message = format!("'{}' cannot be read; save as UNSTRUCTURED_GRID", shorten(&shape));
                    return Err(self.file.fail(message));
                }
            }
            "POINTS" => {
                let n = self.count("points")?;
                let kind = self.kind_of_line()?;
                self.grid.points = self.values(kind, n, 3, "the points")?.into_real();
            }
            "CELLS" => self.cells()?,
            "CELL_TYPES" => {
                let n = self.count("cell types")?;
                self.file.end_line()?;
                self.grid.types = self.whole(Kind::I32, n, "the cell types")?;
            }
            "POINT_DATA" => self.section = Some((Of::Points, self.data_of(self.grid.points.len() / 3)?)),
            "CELL_DATA" => self.section = Some((Of::Cells, self.data_of(self.grid.ends.len())?)),
            "METADATA" => self.skip_metadata(),
            "FIELD" => self.field()?,
            other => self.attribute(other)?,
        }
        Ok(true)
    }

    fn count(&mut self, what: &str) -> Result<usize> {
        let n: u64 = self.file.worded(&format!("the number of {what}"))?;
        usize::try_from(n).map_err(|_| self.file.fail(format!("there cannot be {n} {what}")))
    }

    /// The number of points or cells that the data is for. It must be the `expected` one.
    fn data_of(&mut self, expected: usize) -> Result<usize> {
        let n = self.count("values")?;
        self.file.end_line()?;
        if n != expected {
            return Err(self
                .file
                .fail(format!("there is data for {n}, but the grid before it has {expected}")));
        }
        Ok(n)
    }

    fn kind_of(&self, name: &str) -> Result<Kind> {
        Kind::named(name).ok_or_else(|| {
            self.file.fail(format!(
                "numbers of type '{}' cannot be read; save as int, float or double",
                shorten(name)
            ))
        })
    }

    /// The type at the end of this line.
    fn kind_of_line(&mut self) -> Result<Kind> {
        let name = self.file.line().unwrap_or_default();
        self.kind_of(&name)
    }

    fn values(&mut self, kind: Kind, tuples: usize, components: usize, what: &str) -> Result<Values> {
        kind.read(&mut self.file, tuples.saturating_mul(components), what)
    }

    fn whole(&mut self, kind: Kind, n: usize, what: &str) -> Result<Vec<i64>> {
        let values = self.values(kind, n, 1, what)?.into_whole();
        values.ok_or_else(|| self.file.fail(format!("{what} must be whole numbers")))
    }

    /// CELLS n m. Up to version 4 there are m numbers, with a cell's length in front of its points. From
    /// version 5 on there are n offsets and m entries.
    fn cells(&mut self) -> Result<()> {
        let (n, m) = (self.count("cells")?, self.count("entries of cells")?);
        self.file.end_line()?;
        if self.major >= 5 {
            let offsets = self.named_array("OFFSETS", n)?;
            if offsets.first().is_some_and(|&first| first != 0) {
                return Err(self.file.fail(format!("the first cell starts at entry {}, not 0", offsets[0])));
            }
            self.grid.ends = offsets.get(1..).unwrap_or_default().to_vec();
            self.grid.connectivity = self.named_array("CONNECTIVITY", m)?;
            return Ok(());
        }
        let list = self.whole(Kind::I32, m, "the cells")?;
        let mut rest = list.as_slice();
        while let Some((&length, behind)) = rest.split_first() {
            let nodes = usize::try_from(length).ok().and_then(|length| behind.split_at_checked(length));
            let Some((nodes, behind)) = nodes else {
                let number = self.grid.ends.len() + 1;
                return Err(self
                    .file
                    .fail(format!("cell {number} has {length} nodes, beyond the end of the cells")));
            };
            self.grid.connectivity.extend(nodes);
            self.grid.ends.push(self.grid.connectivity.len() as i64);
            rest = behind;
        }
        if self.grid.ends.len() != n {
            return Err(self
                .file
                .fail(format!("{n} cells are announced, but there are {}", self.grid.ends.len())));
        }
        Ok(())
    }

    fn named_array(&mut self, name: &str, n: usize) -> Result<Vec<i64>> {
        let word = self.file.word();
        if word != name {
            return Err(self.file.fail(format!("{name} is expected, not '{}'", shorten(word))));
        }
        let kind = self.kind_of_line()?;
        self.whole(kind, n, &format!("the {name}"))
    }

    /// Moves behind the blank line that ends metadata.
    fn skip_metadata(&mut self) {
        self.file.line();
        while self.file.line().is_some_and(|line| !line.is_empty()) {}
    }

    /// FIELD name n, and n times: name components tuples type.
    fn field(&mut self) -> Result<()> {
        let _name = self.file.word();
        let arrays = self.count("arrays")?;
        self.file.end_line()?;
        for _ in 0..arrays {
            let mut name = self.file.word();
            if name == "METADATA" {
                self.skip_metadata();
                name = self.file.word();
            }
            let (components, tuples) = (self.count("components")?, self.count("values")?);
            let kind = self.kind_of_line()?;
            self.take(name, kind, components, tuples)?;
        }
        Ok(())
    }

    /// KEYWORD name ... and the data.
    fn attribute(&mut self, keyword: &str) -> Result<()> {
        let line = self.file.line().unwrap_or_default();
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or("");
        let mut next = || words.next().unwrap_or("");
        // Colours are fractions in text files, and bytes in binary ones.
        let colour = if self.file.encoding == Encoding::Text { Kind::F32 } else { Kind::U8 };
        let tuples = self.section.map_or(0, |(_, n)| n);
        let number = |word: &str| word.parse::<usize>().ok();
        let (kind, components, tuples) = match keyword {
            "SCALARS" => {
                let kind = self.kind_of(next())?;
                let components = next();
                let table = self.file.word();
                self.file.line();
                if table != "LOOKUP_TABLE" {
                    return Err(self
                        .file
                        .fail(format!("LOOKUP_TABLE is expected, not '{}'", shorten(table))));
                }
                (kind, if components.is_empty() { Some(1) } else { number(components) }, Some(tuples))
            }
            "VECTORS" | "NORMALS" => (self.kind_of(next())?, Some(3), Some(tuples)),
            "TENSORS" => (self.kind_of(next())?, Some(9), Some(tuples)),
            "GLOBAL_IDS" | "PEDIGREE_IDS" => (self.kind_of(next())?, Some(1), Some(tuples)),
            "TEXTURE_COORDINATES" => {
                let components = number(next());
                (self.kind_of(next())?, components, Some(tuples))
            }
            "COLOR_SCALARS" => (colour, number(next()), Some(tuples)),
            "LOOKUP_TABLE" => (colour, Some(4), number(next())),
            other => return Err(self.file.fail(format!("'{}' is no keyword of a VTK file", shorten(other)))),
        };
        let (Some(components), Some(tuples)) = (components, tuples) else {
            return Err(self.file.fail(format!("the size of {keyword} '{}' is no number", shorten(name))));
        };
        self.take(name, kind, components, tuples)
    }

    /// Reads an array, and keeps it if it may hold regions or fibres.
    fn take(&mut self, name: &str, kind: Kind, components: usize, tuples: usize) -> Result<()> {
        let values = self.values(kind, tuples, components, &format!("'{}'", shorten(name)))?;
        let Some((of, n)) = self.section.filter(|_| is_wanted(name)) else { return Ok(()) };
        if n != tuples {
            return Err(self.file.fail(format!("'{name}' has {tuples} values, but the grid has {n}")));
        }
        let attribute = Attribute { name: name.to_string(), components, values };
        match of {
            Of::Points => self.grid.point_data.push(attribute),
            Of::Cells => self.grid.cell_data.push(attribute),
        }
        Ok(())
    }
}
