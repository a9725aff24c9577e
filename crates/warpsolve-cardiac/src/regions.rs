//! What differs from region to region of a mesh: conductivities, and where there are cells.

use super::params::{Formulation, Params, Tissue};
use crate::mesh::TetMesh;
use warpsolve_host::error::{Error, Result};

/// Conductivities inside (i) and outside (e) of the cells, along (l) and across (t) the fibres (mS/mm).
///
/// Both of a pair may be 0: without those inside there are no cells, and the region is a bath that conducts
/// outside only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conductivities {
    /// Inside, along the fibres.
    pub il: f64,
    /// Inside, across the fibres.
    pub it: f64,
    /// Outside, along the fibres.
    pub el: f64,
    /// Outside, across the fibres.
    pub et: f64,
}

impl Conductivities {
    /// Those of a bath, such as blood, saline or a torso, which conducts alike in all directions.
    pub fn bath(sigma: f64) -> Self {
        Conductivities { il: 0.0, it: 0.0, el: sigma, et: sigma }
    }

    /// Whether there are no cells.
    pub fn is_bath(&self) -> bool {
        self.il == 0.0
    }

    /// Whether the direction of the fibres matters.
    pub fn is_anisotropic(&self) -> bool {
        self.il != self.it || self.el != self.et
    }

    /// Inside of the cells, along and across the fibres (mS/mm).
    pub(super) fn sigma_i(&self) -> [f64; 2] {
        [self.il, self.it]
    }

    /// Outside of the cells, along and across the fibres (mS/mm).
    pub(super) fn sigma_e(&self) -> [f64; 2] {
        [self.el, self.et]
    }

    /// sigma_i + sigma_e, along and across the fibres (mS/mm).
    pub(super) fn sigma_ie(&self) -> [f64; 2] {
        [self.il + self.el, self.it + self.et]
    }

    /// sigma_i sigma_e / (sigma_i + sigma_e), along and across the fibres (mS/mm).
    pub(super) fn sigma_m(&self) -> [f64; 2] {
        let half_harmonic = |i: f64, e: f64| i * (e / (i + e));
        [half_harmonic(self.il, self.el), half_harmonic(self.it, self.et)]
    }

    /// Refuses what does not conduct, or along or across the fibres only.
    fn check(&self, formulation: Formulation) -> std::result::Result<(), String> {
        let Conductivities { il, it, el, et } = *self;
        for (along, across, names) in [(il, it, "sigma_il and sigma_it"), (el, et, "sigma_el and sigma_et")] {
            let is_sound = |x: f64| x >= 0.0 && x.is_finite();
            if !is_sound(along) || !is_sound(across) || (along == 0.0) != (across == 0.0) {
                return Err(format!(
                    "{names} are {along} and {across} mS/mm; they must be positive finite numbers, or both 0"
                ));
            }
        }
        if il == 0.0 && el == 0.0 {
            return Err("it conducts nowhere; leave it out of the mesh".into());
        }
        if formulation == Formulation::Monodomain && (il == 0.0 || el == 0.0) {
            return Err(
                "it conducts only inside or only outside of the cells, which the monodomain equation \
                        does not know; use a bidomain formulation"
                    .into(),
            );
        }
        Ok(())
    }
}

/// A part of the mesh that conducts in its own way.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// Its number in the mesh.
    pub tag: i32,
    /// mS/mm
    pub conductivities: Conductivities,
}

impl Params {
    /// The conductivities of a region; those of the tissue where nothing else is said.
    pub(super) fn conductivities(&self, tag: Option<i32>) -> Conductivities {
        let region = self.regions.iter().find(|region| Some(region.tag) == tag);
        region.map_or_else(|| self.tissue.conductivities(), |region| region.conductivities)
    }

    /// Checks the regions' conductivities.
    pub(super) fn check_regions(&self) -> Result<()> {
        for (k, Region { tag, conductivities }) in self.regions.iter().enumerate() {
            let fault = |why: String| Err(Error::Option(format!("region {tag}: {why}")));
            if self.regions[..k].iter().any(|other| other.tag == *tag) {
                return fault("it is named twice; give all its conductivities at once".into());
            }
            conductivities.check(self.formulation).or_else(fault)?;
        }
        Ok(())
    }

    /// The part of `mesh` that has cells, with the number that each of its nodes has in `mesh`; `None` where
    /// all of it has cells.
    ///
    /// # Errors
    /// [`Error::Option`] for a region that is not in the mesh, or where everything is bath.
    pub fn tissue_of(&self, mesh: &TetMesh) -> Result<Option<(TetMesh, Vec<u32>)>> {
        let is_tissue = self.tissue_cells(mesh)?;
        Ok(is_tissue.map(|is_tissue| mesh.part(|t| is_tissue[t])))
    }

    /// Whether each tetrahedron has cells; `None` where all have.
    pub(super) fn tissue_cells(&self, mesh: &TetMesh) -> Result<Option<Vec<bool>>> {
        if self.regions.is_empty() {
            return Ok(None);
        }
        let Some(tags) = mesh.regions() else {
            return Err(Error::Option(format!(
                "region {} is named, but the mesh has no regions; number them in the mesh's file",
                self.regions[0].tag
            )));
        };
        if let Some(region) = self.regions.iter().find(|region| !tags.contains(&region.tag)) {
            let mut known = tags.to_vec();
            known.sort_unstable();
            known.dedup();
            return Err(Error::Option(format!(
                "region {} is not in the mesh, whose regions are {known:?}; name one of these",
                region.tag
            )));
        }
        let is_tissue: Vec<bool> =
            tags.iter().map(|&tag| !self.conductivities(Some(tag)).is_bath()).collect();
        if !is_tissue.contains(&true) {
            return Err(Error::Option(
                "all of the mesh is bath: there is no tissue; leave a region that has cells".into(),
            ));
        }
        Ok(is_tissue.contains(&false).then_some(is_tissue))
    }
}

impl Tissue {
    /// Those of the tissue where no region says anything else.
    pub fn conductivities(&self) -> Conductivities {
        let &Tissue { sigma_il: il, sigma_it: it, sigma_el: el, sigma_et: et, .. } = self;
        Conductivities { il, it, el, et }
    }
}
