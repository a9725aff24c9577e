//! The steps of a simulation, and what is written between them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use warpsolve::backend::cells::Cells;
use warpsolve::cardiac::mesh::Mesh;
use warpsolve::cardiac::{Checkpoint, Domain, RanksInfo, Simulation, SystemInfo};
use warpsolve::precond::amg::Assembles;
use warpsolve::solver::cg::CgSteps;
use warpsolve::{Error, Result};

use super::super::progress::Progress;
use super::super::signals;
use super::bar::Bar;
use super::outputs::Outputs;
use super::plan::Plan;
use super::statistics::Statistics;

/// How often it is looked whether everything is activated, for which the times are copied from the device,
/// ms.
const LOOK: f64 = 1.0;

/// A simulation about to start.
pub struct Run<'a, const C: usize> {
    pub plan: &'a Plan,
    pub mesh: &'a Mesh<C>,
    /// Where it goes on from.
    pub state: Option<Checkpoint>,
    pub progress: &'a Progress,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// At t_end.
    Time,
    /// All nodes were activated.
    Activated,
    /// By a signal.
    Interrupted,
}

/// What a run tells.
pub struct Ran {
    /// Why it ended; `None` if a step failed, of which `failures` tell.
    pub end: Option<End>,
    /// Errors of steps and of outputs.
    pub failures: Vec<Error>,
    /// Where it went on from and how far it came, ms.
    pub times: [f64; 2],
    pub steps: Statistics,
    /// Nodes that have a cell: all but those in a bath.
    pub cells: usize,
    /// When each node was activated, ms, negative for never; empty if the device failed.
    pub activation: Vec<f64>,
    pub systems: Vec<SystemInfo>,
    /// What several ranks had and told each other; `None` for one.
    pub ranks: Option<RanksInfo>,
    pub frames: usize,
    pub setup_seconds: f64,
    /// For frames, checkpoints, the picture.
    pub output_seconds: f64,
}

/// Whether `time` is the end of the first step of `dt` that reaches a multiple of `period` (ms).
fn is_due(time: f64, dt: f64, period: Option<f64>) -> bool {
    // As many as rounding lets be reached.
    let reached = |time: f64, period: f64| (time / period + 1e-9).floor();
    period.is_some_and(|period| reached(time, period) > reached(time - dt, period))
}

/// Whether every node that has a cell was activated.
fn all_activated<B: Cells + Assembles + CgSteps<f64> + Clone + 'static>(
    simulation: &Simulation<B>,
) -> Result<bool> {
    let times = simulation.activation()?;
    Ok(times.iter().filter(|time| **time >= 0.0).count() == simulation.cells())
}

impl<const C: usize> Run<'_, C> {
    /// Sets up, steps, and writes. After a failed step what there is is written all the same.
    ///
    /// # Errors
    /// Those of the set-up; later ones are in [`Ran`].
    pub fn simulate<B: Cells + Assembles + CgSteps<f64> + Clone + 'static>(self, backend: &B) -> Result<Ran> {
        self.progress.stage("set-up");
        let start = Instant::now();
        let domain = Domain::new(self.mesh, &self.plan.params, backend.comm())?;
        let domain = if self.plan.pieces { domain.with_pieces()? } else { domain };
        let mut simulation = Simulation::on(backend, domain)?;
        if let Some(state) = &self.state {
            match self.plan.other_stimuli {
                true => simulation.restore_for_other_stimuli(state)?,
                false => simulation.restore(state)?,
            }
        }
        let setup_seconds = start.elapsed().as_secs_f64();
        self.progress.clear();

        let begin = simulation.time();
        let mut outputs = Outputs::open(self.plan, self.mesh, begin, self.state.is_some())?;
        let mut steps = Statistics::default();
        let ended = self.advance(&mut simulation, &mut outputs, &mut steps);
        self.progress.stage("writing");
        let mut failures = Vec::new();
        let end = match ended {
            // Of ranks that have ended there is nothing left.
            Err(error @ Error::Rank { .. }) => return Err(error),
            Err(error) => {
                failures.push(error);
                None
            }
            Ok(end) => Some(end),
        };
        let activation = simulation.activation().map_err(|error| failures.push(error)).unwrap_or_default();
        failures.extend(outputs.finish(self.mesh, &simulation, &activation, end.is_some()));
        let ranks = simulation.ranks().map_err(|error| failures.push(error)).ok().flatten();
        // Ranks that have ended say why again and again.
        failures.dedup_by_key(|error| error.to_string());
        Ok(Ran {
            end,
            failures,
            times: [begin, simulation.time()],
            steps,
            cells: simulation.cells(),
            activation,
            systems: simulation.systems().cloned().collect(),
            ranks,
            frames: outputs.frames(),
            setup_seconds,
            output_seconds: outputs.seconds,
        })
    }

    fn advance<B: Cells + Assembles + CgSteps<f64> + Clone + 'static>(
        &self,
        simulation: &mut Simulation<B>,
        outputs: &mut Outputs,
        statistics: &mut Statistics,
    ) -> Result<End> {
        let Plan { params, t_end, .. } = self.plan;
        let (dt, begin) = (params.dt, simulation.time());
        let done = (begin / dt).round() as u64;
        let steps = self.plan.steps().saturating_sub(done);
        let bar = Bar::new(self.plan.quiet, steps, *t_end);
        let interrupted = Arc::new(AtomicBool::new(false));
        signals::raise(&interrupted)?;
        outputs.frame(simulation)?;
        if self.plan.stops_when_activated && all_activated(simulation)? {
            return Ok(End::Activated);
        }
        for _ in 0..steps {
            let step = simulation.step()?;
            statistics.add(&step);
            outputs.step(&step)?;
            bar.show(&step, statistics);
            if is_due(step.time, dt, self.plan.every) {
                outputs.frame(simulation)?;
            }
            if is_due(step.time, dt, self.plan.checkpoint_every) {
                outputs.checkpoint(simulation)?;
            }
            if interrupted.load(Ordering::Relaxed) {
                return Ok(End::Interrupted);
            }
            if self.plan.stops_when_activated
                && is_due(step.time, dt, Some(LOOK))
                && all_activated(simulation)?
            {
                return Ok(End::Activated);
            }
        }
        Ok(End::Time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_periodic_is_due_once_a_period_whatever_the_rounding() {
        for (dt, period) in [(0.05, 5.0), (0.1, 0.3), (0.3, 1.0), (0.025, 0.025), (1.0, 0.5)] {
            let steps = 1000;
            let due = (1..=steps).filter(|&k| is_due(f64::from(k) * dt, dt, Some(period))).count();
            let expected = (f64::from(steps) * dt / period + 1e-9).floor() as usize;
            assert_eq!(due, expected.min(steps as usize), "{dt} {period}");
        }
        assert!(!is_due(5.0, 0.1, None));
    }
}
