//! A simulation and its steps.

use std::time::Instant;

use super::checkpoint::{Checkpoint, Fingerprint};
use super::diffusion::{Diffusion, Iterations};
use super::domain::{Domain, Remains};
use super::params::Params;
use super::piece::OwnPiece;
use super::requests::{Request, Requests, is_of_all};
use super::share::{Share, Unknowns};
use super::stimulus::Stimulus;
use super::system::{System, SystemInfo};
use super::whole::Whole;
use crate::mesh::Mesh;
use warpsolve_host::backend::cells::{Cells, NOT_ACTIVATED};
use warpsolve_host::backend::{Backend, Coef};
use warpsolve_host::error::{Error, Result};
use warpsolve_host::precond::amg::Assembles;
use warpsolve_host::solver::cg::CgSteps;

/// What a step took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport {
    /// The time at its end (ms).
    pub time: f64,
    /// Iterations of the parabolic system; 0 in the coupled formulation.
    pub parabolic_iterations: u32,
    /// Iterations of the elliptic or the coupled system; 0 for the monodomain equation.
    pub elliptic_iterations: u32,
    /// How long it took (seconds). The device may still be busy with its last updates.
    pub seconds: f64,
}

/// A simulation of a piece of tissue on one device. It begins at rest, with phi = 0.
///
/// In a step no vector is copied between host and device. With a [`Cpu`](warpsolve_host::backend::cpu::Cpu),
/// make and advance it within [`install`](warpsolve_host::backend::cpu::Cpu::install), so that threads are
/// woken once.
///
/// On several ranks each makes one, of the same mesh and parameters, on its
/// [`Distributed`](warpsolve_host::backend::distributed::Distributed) backend. The first is used like one
/// alone, and the others [serve](Simulation::serve) it.
pub struct Simulation<B: Backend<f64>> {
    pub(super) backend: B,
    pub(super) params: Params,
    /// Cells of all ranks.
    cells: usize,
    /// Of the first rank, which has the results.
    whole: Option<Whole>,
    /// What this rank writes of results in pieces.
    pub(super) piece: Option<OwnPiece>,
    pub(super) share: Share,
    pub(super) requests: Requests,
    fingerprint: Fingerprint,
    pub(super) steps: u64,
    /// mV.
    pub(super) v: B::Vector,
    /// v at the beginning of a step.
    before: B::Vector,
    /// The cells' own variables.
    states: B::Vector,
    /// When each node was activated (ms).
    pub(super) activation: B::Vector,
    /// The transmembrane ones, each with a vector that is 1 at its nodes and 0 elsewhere.
    stimuli: Vec<(Stimulus, B::Vector)>,
    /// The sum of several stimuli (mV/ms).
    together: B::Vector,
    pub(super) diffusion: Diffusion<B>,
    scalars: B::Scalars,
}

