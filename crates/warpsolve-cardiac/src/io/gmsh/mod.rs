//! Gmsh's meshes (`.msh`), versions 2.2 and 4.1, ASCII and binary.
//!
//! Format: C. Geuzaine, J.-F. Remacle, Gmsh reference manual, "Gmsh file formats" ("MSH file format", and
//! "Legacy formats" for 2.2). The crate mshio is not used: it reads 4.1 only, and panics on some files.
//!
//! The region of a cell is the first physical group of its volume, or 0. If no volume has a group, there are
//! no regions. Triangles and quads whose surface has a physical group are kept with it. In a file with
//! neither tetrahedra nor hexahedra the triangles are the cells, and the groups of their surfaces their
//! regions; lines whose curve has a group are kept with it.

mod shape;
mod tags;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;

use super::scan::{Encoding, Scanner, shorten};
use crate::mesh::{Face, ONLY_TETRAHEDRA, ONLY_TRIANGLES, Raw};
use shape::Shape;
use tags::Tags;
use warpsolve_host::error::Result;

/// Parses the bytes of a file.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Raw> {
    let mut file = Scanner::new(path, bytes, 0, Encoding::Text);
    let version = Version::open(&mut file)?;
    let mut reader = Reader {
        file,
        version,
        tags: Tags::default(),
        mesh: Raw::default(),
        groups: Vec::new(),
        groups_of_hexahedra: Vec::new(),
        flat_groups: Vec::new(),
        group_of_entity: HashMap::new(),
        elements: 0,
    };
    while reader.section()? {}
    reader.finish()
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    V2,
    V4,
}

impl Version {
    /// Reads up to the end of $MeshFormat, and sets the encoding of the file's numbers.
    fn open(file: &mut Scanner) -> Result<Version> {
        while file.word() != "$MeshFormat" {
            // Comments may come first.
            if !file.skip_past("$End") {
                return Err(file.fail("there is no $MeshFormat"));
            }
            file.line();
        }
        let version = match file.word() {
            "2.2" | "2.1" | "2" => Version::V2,
            "4.1" => Version::V4,
            other => {
                let message = format!("version '{}' cannot be read; save as 4.1 or 2.2", shorten(other));
                return Err(file.fail(message));
            }
        };
        let binary: u8 = file.worded("the file type")?;
        let size: u8 = file.worded("the data size")?;
        file.end_line()?;
        if binary > 1 || size != 8 {
            return Err(file.fail(format!(
                "file type {binary} with numbers of {size} bytes cannot be read; 0 or 1 and 8 can"
            )));
        }
        if binary == 1 {
            file.encoding = Encoding::Little;
            let one: i32 = file.number("the number 1")?;
            file.encoding = match one {
                1 => Encoding::Little,
                0x0100_0000 => Encoding::Big,
                other => return Err(file.fail(format!("the number 1 is expected, not {other}"))),
            };
        }
        file.skip_past("$EndMeshFormat");
        Ok(version)
    }
}

struct Reader<'a> {
    file: Scanner<'a>,
    version: Version,
    tags: Tags,
    mesh: Raw,
    /// The group of each tetrahedron, or 0.
    groups: Vec<i32>,
    /// The same of each hexahedron.
    groups_of_hexahedra: Vec<i32>,
    /// The same of each triangle.
    flat_groups: Vec<i32>,
    /// The group of each curve, surface and volume that has one, by dimension and number.
    group_of_entity: HashMap<(i32, i32), i32>,
    elements: usize,
}

