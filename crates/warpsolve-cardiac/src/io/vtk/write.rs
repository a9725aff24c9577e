//! Writing VTU files, and PVTU files that list some: appended data in 64 bits, compressed by zlib.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use quick_xml::escape::escape;
use rayon::prelude::*;

use crate::mesh::Mesh;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::io::atomic::write_atomically;

/// Bytes compressed at a time.
const BLOCK: usize = 1 << 18;

/// Writes a mesh with values at its nodes to a VTU file, which appears when it is complete.
///
/// Each of `point_data` is a name, and a value or the three components of a vector for every node. Regions
/// and fibres are written as cell data
/// `region` and `fibre`. Coordinates are in mm.
///
/// # Errors
/// [`Error::Mesh`] when there are not one or three values for every node; [`Error::Io`] when the file cannot
/// be written.
pub fn write_vtu<const C: usize>(path: &Path, mesh: &Mesh<C>, point_data: &[(&str, &[f64])]) -> Result<()> {
    VtuWriter::new(mesh).write(path, point_data)
}

/// Writes many VTU files of one mesh, which is compressed only once.
pub struct VtuWriter {
    n_points: usize,
    n_cells: usize,
    /// What every file has at the nodes.
    point_data: Vec<Array>,
    cell_data: Vec<Array>,
    points: Array,
    cells: Vec<Array>,
}

/// A compressed array and the attributes of its tag.
struct Array {
    attributes: String,
    data: Vec<u8>,
}

impl Array {
    fn new(kind: &str, name: &str, components: usize, bytes: &[u8]) -> Self {
        Array { attributes: attributes(kind, name, components), data: compress(bytes) }
    }

    fn from_f64(name: &str, components: usize, values: &[f64]) -> Self {
        Array::new("Float64", name, components, &bytes_of(values, |x| x.to_le_bytes()))
    }
}

fn attributes(kind: &str, name: &str, components: usize) -> String {
    format!("type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"{components}\"", escape(name))
}

/// The beginning of a file of this type, up to the name of the tag with its contents.
fn file_tag(kind: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n<{kind}"
    )
}

fn bytes_of<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| bytes(value)).collect()
}

/// [blocks] [bytes of a block] [bytes of the last one, if it is shorter] [compressed bytes of each] [blocks]
fn compress(bytes: &[u8]) -> Vec<u8> {
    let blocks: Vec<Vec<u8>> = bytes
        .par_chunks(BLOCK)
        .map(|block| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(block).and_then(|()| encoder.finish()).expect("memory can be written to")
        })
        .collect();
    let header = [blocks.len(), BLOCK, bytes.len() % BLOCK].into_iter().chain(blocks.iter().map(Vec::len));
    let mut data: Vec<u8> = header.flat_map(|number| (number as u64).to_le_bytes()).collect();
    data.extend(blocks.into_iter().flatten());
    data
}

impl VtuWriter {
    /// Takes the mesh, its regions and its fibres.
    pub fn new<const C: usize>(mesh: &Mesh<C>) -> Self {
        let n_cells = mesh.cells().len();
        let corners = bytes_of(mesh.cells().as_flattened(), |node| i64::from(node).to_le_bytes());
        let ends: Vec<i64> = (1..=n_cells as i64).map(|cell| C as i64 * cell).collect();
        // VTK's numbers for triangles, tetrahedra and hexahedra.
        let shape: u8 = match C {
            3 => 5,
            4 => 10,
            _ => 12,
        };
        let region = |regions| {
            Array::new("Int32", "region", 1, &bytes_of(regions, |region: i32| region.to_le_bytes()))
        };
        let fibre = |fibres: &[[f64; 3]]| Array::from_f64("fibre", 3, fibres.as_flattened());
        VtuWriter {
            n_points: mesh.points().len(),
            n_cells,
            point_data: Vec::new(),
            cell_data: mesh.regions().map(region).into_iter().chain(mesh.fibres().map(fibre)).collect(),
            points: Array::from_f64("Points", 3, mesh.points().as_flattened()),
            cells: vec![
                Array::new("Int64", "connectivity", 1, &corners),
                Array::new("Int64", "offsets", 1, &bytes_of(&ends, i64::to_le_bytes)),
                Array::new("UInt8", "types", 1, &vec![shape; n_cells]),
            ],
        }
    }

