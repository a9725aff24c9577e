//! The parameters of a simulation.

use super::regions::{Conductivities, Region};
use super::shape::Shape;
use super::stimulus::{Balance, Stimulus, StimulusKind};
use crate::mesh::Mesh;
use warpsolve_host::backend::cells::Model;
use warpsolve_host::error::{Error, Result};
use warpsolve_host::named::named;
use warpsolve_host::precond::amg;

named! {
    /// Which equations are solved, and how.
    "formulation" Formulation {
        /// The monodomain equation.
        Monodomain = "monodomain",
        /// The bidomain equations one after the other, first for v, then for phi.
        Splitting = "splitting",
        /// The bidomain equations as one system, in phi and v.
        Coupled = "coupled",
        /// The bidomain equations as one system, in the potentials inside and outside of the cells.
        Potentials = "potentials",
    }
}

impl Formulation {
    /// Whether v and phi are solved for at once.
    pub(super) fn is_one_system(self) -> bool {
        matches!(self, Formulation::Coupled | Formulation::Potentials)
    }
}

/// Electrical properties of tissue; the conductivities are those of all regions that have none of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct Tissue {
    /// Conductivity inside of the cells, along the fibres (mS/mm, which is S/m).
    pub sigma_il: f64,
    /// Conductivity inside of the cells, across the fibres (mS/mm).
    pub sigma_it: f64,
    /// Conductivity outside of the cells, along the fibres (mS/mm).
    pub sigma_el: f64,
    /// Conductivity outside of the cells, across the fibres (mS/mm).
    pub sigma_et: f64,
    /// The membrane's surface to volume ratio (1/mm).
    pub chi: f64,
    /// The membrane's capacity (uF/mm^2).
    pub cm: f64,
}

/// The benchmark of S. A. Niederer et al., Philosophical Transactions of the Royal Society A 369, 2011, table
/// 1.
impl Default for Tissue {
    fn default() -> Self {
        Tissue { sigma_il: 0.17, sigma_it: 0.019, sigma_el: 0.62, sigma_et: 0.24, chi: 140.0, cm: 0.01 }
    }
}

impl Tissue {
    /// Those of the tissue where no region says anything else.
    pub fn conductivities(&self) -> Conductivities {
        let &Tissue { sigma_il: il, sigma_it: it, sigma_el: el, sigma_et: et, .. } = self;
        Conductivities { il, it, el, et }
    }

    /// Whether the direction of the fibres matters.
    pub fn is_anisotropic(&self) -> bool {
        self.conductivities().is_anisotropic()
    }
}

/// The parameters of a simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// The equations.
    pub formulation: Formulation,
    /// The cells.
    pub model: Model,
    /// The tissue.
    pub tissue: Tissue,
    /// Regions of the mesh with conductivities of their own, such as a bath.
    pub regions: Vec<Region>,
    /// Currents from outside. Where several act at once, they add up.
    pub stimuli: Vec<Stimulus>,
    /// Where phi is 0: earth. Without one the extracellular stimuli must add up to 0 at any time.
    pub grounds: Vec<Shape>,
    /// What is done where they do not.
    pub balance: Balance,
    /// Length of a step (ms).
    pub dt: f64,
    /// The weight of the new voltage in the parabolic system: 1 for backward Euler, 0.5 for Crank-Nicolson.
    /// The coupled formulations have 1.
    pub theta: f64,
    /// Steps of the cells in one step of dt.
    pub cell_substeps: u32,
    /// Whether M is replaced by its row sums. The formulation in potentials always does that.
    pub lumped_mass: bool,
    /// Relative tolerance of the elliptic and the coupled system, in the norm of their right-hand side.
    pub rtol: f64,
    /// Relative tolerance of the parabolic system.
    pub parabolic_rtol: f64,
    /// Most iterations of a solve; more are an error.
    pub max_iterations: u32,
    /// A node is activated when its voltage first reaches this from below (mV).
    pub threshold: f64,
    /// The multigrid hierarchy of the elliptic or the coupled system.
    pub amg: amg::Params,
    /// Whether the nodes are numbered along a Morton curve, so that neighbours are close in memory. Results
    /// are in the order of the mesh in any case.
    pub reorder: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            formulation: Formulation::Coupled,
            model: Model::TenTusscher,
            tissue: Tissue::default(),
            regions: Vec::new(),
            stimuli: Vec::new(),
            grounds: Vec::new(),
            balance: Balance::Refuse,
            dt: 0.05,
            theta: 1.0,
            cell_substeps: 1,
            lumped_mass: false,
            rtol: 1e-6,
            parabolic_rtol: 1e-8,
            max_iterations: 1000,
            threshold: 0.0,
            amg: amg::Params::default(),
            reorder: false,
        }
    }
}

impl Params {
    /// kappa = chi Cm / dt (mS/mm^3).
    pub fn kappa(&self) -> f64 {
        self.tissue.chi * self.tissue.cm / self.dt
    }

    /// The conductivities of a region; those of the tissue where nothing else is said.
    pub(super) fn conductivities(&self, tag: Option<i32>) -> Conductivities {
        let region = self.regions.iter().find(|region| Some(region.tag) == tag);
        region.map_or_else(|| self.tissue.conductivities(), |region| region.conductivities)
    }

    /// Checks the regions' conductivities.
    fn check_regions(&self) -> Result<()> {
        for (k, Region { tag, conductivities }) in self.regions.iter().enumerate() {
            let fault = |why: String| Err(Error::Option(format!("region {tag}: {why}")));
            if self.regions[..k].iter().any(|other| other.tag == *tag) {
                return fault("it is named twice; give all its conductivities at once".into());
            }
            conductivities.check(self.formulation == Formulation::Monodomain).or_else(fault)?;
        }
        Ok(())
    }

