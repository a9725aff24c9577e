//! Where the stimuli and the grounds of a simulation are.

use super::params::Params;
use super::shape::Shape;
use super::share::{Share, Unknowns};
use super::stimulus::{Stimulus, StimulusKind};
use warpsolve_host::error::{Error, Result};
use warpsolve_host::number::vector;

/// Where stimuli and grounds are among the nodes that a rank assembles for.
pub(super) struct Places {
    /// The transmembrane stimuli.
    pub stimuli: Vec<Placed>,
    /// The extracellular ones.
    pub electrodes: Vec<Placed>,
    /// Whether phi is held at 0 at each node.
    pub grounded: Vec<bool>,
}

/// A stimulus in its place.
pub(super) struct Placed {
    /// What it is called in messages.
    pub name: String,
    pub stimulus: Stimulus,
    /// Whether each node is within its shape.
    pub within: Vec<bool>,
}

/// The nodes that a rank assembles for, and what is known of the whole mesh.
pub(super) struct Nodes<'a> {
    pub points: &'a [[f64; 3]],
    /// Those of them that have a cell; `None` where all have.
    pub cells: Option<&'a [u32]>,
    /// The corners of the mesh's bounding box.
    pub bounds: [[f64; 3]; 2],
    /// Of the whole mesh.
    pub total: usize,
    pub share: &'a Share,
}

impl Places {
    /// All ranks call this.
    ///
    /// # Errors
    /// [`Error::Option`] for a stimulus or a ground that acts at no node, or at no cell that it is for.
    pub fn of(nodes: &Nodes, params: &Params) -> Result<Self> {
        let mut grounded = vec![false; nodes.points.len()];
        for (k, ground) in params.grounds.iter().enumerate() {
            let within = nodes.within(ground, &format!("ground {}", k + 1), false)?;
            grounded.iter_mut().zip(within).for_each(|(grounded, is_in)| *grounded |= is_in);
        }
        let placed = |kind| {
            let placed = params.numbered_stimuli(kind).map(|(name, stimulus)| {
                let within = nodes.within(&stimulus.shape, &name, kind == StimulusKind::Transmembrane)?;
                Ok(Placed { name, stimulus: stimulus.clone(), within })
            });
            placed.collect::<Result<Vec<Placed>>>()
        };
        let electrodes = placed(StimulusKind::Extracellular)?;
        Ok(Places { grounded, electrodes, stimuli: placed(StimulusKind::Transmembrane)? })
    }
}

impl Nodes<'_> {
    /// Whether each is inside. `what` stands at the place, for the message, and acts at cells or at all
    /// nodes. All ranks call this, and come to the same errors.
    fn within(&self, shape: &Shape, what: &str, at_cells: bool) -> Result<Vec<bool>> {
        let Nodes { points, cells, bounds, total, share } = *self;
        let within = shape.nodes(points, bounds);
        let of_cells = cells.map(|cells| cells.iter().map(|&node| within[node as usize]).collect());
        let count = |within: &[bool]| within.iter().filter(|is_in| **is_in).count() as f64;
        let in_own = |within: Vec<bool>, of| count(&share.own(within, of));
        let nodes = in_own(within.clone(), Unknowns::Nodes(1));
        let cells = of_cells.map_or(nodes, |of_cells| in_own(of_cells, Unknowns::Cells));
        let [nodes, cells] = share.sums([nodes, cells])?;
        if nodes == 0.0 {
            return Err(Error::Option(format!(
                "{what} acts at no node: none of {total} is within its {shape}; the mesh reaches from {} to {} mm",
                vector(bounds[0]),
                vector(bounds[1])
            )));
        }
        if at_cells && cells == 0.0 {
            return Err(Error::Option(format!(
                "{what} acts at no cell: all {nodes} nodes within its {shape} are in the bath; move it into the \
                 tissue, or make it extracellular"
            )));
        }
        Ok(within)
    }
}