    /// The same of a part of a mesh, whose nodes have these numbers there: `node` of each.
    pub fn numbered(mut self, nodes: &[u32]) -> Self {
        let numbers = bytes_of(nodes, |node| i64::from(node).to_le_bytes());
        self.point_data.push(Array::new("Int64", "node", 1, &numbers));
        self
    }

    /// Writes a PVTU file, which lists files in the same folder that other writers have of parts of a mesh:
    /// with regions and fibres as this one's, and these values at their nodes.
    ///
    /// # Errors
    /// [`Error::Io`] when the file cannot be written.
    pub fn write_list(&self, path: &Path, point_data: &[&str], files: &[String]) -> Result<()> {
        let attributes_of = |arrays: &[Array]| arrays.iter().map(|array| array.attributes.clone()).collect();
        let mut at_nodes: Vec<String> = attributes_of(&self.point_data);
        at_nodes.extend(point_data.iter().map(|name| attributes("Float64", name, 1)));
        let sections = [
            ("PPointData", at_nodes),
            ("PCellData", attributes_of(&self.cell_data)),
            ("PPoints", vec![self.points.attributes.clone()]),
        ];
        write_atomically(path, |to| {
            writeln!(to, "{} GhostLevel=\"0\">", file_tag("PUnstructuredGrid"))?;
            for (section, arrays) in &sections {
                writeln!(to, "<{section}>")?;
                arrays.iter().try_for_each(|attributes| writeln!(to, "<PDataArray {attributes}/>"))?;
                writeln!(to, "</{section}>")?;
            }
            files
                .iter()
                .try_for_each(|file| writeln!(to, "<Piece Source=\"{}\"/>", escape(file.as_str())))?;
            writeln!(to, "</PUnstructuredGrid>\n</VTKFile>")
        })
    }

    /// Writes a file with values at the nodes.
    ///
    /// # Errors
    /// Those of [`write_vtu`].
    pub fn write(&self, path: &Path, point_data: &[(&str, &[f64])]) -> Result<()> {
        let components = |values: &[f64]| [1, 3].into_iter().find(|n| values.len() == n * self.n_points);
        if let Some((name, values)) = point_data.iter().find(|(_, values)| components(values).is_none()) {
            return Err(Error::Mesh(format!(
                "{}: '{name}' has {} values, but the mesh has {} nodes",
                path.display(),
                values.len(),
                self.n_points
            )));
        }
        let array =
            |&(name, values): &(&str, &[f64])| Array::from_f64(name, components(values).unwrap_or(1), values);
        let data: Vec<Array> = point_data.iter().map(array).collect();
        write_atomically(path, |to| self.fill(to, &data))
    }

    fn fill(&self, to: &mut dyn Write, point_data: &[Array]) -> io::Result<()> {
        let sections: [(&str, Vec<&Array>); 4] = [
            ("PointData", self.point_data.iter().chain(point_data).collect()),
            ("CellData", self.cell_data.iter().collect()),
            ("Points", vec![&self.points]),
            ("Cells", self.cells.iter().collect()),
        ];
        writeln!(to, "{}>", file_tag("UnstructuredGrid"))?;
        writeln!(to, "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">", self.n_points, self.n_cells)?;
        let mut offset = 0;
        for (section, arrays) in &sections {
            writeln!(to, "<{section}>")?;
            for array in arrays {
                writeln!(to, "<DataArray {} format=\"appended\" offset=\"{offset}\"/>", array.attributes)?;
                offset += array.data.len();
            }
            writeln!(to, "</{section}>")?;
        }
        write!(to, "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_")?;
        for array in sections.iter().flat_map(|(_, arrays)| arrays.iter()) {
            to.write_all(&array.data)?;
        }
        writeln!(to, "\n</AppendedData>\n</VTKFile>")
    }
}
