//! A mesh as a simulation takes it: checked, with its nodes in order.

use std::borrow::Cow;

use super::order::Order;
use super::params::Params;
use crate::mesh::TetMesh;
use warpsolve_host::error::{Error, MeshFault, Result};
use warpsolve_host::fem::P1;

/// Points, cells and fibres.
pub(super) struct Domain<'m> {
    pub points: Cow<'m, [[f64; 3]]>,
    tets: Cow<'m, [[u32; 4]]>,
    fibres: Option<&'m [[f64; 3]]>,
    /// The corners of its bounding box.
    pub bounds: [[f64; 3]; 2],
}

impl<'m> Domain<'m> {
    /// # Errors
    /// [`Error::MeshFault`] for a mesh of several components, or without fibres where the tissue conducts
    /// differently along and across them.
    pub fn new(mesh: &'m TetMesh, order: &Order, params: &Params) -> Result<Self> {
        check_connected(mesh)?;
        if mesh.fibres().is_none() && params.tissue.is_anisotropic() {
            return Err(Error::MeshFault {
                fault: MeshFault::NoFibres,
                message: "the mesh has no fibres, along and across which the tissue conducts differently"
                    .into(),
            });
        }
        let (points, tets) = order.renumbered(mesh);
        Ok(Domain { points, tets, fibres: mesh.fibres(), bounds: mesh.bounding_box() })
    }

    /// The elements on all of it.
    pub fn space(&self) -> Result<P1<'_>> {
        P1::new(&self.points, &self.tets)
    }

    /// The direction of the fibres in tetrahedron t. Without fibres the tissue is isotropic, and it does not
    /// matter.
    pub fn fibre(&self, t: usize) -> [f64; 3] {
        self.fibres.map_or([1.0, 0.0, 0.0], |fibres| fibres[t])
    }

    /// Whether each node is grounded.
    ///
    /// # Errors
    /// [`Error::Option`] for a ground that no node is within.
    pub fn grounded(&self, params: &Params) -> Result<Vec<bool>> {
        let mut grounded = vec![false; self.points.len()];
        for (k, ground) in params.grounds.iter().enumerate() {
            let within = ground.nodes(&format!("ground {}", k + 1), &self.points, self.bounds)?;
            grounded.iter_mut().zip(within).for_each(|(grounded, is_in)| *grounded |= is_in);
        }
        Ok(grounded)
    }
}

/// Refuses a mesh in several pieces. No wave would cross from one to another, and phi would be defined up to
/// a constant in each of them.
fn check_connected(mesh: &TetMesh) -> Result<()> {
    let components = mesh.components();
    match components.iter().position(|&component| component > 0) {
        None => Ok(()),
        Some(node) => Err(Error::MeshFault {
            fault: MeshFault::Components,
            message: format!(
                "the mesh has {} components that share no nodes (node {} is not in that of node 1); merge nodes \
                 that are there twice",
                components.iter().max().map_or(0, |&last| last + 1),
                node + 1
            ),
        }),
    }
}