    /// Whether M is diagonal.
    pub(super) fn has_lumped_mass(&self) -> bool {
        self.lumped_mass || self.formulation == Formulation::Potentials
    }

    /// The stimuli of a kind, with their names in messages.
    pub(super) fn numbered_stimuli(&self, kind: StimulusKind) -> impl Iterator<Item = (String, &Stimulus)> {
        let named =
            self.stimuli.iter().enumerate().map(|(k, stimulus)| (format!("stimulus {}", k + 1), stimulus));
        named.filter(move |(_, stimulus)| stimulus.kind == kind)
    }

    /// Checks the parameters' ranges. [`Error::Option`] names a parameter out of its range, and the range.
    pub fn check(&self) -> Result<()> {
        let Tissue { sigma_il, sigma_it, sigma_el, sigma_et, chi, cm } = self.tissue;
        let positive = [
            ("the conductivity sigma_il", sigma_il, "mS/mm"),
            ("the conductivity sigma_it", sigma_it, "mS/mm"),
            ("the conductivity sigma_el", sigma_el, "mS/mm"),
            ("the conductivity sigma_et", sigma_et, "mS/mm"),
            ("chi", chi, "1/mm"),
            ("cm", cm, "uF/mm^2"),
            ("the time step dt", self.dt, "ms"),
            ("kappa = chi cm / dt", self.kappa(), "mS/mm^3"),
        ];
        let fault = |message: String| Err(Error::Option(message));
        if let Some((what, value, unit)) = positive.into_iter().find(|(_, x, _)| !(*x > 0.0 && x.is_finite()))
        {
            return fault(format!("{what} is {value} {unit}; it must be a positive finite number"));
        }
        if !(0.5..=1.0).contains(&self.theta) {
            return fault(format!("theta is {}; it must be from 0.5 (Crank-Nicolson) to 1", self.theta));
        }
        if self.formulation.is_one_system() && self.theta != 1.0 {
            return fault(format!(
                "theta is {}, but the {} formulation is backward Euler; use theta = 1, or the formulation splitting",
                self.theta, self.formulation
            ));
        }
        if self.cell_substeps == 0 || self.max_iterations == 0 {
            return fault("the cells' substeps and the most iterations must be at least 1".into());
        }
        for (what, rtol) in [("rtol", self.rtol), ("parabolic_rtol", self.parabolic_rtol)] {
            if !(rtol > 0.0 && rtol < 1.0) {
                return fault(format!("{what} is {rtol}; it must be between 0 and 1"));
            }
        }
        if !self.threshold.is_finite() {
            return fault(format!("the threshold of activation is {} mV; it must be finite", self.threshold));
        }
        for (k, stimulus) in self.stimuli.iter().enumerate() {
            stimulus.check().or_else(|why| fault(format!("stimulus {}: {why}", k + 1)))?;
        }
        for (k, ground) in self.grounds.iter().enumerate() {
            ground.check().or_else(|why| fault(format!("ground {}: {why}", k + 1)))?;
        }
        self.check_regions()?;
        if self.formulation == Formulation::Monodomain {
            let stimulus = self.numbered_stimuli(StimulusKind::Extracellular).next().map(|(name, _)| name);
            let ground = (!self.grounds.is_empty()).then(|| "ground 1".to_string());
            if let Some(what) = stimulus.or(ground) {
                return fault(format!(
                    "{what} acts outside of the cells, where the monodomain equation has no potential; use a \
                     bidomain formulation"
                ));
            }
        }
        self.amg.check()
    }

    /// About the memory that a simulation takes on its device, as (what, bytes), for
    /// [`check_memory`](warpsolve_host::backend::gpu::check_memory) before anything is allocated. It is
    /// estimated from the mesh: tetrahedra that fill a ball have about nodes + tetrahedra edges.
    pub fn memory<const C: usize>(&self, mesh: &Mesh<C>) -> Vec<(&'static str, u64)> {
        const VALUE: u64 = 8;
        const ENTRY: u64 = VALUE + 4;
        let n = mesh.points().len() as u64;
        // With the padding of SELL, at most 15 %.
        let nnz = (3 * n + 2 * mesh.cells().len() as u64) * 115 / 100;
        // CG's; b, x and the x before; the preconditioner's.
        let vectors_each = 3 + 3 + 2;
        // The matrix in CRS and in the product's format, and a hierarchy in f32 of operator complexity 1.5.
        let hierarchy_bytes = |nnz: u64, n: u64| 3 * ENTRY * nnz + 12 * nnz + 100 * n;
        let (systems, matrices, hierarchy) = match self.formulation {
            Formulation::Monodomain => (1, 2 * ENTRY * nnz, 0),
            Formulation::Splitting => (2, 3 * ENTRY * nnz, hierarchy_bytes(nnz, n)),
            Formulation::Coupled | Formulation::Potentials => {
                (2, (ENTRY + 4 * VALUE + 4) * nnz + 3 * ENTRY * n, hierarchy_bytes(4 * nnz, 2 * n))
            }
        };
        let cells = (1 + self.model.states() as u64 + self.stimuli.len() as u64 + 4) * VALUE * n;
        let mut parts =
            vec![("cells", cells), ("matrices", matrices), ("vectors", systems * vectors_each * VALUE * n)];
        if hierarchy > 0 {
            parts.push(("multigrid set-up, about", hierarchy));
        }
        parts
    }
}