impl<B: Cells + Assembles + CgSteps<f64> + Clone + 'static> Simulation<B> {
    /// Assembles the systems on `mesh` (mm) and sets the preconditioners up. All ranks call this.
    ///
    /// # Errors
    /// Those of [`Domain::new`] and of [`Simulation::on`].
    pub fn new<const C: usize>(backend: &B, mesh: &Mesh<C>, params: &Params) -> Result<Self> {
        Self::on(backend, Domain::new(mesh, params, backend.comm())?)
    }

    /// The same on what this rank has of a mesh. All ranks call this.
    ///
    /// # Errors
    /// - [`Error::Option`]: extracellular stimuli that do not add up to 0 where nothing is grounded.
    /// - [`Error::Matrix`], [`Error::NotFinite`], [`Error::Diagonal`], [`Error::Block`]: sizes and
    ///   conductivities so far apart that the matrices are not what they should be.
    /// - Those of the device. On several ranks an error of this one must end all
    ///   ([`together`](warpsolve_host::job::ranks::together) sees to that).
    pub fn on<const C: usize>(backend: &B, domain: Domain<C>) -> Result<Self> {
        let diffusion = Diffusion::new(backend, &domain, domain.params())?;
        let n = domain.share().count(Unknowns::Cells);
        let (v, states) = domain.params().model.at_rest(n);
        let stimuli = domain.places().stimuli.iter();
        let stimuli = stimuli
            .map(|placed| Ok((placed.stimulus.clone(), backend.vector(&domain.cells_within(placed))?)))
            .collect::<Result<_>>();
        let stimuli = domain.share().agree(stimuli)?;
        let Remains { params, fingerprint, whole, share, piece } = domain.into_remains();
        Ok(Simulation {
            backend: backend.clone(),
            params,
            fingerprint,
            cells: whole.cells(),
            whole: share.is_first().then_some(whole),
            piece,
            requests: Requests::new(share.comm()),
            share,
            steps: 0,
            v: backend.vector(&v)?,
            before: backend.vector(&v)?,
            states: backend.vector(&states)?,
            activation: backend.vector(&vec![NOT_ACTIVATED; n])?,
            stimuli,
            together: backend.zeros(n)?,
            diffusion,
            scalars: backend.scalars(1)?,
        })
    }

    /// Advances by dt.
    ///
    /// # Errors
    /// After an error the state is between two steps; [`Simulation::restore`] an earlier one, or give up.
    /// - [`Error::NotFinite`]: a voltage is NaN or infinite. The error has the node, counted from 1, and the
    ///   time.
    /// - [`Error::Option`]: a system was not solved within the limit of iterations. The error says which,
    ///   when, and how far it came.
    /// - Those of the device.
    pub fn step(&mut self) -> Result<StepReport> {
        self.requests.ask(Request::Step)?;
        let stepped = self.advance();
        self.requests.watch(stepped)
    }

    /// [`Simulation::step`] of this rank.
    pub(super) fn advance(&mut self) -> Result<StepReport> {
        let start = Instant::now();
        let (t, dt) = (self.time(), self.params.dt);
        let end = (self.steps + 1) as f64 * dt;
        self.backend.copy(&self.v, &mut self.before)?;
        self.react(t)?;
        let iterations = self.diffusion.advance(&self.backend, &mut self.v, [t, end]);
        let Iterations { parabolic, elliptic } =
            iterations.map_err(|error| if is_of_all(&error) { self.why(error, end) } else { error })?;
        self.backend.activate(t, dt, self.params.threshold, &self.before, &self.v, &mut self.activation)?;
        self.steps += 1;
        Ok(StepReport {
            time: end,
            parabolic_iterations: parabolic,
            elliptic_iterations: elliptic,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Computes v* from v, for the step that begins at time `t`.
    fn react(&mut self, t: f64) -> Result<()> {
        let Simulation { backend, params, stimuli, together, v, states, scalars, .. } = self;
        let per_strength = 1.0 / (params.tissue.chi * params.tissue.cm);
        let rate = |stimulus: &Stimulus| stimulus.strength * per_strength * stimulus.share(t, params.dt);
        let active: Vec<(f64, &B::Vector)> = stimuli
            .iter()
            .map(|(stimulus, nodes)| (rate(stimulus), nodes))
            .filter(|(rate, _)| *rate != 0.0)
            .collect();
        let stimulus = match active[..] {
            [] => None,
            [one] => Some(one),
            _ => {
                backend.fill(0.0, together)?;
                for (rate, nodes) in active {
                    backend.axpby(scalars, Coef::constant(rate), nodes, Coef::ONE, together)?;
                }
                Some((1.0, &*together))
            }
        };
        backend.react(params.model, params.dt, params.cell_substeps, stimulus, v, states)
    }

    /// The cause of a solver's error: a voltage that is not finite, if there is one, else the error itself.
    fn why(&self, error: Error, time: f64) -> Error {
        let bad = |v: Vec<f64>| v.into_iter().enumerate().find(|(_, v)| !v.is_finite());
        match self.voltage().map(bad) {
            Ok(Some((node, value))) => Error::NotFinite {
                what: "the transmembrane voltage",
                value,
                position: format!(
                    "node {} in the step to {time} ms (with a smaller dt or more substeps of the cells it may stay finite)",
                    node + 1
                ),
            },
            _ => error,
        }
    }

    /// The simulated time (ms).
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.params.dt
    }

    /// Nodes that have a cell: all but those in the bath.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Values of the cells at all nodes in the order of the mesh, with `other` where there is no cell, on the
    /// first rank. All ranks call this.
    fn at_nodes(&self, values: &B::Vector, other: f64) -> Result<Vec<f64>> {
        let values = self.share.gather(self.backend.to_host(values)?, Unknowns::Cells, 1)?;
        Ok(self.whole.as_ref().map(|whole| whole.at_nodes(values, other)).unwrap_or_default())
    }

    /// [`Simulation::v`], which all ranks call.
    pub(super) fn voltage(&self) -> Result<Vec<f64>> {
        self.at_nodes(&self.v, self.params.model.rest())
    }

    /// [`Simulation::phi_e`], which all ranks call.
    pub(super) fn potential(&self) -> Result<Option<Vec<f64>>> {
        let Some(own) = self.diffusion.phi(&self.backend, &self.share)? else { return Ok(None) };
        let phi = self.share.gather(own, Unknowns::Nodes(1), 1)?;
        Ok(Some(self.whole.as_ref().map(|whole| whole.order.undo(phi)).unwrap_or_default()))
    }

    /// [`Simulation::activation`], which all ranks call.
    pub(super) fn activation_times(&self) -> Result<Vec<f64>> {
        self.at_nodes(&self.activation, NOT_ACTIVATED)
    }

    /// The transmembrane voltage of each node (mV); in a bath, where there is none, the voltage at rest.
    pub fn v(&self) -> Result<Vec<f64>> {
        self.requests.ask(Request::Voltage)?;
        self.requests.watch(self.voltage())
    }

    /// The extracellular potential of each node (mV), with mean 0 over the nodes where nothing is grounded;
    /// `None` for the monodomain equation.
    pub fn phi_e(&self) -> Result<Option<Vec<f64>>> {
        self.requests.ask(Request::Potential)?;
        self.requests.watch(self.potential())
    }

    /// When each node's voltage first reached the threshold (ms), interpolated linearly between steps;
    /// [`NOT_ACTIVATED`], -1, where it has not.
    pub fn activation(&self) -> Result<Vec<f64>> {
        self.requests.ask(Request::Activation)?;
        self.requests.watch(self.activation_times())
    }

    /// The systems that are solved in a step.
    pub fn systems(&self) -> impl Iterator<Item = &SystemInfo> {
        self.diffusion.systems().into_iter().map(|system| &system.info)
    }

    /// The state. A simulation of the same mesh and parameters on the same kind of device continues from it
    /// with the same bits, on as many ranks; on another number of ranks to rounding.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        self.requests.ask(Request::Checkpoint)?;
        self.requests.watch(self.state())
    }

    /// [`Simulation::checkpoint`], which all ranks call, and the first gets.
    pub(super) fn state(&self) -> Result<Checkpoint> {
        let gathered = |(vector, (of, planes)): (&B::Vector, (Unknowns, usize))| {
            self.share.gather(self.backend.to_host(vector)?, of, planes)
        };
        let histories = self.diffusion.systems().into_iter().flat_map(|System { x, before, .. }| [x, before]);
        let vectors = [&self.v, &self.states, &self.activation].into_iter().chain(histories);
        Ok(Checkpoint {
            fingerprint: self.fingerprint,
            steps: self.steps,
            dt: self.params.dt,
            vectors: vectors.zip(self.layout()).map(gathered).collect::<Result<_>>()?,
        })
    }

    /// What the elements of the vectors of a state belong to, and how many planes of them there are.
    fn layout(&self) -> Vec<(Unknowns, usize)> {
        let of_cells = [1, self.params.model.states(), 1].map(|planes| (Unknowns::Cells, planes));
        let of_systems = self.diffusion.systems().into_iter().flat_map(|system| [(system.unknowns, 1); 2]);
        of_cells.into_iter().chain(of_systems).collect()
    }

    /// Takes over a state of a simulation of the same mesh and parameters. The limit of iterations may
    /// differ.
    ///
    /// # Errors
    /// [`Error::Option`] where mesh or parameters differ.
    pub fn restore(&mut self, state: &Checkpoint) -> Result<()> {
        if state.fingerprint.rest == self.fingerprint.rest && state.fingerprint != self.fingerprint {
            return Err(Error::Option(
                "the checkpoint is of another mesh or of other parameters: its stimuli differ; restart with those, \
                 or allow others (--other-stimuli)"
                    .into(),
            ));
        }
        self.restore_for_other_stimuli(state)
    }

    /// [`Simulation::restore`] that lets the stimuli differ: what a heart does that gets another one from now
    /// on, such as a premature S2 after some S1.
    ///
    /// # Errors
    /// [`Error::Option`] where the mesh or other parameters differ.
    pub fn restore_for_other_stimuli(&mut self, state: &Checkpoint) -> Result<()> {
        let n = self.cells();
        let rows = self.diffusion.systems().into_iter().flat_map(|System { info, .. }| [info.rows; 2]);
        let lengths = [n, self.params.model.states() * n, n].into_iter().chain(rows);
        if state.fingerprint.rest != self.fingerprint.rest || !lengths.eq(state.vectors.iter().map(Vec::len))
        {
            return Err(Error::Option(
                "the checkpoint is of another mesh or of other parameters; restart with those that it was written with"
                    .into(),
            ));
        }
        self.requests.ask(Request::Restore { steps: state.steps })?;
        let taken = self.take_over(&state.vectors, state.steps);
        self.requests.watch(taken)
    }

    /// [`Simulation::restore`] from the vectors that the first rank has. All ranks call this.
    pub(super) fn take_over(&mut self, vectors: &[Vec<f64>], steps: u64) -> Result<()> {
        let parts = self.layout().into_iter().enumerate().map(|(k, (of, planes))| {
            let all = vectors.get(k).map_or(&[][..], |all| all);
            self.backend.vector(&self.share.scatter(all, of, planes)?)
        });
        let parts: Vec<B::Vector> = parts.collect::<Result<_>>()?;
        let histories =
            self.diffusion.systems_mut().into_iter().flat_map(|System { x, before, .. }| [x, before]);
        let own = [&mut self.v, &mut self.states, &mut self.activation].into_iter().chain(histories);
        own.zip(parts).for_each(|(own, part)| *own = part);
        self.steps = steps;
        Ok(())
    }
}