impl Reader<'_> {
    /// Reads a section; false at the end of the file.
    fn section(&mut self) -> Result<bool> {
        let name = self.file.word();
        match (name, self.version) {
            ("", _) => return Ok(false),
            ("$Nodes" | "$Elements" | "$Entities", _) => self.file.end_line()?,
            ("$PartitionedEntities", _) => {
                return Err(self.file.fail("partitioned meshes cannot be read; save without partitions"));
            }
            (other, _) if !other.starts_with('$') => {
                return Err(self.file.fail(format!("a section is expected, not '{}'", shorten(other))));
            }
            _ => {}
        }
        match (name, self.version) {
            ("$Nodes", Version::V2) => self.nodes_2()?,
            ("$Nodes", Version::V4) => self.nodes_4()?,
            ("$Elements", Version::V2) => self.elements_2()?,
            ("$Elements", Version::V4) => self.elements_4()?,
            ("$Entities", Version::V4) => self.entities()?,
            _ => {
                let end = format!("$End{}", &name[1..]);
                if !self.file.skip_past(&end) {
                    return Err(self.file.fail(format!("there is no {end}; is the file complete?")));
                }
                return Ok(true);
            }
        }
        let end = self.file.word();
        if end.strip_prefix("$End") != Some(&name[1..]) {
            let found = if end.is_empty() { "the end of the file" } else { &shorten(end) };
            return Err(self.file.fail(format!("$End{} is expected, not {found}", &name[1..])));
        }
        Ok(true)
    }

    fn finish(mut self) -> Result<Raw> {
        if self.elements == 0 {
            return Err(self.file.fail("the file ends before $Elements; is it complete?"));
        }
        let regions = |groups: Vec<i32>| groups.iter().any(|&group| group != 0).then_some(groups);
        self.mesh.solid.regions = regions(self.groups);
        self.mesh.flat.regions = regions(self.flat_groups);
        self.mesh.hexahedra.regions = regions(self.groups_of_hexahedra);
        Ok(self.mesh)
    }

    /// The number of items, of at least `size` bytes each.
    fn count(&mut self, size: usize, what: &str) -> Result<usize> {
        let n: u64 = self.file.number(&format!("the number of {what}"))?;
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        self.file.check_count(n, size, what)?;
        Ok(n)
    }

    /// A count on a line of its own, which is text in binary files too.
    fn line_count(&mut self, what: &str) -> Result<usize> {
        let n: u64 = self.file.worded(&format!("the number of {what}"))?;
        self.file.end_line()?;
        Ok(usize::try_from(n).unwrap_or(usize::MAX))
    }

    fn point(&mut self) -> Result<[f64; 3]> {
        Ok([
            self.file.number("a coordinate")?,
            self.file.number("a coordinate")?,
            self.file.number("a coordinate")?,
        ])
    }

    fn index_nodes(&mut self, tags: Vec<u64>) -> Result<()> {
        self.tags = Tags::new(tags).map_err(|tag| self.file.fail(format!("node {tag} is there twice")))?;
        Ok(())
    }

    /// nodes; number x y z
    fn nodes_2(&mut self) -> Result<()> {
        let n = self.line_count("nodes")?;
        self.file.check_count(n, 28, "nodes")?;
        let mut tags = Vec::with_capacity(n);
        for _ in 0..n {
            let tag: i32 = self.file.number("the number of a node")?;
            // A negative number stays one and the same: `node` converts those of elements alike.
            tags.push(tag as u64);
            let point = self.point()?;
            self.mesh.solid.points.push(point);
        }
        self.index_nodes(tags)
    }

    /// blocks nodes smallest largest; for each block: dimension entity parametric n; n numbers; n points
    fn nodes_4(&mut self) -> Result<()> {
        let blocks = self.count(20, "blocks of nodes")?;
        let announced = self.count(32, "nodes")?;
        let _range: Vec<u64> = self.file.numbers(2, "the range of node numbers")?;
        let mut tags = Vec::with_capacity(announced);
        for _ in 0..blocks {
            let dimension: i32 = self.file.number("the dimension of an entity")?;
            let _entity: i32 = self.file.number("the number of an entity")?;
            let parametric: i32 = self.file.number("'parametric'")?;
            let n = self.count(32, "nodes of a block")?;
            tags.extend(self.file.numbers::<u64>(n, "the numbers of nodes")?);
            let parameters = if parametric == 0 { 0 } else { dimension.clamp(0, 3) as usize };
            for _ in 0..n {
                let point = self.point()?;
                self.mesh.solid.points.push(point);
                self.file.numbers::<f64>(parameters, "the parameters of a node")?;
            }
        }
        if tags.len() != announced {
            return Err(self
                .file
                .fail(format!("{announced} nodes are announced, but there are {}", tags.len())));
        }
        self.index_nodes(tags)
    }

    /// points curves surfaces volumes; each with its number, box, groups and boundary
    fn entities(&mut self) -> Result<()> {
        let counts: Vec<u64> = self.file.numbers(4, "the numbers of entities")?;
        for (dimension, &n) in counts.iter().enumerate() {
            for _ in 0..n {
                let entity: i32 = self.file.number("the number of an entity")?;
                let corners = if dimension == 0 { 3 } else { 6 };
                self.file.numbers::<f64>(corners, "the box of an entity")?;
                let n_groups = self.count(4, "groups of an entity")?;
                let groups: Vec<i32> = self.file.numbers(n_groups, "the groups of an entity")?;
                if dimension > 0 {
                    let n_parts = self.count(4, "parts of a boundary")?;
                    self.file.numbers::<i32>(n_parts, "the boundary of an entity")?;
                }
                if let (1.., Some(&group)) = (dimension, groups.first()) {
                    self.group_of_entity.insert((dimension as i32, entity), group);
                }
            }
        }
        Ok(())
    }

    /// elements; as text: number shape tags ... nodes ...; as bytes: shape n tags, and n times number tags
    /// nodes
    fn elements_2(&mut self) -> Result<()> {
        let announced = self.line_count("elements")?;
        let is_text = self.file.encoding == Encoding::Text;
        let end = self.elements.saturating_add(announced);
        while self.elements < end {
            if is_text {
                let _number: i32 = self.file.number("the number of an element")?;
            }
            let shape = self.shape()?;
            let n: i32 = if is_text { 1 } else { self.file.number("the number of elements in a block")? };
            let n_tags: i32 = self.file.number("the number of tags")?;
            if n < 1 || n as usize > end - self.elements || n_tags < 0 {
                return Err(self.file.fail(format!("a block of {n} elements with {n_tags} tags cannot be")));
            }
            for _ in 0..n {
                if !is_text {
                    let _number: i32 = self.file.number("the number of an element")?;
                }
                let tags: Vec<i32> = self.file.numbers(n_tags as usize, "the tags of an element")?;
                self.element(shape, tags.first().copied().unwrap_or(0))?;
            }
        }
        Ok(())
    }

    /// blocks elements smallest largest; for each block: dimension entity shape n, and n times number nodes
    fn elements_4(&mut self) -> Result<()> {
        let blocks = self.count(20, "blocks of elements")?;
        let announced = self.count(16, "elements")?;
        let _range: Vec<u64> = self.file.numbers(2, "the range of element numbers")?;
        for _ in 0..blocks {
            let dimension: i32 = self.file.number("the dimension of an entity")?;
            let entity: i32 = self.file.number("the number of an entity")?;
            let shape = self.shape()?;
            let group = self.group_of_entity.get(&(dimension, entity)).copied().unwrap_or(0);
            for _ in 0..self.count(16, "elements of a block")? {
                let _number: u64 = self.file.number("the number of an element")?;
                self.element(shape, group)?;
            }
        }
        if self.elements != announced {
            return Err(self
                .file
                .fail(format!("{announced} elements are announced, but there are {}", self.elements)));
        }
        Ok(())
    }

    fn shape(&mut self) -> Result<Shape> {
        let shape: i32 = self.file.number("the type of an element")?;
        Shape::numbered(shape).map_err(|what| {
            let advice = ONLY_TETRAHEDRA;
            self.file.fail(format!("element {} is {what}; {advice}", self.elements + 1))
        })
    }

    /// Reads the nodes of the next element, and keeps it if it is a cell, or a face with a number.
    fn element(&mut self, shape: Shape, group: i32) -> Result<()> {
        self.elements += 1;
        let n = self.mesh.solid.points.len();
        match shape {
            Shape::Flat { nodes, is_surface } => {
                for _ in 0..nodes {
                    self.node()?;
                }
                self.mesh.solid.skipped += 1;
                if is_surface {
                    let advice = ONLY_TRIANGLES;
                    let why = format!("element {} is no linear triangle; {advice}", self.elements);
                    self.mesh.not_flat.get_or_insert(why);
                }
                Ok(())
            }
            Shape::Triangle => {
                let nodes = self.nodes()?;
                self.mesh.solid.skipped += 1;
                self.triangle(nodes, group);
                Ok(())
            }
            Shape::Line => {
                self.mesh.solid.skipped += 1;
                let nodes = self.nodes()?;
                self.tag(group, nodes, Face::Edge);
                Ok(())
            }
            Shape::Quad => {
                self.mesh.solid.skipped += 1;
                let nodes = self.nodes()?;
                self.tag(group, nodes, Face::Quad);
                let advice = ONLY_TRIANGLES;
                let why = format!("element {} is no linear triangle; {advice}", self.elements);
                self.mesh.not_flat.get_or_insert(why);
                Ok(())
            }
            Shape::Tetrahedron => {
                let nodes = self.nodes_of_cell()?;
                self.groups.push(group);
                let pushed = self.mesh.solid.push(self.elements, nodes, 0, n);
                pushed.map_err(|message| self.file.fail(message))
            }
            Shape::Hexahedron => {
                let nodes = self.nodes_of_cell()?;
                self.groups_of_hexahedra.push(group);
                let pushed = self.mesh.hexahedra.push(self.elements, nodes, 0, n);
                pushed.map_err(|message| self.file.fail(message))
            }
        }
    }

    /// The indices of the nodes of a cell, all of which must be there.
    fn nodes_of_cell<const N: usize>(&mut self) -> Result<[i64; N]> {
        let nodes: [(u64, Option<i64>); N] = self.nodes()?;
        match nodes.iter().find(|(_, index)| index.is_none()) {
            Some((tag, _)) => Err(self.file.fail(self.missing(*tag))),
            None => Ok(nodes.map(|(_, index)| index.unwrap_or(-1))),
        }
    }

    /// Keeps a face that has a number. One with a node that is not there bounds nothing.
    fn tag<const N: usize>(
        &mut self,
        group: i32,
        nodes: [(u64, Option<i64>); N],
        face: fn([u32; N]) -> Face,
    ) {
        if group != 0 && nodes.iter().all(|(_, index)| index.is_some()) {
            self.mesh.add_tagged(face(nodes.map(|(_, index)| index.unwrap_or(0) as u32)), group);
        }
    }

    fn missing(&self, tag: u64) -> String {
        format!("element {} has node {tag}, which is not among the nodes", self.elements)
    }

    /// The numbers and indices of the nodes of an element.
    fn nodes<const N: usize>(&mut self) -> Result<[(u64, Option<i64>); N]> {
        let mut nodes = [(0, None); N];
        for node in &mut nodes {
            let tag = self.node()?;
            *node = (tag, self.tags.index(tag));
        }
        Ok(nodes)
    }

    /// Keeps a triangle, which is a cell of a mesh without tetrahedra, and bounds others. One with a node
    /// that is not there bounds nothing.
    fn triangle(&mut self, nodes: [(u64, Option<i64>); 3], group: i32) {
        let [Some(a), Some(b), Some(c)] = nodes.map(|(_, index)| index) else {
            let missing = nodes.iter().find(|(_, index)| index.is_none()).map(|(tag, _)| self.missing(*tag));
            self.mesh.not_flat = self.mesh.not_flat.take().or(missing);
            return;
        };
        let n = self.mesh.solid.points.len();
        match self.mesh.flat.push(self.elements, [a, b, c], 0, n) {
            Ok(()) => self.flat_groups.push(group),
            Err(why) => self.mesh.not_flat = self.mesh.not_flat.take().or(Some(why)),
        }
        if group != 0 {
            self.mesh.add_tagged(Face::Triangle([a, b, c].map(|node| node as u32)), group);
        }
    }

    fn node(&mut self) -> Result<u64> {
        match self.version {
            Version::V2 => self.file.number::<i32>("a node of an element").map(|tag| tag as u64),
            Version::V4 => self.file.number("a node of an element"),
        }
    }
}
