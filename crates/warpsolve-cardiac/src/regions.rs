//! What differs from region to region of a mesh: conductivities, and where there are cells.

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

    /// Refuses what does not conduct, or along or across the fibres only. The error says what is wrong.
    pub(super) fn check(&self, is_monodomain: bool) -> Result<(), String> {
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
        if is_monodomain && (il == 0.0 || el == 0.0) {
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
