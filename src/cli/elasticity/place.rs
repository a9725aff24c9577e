//! Parts of a mesh's surface by name.

use std::fmt;

use warpsolve::cardiac::Shape;
use warpsolve::cardiac::mesh::Mesh;
use warpsolve::fem::face_shares;
use warpsolve::{Error, Result};

/// Nodes within this part of the box's diagonal count as being on a side.
const SLACK: f64 = 1e-6;

/// A part of a mesh's surface.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// A side of the mesh's box.
    Side { axis: usize, is_high: bool },
    /// A physical surface of Gmsh.
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
            Place::Tag(tag) => write!(f, "surface {tag}"),
            Place::Shape(Shape::Box { low, high }) => write!(f, "the box from {low:?} to {high:?}"),
            Place::Shape(Shape::Ball { centre, radius }) => write!(f, "the ball {centre:?}, {radius}"),
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
        let diagonal = (0..3).map(|x| (high[x] - low[x]).powi(2)).sum::<f64>().sqrt();
        let slack = SLACK * diagonal;
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
            faces.flat_map(|(face, _)| face).for_each(|&node| nodes[node as usize] = true);
        }
        if !nodes.contains(&true) {
            return Err(self.nothing(mesh));
        }
        Ok(nodes)
    }

    /// The share of each node in the faces of the surface that are in it, or in those of the tag; in a plane
    /// in the edges.
    ///
    /// # Errors
    /// [`Error::Mesh`] where none is.
    pub fn shares<const C: usize>(&self, mesh: &Mesh<C>) -> Result<Vec<f64>> {
        if let Place::Tag(tag) = self {
            let faces = mesh.tagged_faces().iter().filter(|(_, found)| found == tag).map(|(face, _)| *face);
            return self.share_out(mesh, faces.collect());
        }
        let nodes = self.nodes(mesh)?;
        let is_in = |face: &[u32]| face.iter().all(|&node| nodes[node as usize]);
        if C == 3 {
            return self.share_out(mesh, mesh.rim().into_iter().filter(|edge| is_in(edge)).collect());
        }
        self.share_out(mesh, mesh.surface().into_iter().filter(|face| is_in(face)).collect())
    }

    fn share_out<const C: usize, const F: usize>(
        &self,
        mesh: &Mesh<C>,
        faces: Vec<[u32; F]>,
    ) -> Result<Vec<f64>> {
        if faces.is_empty() {
            return Err(self.nothing(mesh));
        }
        face_shares(mesh.points(), &faces)
    }

    fn nothing<const C: usize>(&self, mesh: &Mesh<C>) -> Error {
        let mut tags: Vec<i32> = mesh.tagged_faces().iter().map(|(_, tag)| *tag).collect();
        tags.sort_unstable();
        tags.dedup();
        let found = match &tags[..] {
            [] => "the mesh has no physical surfaces of Gmsh".into(),
            tags => format!("the mesh has the surfaces {tags:?}"),
        };
        let [low, high] = mesh.bounding_box();
        Error::Mesh(format!(
            "nothing of the mesh's surface is in {self}: its box is from {low:?} to {high:?}, and {found}"
        ))
    }
}
