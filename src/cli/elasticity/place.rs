//! Parts of a mesh's surface by name.

use std::fmt;

use warpsolve::cardiac::Shape;
use warpsolve::cardiac::mesh::{Face, Mesh};
use warpsolve::fem::face_shares;
use warpsolve::number::{plain, vector};
use warpsolve::{Error, Result};

/// Nodes within this part of the box's longest side count as being on a side.
const SLACK: f64 = 1e-6;

/// A part of a mesh's surface.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// A side of the mesh's box.
    Side { axis: usize, is_high: bool },
    /// What has this number in the mesh's file: a physical surface or curve of Gmsh, or the region of a line,
    /// triangle or quad of VTK.
    Tag(i32),
    /// What is inside a shape.
    Shape(Shape),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Place::Side { axis, is_high } => {
                write!(f, "{}{}", ["x", "y", "z"][*axis], if *is_high { "max" } else { "min" })
            }
            Place::Tag(tag) => write!(f, "tag {tag}"),
            Place::Shape(Shape::Box { low, high }) => {
                write!(f, "the box from {} to {}", vector(*low), vector(*high))
            }
            Place::Shape(Shape::Ball { centre, radius }) => {
                write!(f, "the ball around {} of radius {}", vector(*centre), plain(*radius))
            }
        }
    }
}

impl Place {
    /// Whether each node is in it.
    ///
    /// # Errors
    /// [`Error::Mesh`] where none is.
    pub fn nodes<const C: usize>(&self, mesh: &Mesh<C>) -> Result<Vec<bool>> {
        let [low, high] = mesh.bounding_box();
        let slack = SLACK * (0..3).map(|x| high[x] - low[x]).fold(0.0, f64::max);
        let is_in = |p: &[f64; 3]| match self {
            Place::Side { axis, is_high } => {
                (p[*axis] - if *is_high { high } else { low }[*axis]).abs() <= slack
            }
            Place::Shape(shape) => shape.contains(*p, slack),
            Place::Tag(_) => false,
        };
        let mut nodes: Vec<bool> = mesh.points().iter().map(is_in).collect();
        if let Place::Tag(tag) = self {
            let faces = mesh.tagged_faces().iter().filter(|(_, found)| found == tag);
            faces.flat_map(|(face, _)| face.as_ref()).for_each(|&node| nodes[node as usize] = true);
        }
        if !nodes.contains(&true) {
            return Err(self.nothing(mesh));
        }
        Ok(nodes)
    }

    /// The share of each node in the faces of the boundary that are in it, or in those of the tag; in a plane
    /// faces are edges.
    ///
    /// # Errors
    /// [`Error::Mesh`] where none is.
    pub fn shares<const C: usize>(&self, mesh: &Mesh<C>) -> Result<Vec<f64>> {
        if let Place::Tag(tag) = self {
            let faces = mesh.tagged_faces().iter().filter(|(_, found)| found == tag).map(|(face, _)| *face);
            return self.share_out(mesh, faces.collect());
        }
        let nodes = self.nodes(mesh)?;
        let is_in = |face: &Face| face.as_ref().iter().all(|&node| nodes[node as usize]);
        self.share_out(mesh, mesh.boundary().into_iter().filter(is_in).collect())
    }

    fn share_out<const C: usize>(&self, mesh: &Mesh<C>, faces: Vec<Face>) -> Result<Vec<f64>> {
        if faces.is_empty() {
            return Err(self.nothing(mesh));
        }
        face_shares(mesh.points(), &faces)
    }

    fn nothing<const C: usize>(&self, mesh: &Mesh<C>) -> Error {
        let mut tags: Vec<i32> = mesh.tagged_faces().iter().map(|(_, tag)| *tag).collect();
        tags.sort_unstable();
        tags.dedup();
        let faces = match C {
            3 => "lines",
            4 => "triangles",
            _ => "quads",
        };
        let found = match &tags[..] {
            [] => format!("it has no {faces} with numbers"),
            tags => format!("it has {faces} with the numbers {tags:?}"),
        };
        let [low, high] = mesh.bounding_box();
        Error::Mesh(format!(
            "nothing of the mesh's surface is in {self}: its box is from {} to {}; {found}",
            vector(low),
            vector(high)
        ))
    }
}
