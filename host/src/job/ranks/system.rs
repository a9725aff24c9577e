//! Rank 0: it has the whole matrix, tells the others what to do, and puts their parts together.

use std::sync::Arc;
use std::time::Instant;

use super::Ranks;
use super::info::Info;
use super::look::OnDevices;
use super::orders::{Choices, Order};
use super::part::{self, Around, Part};
use super::share::{Found, Shares, Sides};
use super::whole::Root;
use crate::backend::Storage;
use crate::backend::distributed::Exchanged;
use crate::comm::{Partition, Pieces, Quality, agree};
use crate::error::{Error, Result};
use crate::job::look::Copied;
use crate::job::plan::Plan;
use crate::job::progress::{Iterations, Stage, Watch};
use crate::job::refine::{Refined, refine};
use crate::job::residual::{Equation, Norms};
use crate::job::run::Prepared;
use crate::job::setup::{Clock, Times};
use crate::job::solved::{Rhs, Solved};
use crate::job::{Device, Options, Precond, download};
use crate::solver::{Observer, Outcome, Stop};

/// Carries `plan` out on all ranks, of which this computes on `device`, and whose devices may have their rows
/// already.
pub(in crate::job) fn prepare(
    plan: Plan,
    there: Option<OnDevices>,
    device: &Device,
    ranks: &Arc<Ranks>,
    watch: &mut Watch,
    times: &mut Times,
) -> Result<Box<dyn Prepared>> {
    if plan.precond == Precond::Schur {
        return Err(Error::Option("--precond schur is for one rank: it takes the whole matrix apart".into()));
    }
    Ok(Box::new(System::new(plan, there, device, ranks, watch, times)?))
}

struct System {
    plan: Plan,
    device: Device,
    ranks: Arc<Ranks>,
    number: u64,
    partition: Arc<Partition>,
    quality: Quality,
    storage: Storage,
    part: Box<dyn Part>,
    /// What was exchanged in the solve that runs, and the bytes that it moved.
    exchanged: Exchanged,
    bytes_moved: u64,
    around: Around,
}

/// What one run left.
struct Ran {
    x: Vec<f64>,
    outcome: Outcome,
    /// How large `b - A x` is, as the ranks compute it.
    norms: Option<Norms>,
}

impl System {
    fn new(
        plan: Plan,
        there: Option<OnDevices>,
        device: &Device,
        ranks: &Arc<Ranks>,
        watch: &mut Watch,
        times: &mut Times,
    ) -> Result<Self> {
        let clock = Clock::start(device);
        let comm = &ranks.comm;
        let partition = ranks.partition(&plan.a, &plan.options)?;
        let (pieces, there) = match there.and_then(|there| there.of(&partition)) {
            Some((at_border, there)) => (Pieces::with_border_rows(&plan.a, &partition, &at_border), there),
            None => (Pieces::of(&plan.a, &partition), Vec::new()),
        };
        let quality = pieces.quality();
        let (number, choices) = (ranks.new_system(), Choices::of(&plan));
        let basis: Vec<Vec<f64>> = match choices.projections {
            0 => Vec::new(),
            _ => plan.projections().into_iter().flat_map(|space| space.basis()).collect(),
        };
        let near_null = plan.options.near_null.clone().filter(|space| {
            let is_fit = space.check(&plan.options.amg, plan.options.block_size, plan.a.n_rows()).is_ok();
            is_fit && partition.keeps_together(space.unknowns())
        });
        let shares = Shares { pieces, partition: partition.clone(), basis, near_null, there };
        let share = ranks.fatal(|| {
            ranks.order(&Order::SetUp { system: number, choices: Box::new(choices.clone()) })?;
            shares.give(&**comm)
        })?;
        let before = (times.setup, times.upload);
        let root = Root { plan: &plan, partition: &partition, watch, times };
        let part = part::set_up(comm, device, &choices, share, Some(root));
        let part = agree(&**comm, part)?;
        let storage = ranks.fatal(|| part::storage_of_all(&**comm, part.storage(), plan.a.nnz()))?;
        let uploaded = times.upload - before.1;
        // Ranks load their kernels at the same time.
        times.setup = before.0 + clock.stop(times) - uploaded;
        let (device, ranks) = (device.clone(), ranks.clone());
        Ok(System {
            plan,
            device,
            ranks,
            number,
            partition,
            quality,
            storage,
            part,
            exchanged: Exchanged::default(),
            bytes_moved: 0,
            around: Around::default(),
        })
    }

    /// One run of all ranks, from `start`.
    fn run_once(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        stop: Stop,
        observer: &mut dyn Observer,
    ) -> Result<Ran> {
        let System { device, ranks, partition, part, exchanged, bytes_moved, around, number, .. } = self;
        let begin = Instant::now();
        let comm = &ranks.comm;
        let sides =
            |rank| Sides { b: partition.part(b, rank), start: start.map(|x| partition.part(x, rank)) };
        ranks.fatal(|| {
            ranks.order(&Order::Solve { system: *number, stop })?;
            let Sides { b, start } = Sides::give(&**comm, sides)?;
            let ahead = begin.elapsed().as_secs_f64();
            let solve = || part.solve(&b, start.as_deref(), &stop, Some(observer));
            let (mut room, mine) = download::with_room(device.target(), (1, partition.n_rows()), solve);
            let (mine, end) = (mine?, Instant::now());
            let found = Found { x: mine.x, exchanged: mine.exchanged, bytes_moved: mine.bytes_moved };
            let mut x = room.pop().unwrap_or_else(|| vec![0.0; partition.n_rows()]);
            for (rank, found) in found.gather(&**comm)?.into_iter().enumerate() {
                partition.put(&found.x, rank, &mut x);
                match rank {
                    0 => exchanged.add(found.exchanged),
                    _ => exchanged.bytes += found.exchanged.bytes,
                }
                *bytes_moved += found.bytes_moved;
            }
            around.add(mine.around);
            around.add(Around { ahead, check: 0.0, behind: end.elapsed().as_secs_f64() });
            Ok(Ran { x, outcome: mine.outcome, norms: mine.norms })
        })
    }

    /// The same down to a residual norm of `threshold`: x without its part in the null space.
    fn run_watched(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        threshold: f64,
        observer: &mut Iterations,
    ) -> Result<Ran> {
        let stop = observer.stop(&self.plan.options.stop, threshold);
        let mut ran = self.run_once(b, start, stop, observer)?;
        self.plan.project(&mut ran.x);
        Ok(Ran { outcome: observer.judged(ran.outcome), ..ran })
    }

    /// How large `b - A x` is: what the ranks have found, unless rows of a sample say otherwise, or x is
    /// another than theirs.
    fn checked(&self, x: &[f64], b: &[f64], found: Option<Norms>) -> Norms {
        let Plan { a, null_space, .. } = &self.plan;
        let is_true = |norms: &Norms| null_space.is_none() && norms.hold_for_sample(a, x, b);
        found.filter(is_true).unwrap_or_else(|| Norms::of(a, x, b))
    }

    fn info(&self) -> Info {
        let Exchanged { exchanges, bytes, reductions } = self.exchanged;
        Info {
            ranks: self.ranks.size(),
            partition: self.ranks.partitioning.to_string(),
            by_rows: false,
            choice: None,
            quality: self.quality,
            peer_memory: self.part.is_connected(),
            exchanges,
            exchanged_bytes: bytes,
            reductions,
        }
    }
}

impl Refined for System {
    fn equation(&self) -> &dyn Equation {
        &self.plan
    }
    fn options(&self) -> &Options {
        &self.plan.options
    }

    fn run(
        &mut self,
        b: &[f64],
        start: Option<&[f64]>,
        threshold: f64,
        observer: &mut Iterations,
    ) -> Result<(Vec<f64>, Outcome)> {
        let Ran { x, outcome, .. } = self.run_watched(b, start, threshold, observer)?;
        Ok((x, outcome))
    }
}

impl Prepared for System {
    fn solve(&mut self, rhs: &Rhs, watch: &mut Watch, times: &mut Times) -> Result<Solved> {
        let threshold = rhs.threshold;
        (self.exchanged, self.bytes_moved, self.around) = (Exchanged::default(), 0, Around::default());
        watch.tell(Stage::Solve);
        let (start, clock) = (Instant::now(), Clock::start(&self.device));
        let mut observer = Iterations { watch, before: 0, norm_b: rhs.norm, threshold };
        let Ran { x, outcome, norms } = self.run_watched(rhs.b, rhs.start, threshold, &mut observer)?;
        // Without the look at the residual on the host.
        let unrefined = clock.stop(times);
        let begin = Instant::now();
        let residual = self.checked(&x, rhs.b, norms);
        times.check += begin.elapsed().as_secs_f64();
        let mut solved = Solved {
            residual,
            x,
            outcome,
            refinements: 0,
            seconds: 0.0,
            counts: None,
            bytes: 0,
            bytes_moved: 0,
            reordered: None,
            format: self.storage.clone(),
            hierarchy: self.part.hierarchy().cloned(),
            ilu: self.part.factors().cloned(),
            factorisation: None,
            ranks: None,
        };
        refine(self, rhs, &mut solved, watch)?;
        let seconds = if solved.refinements > 0 { start.elapsed().as_secs_f64() } else { unrefined };
        let Around { ahead, check, behind } = self.around;
        solved.seconds = (seconds - ahead - check - behind).max(0.0);
        times.upload += ahead;
        times.check += check;
        times.download += behind;
        let levels = solved.hierarchy.iter().flat_map(|info| &info.levels);
        solved.bytes = self.storage.bytes + self.plan.vector_bytes() + levels.map(|l| l.bytes).sum::<u64>();
        solved.bytes_moved = self.bytes_moved;
        solved.ranks = Some(self.info());
        Ok(solved)
    }

    /// Ranks take one right-hand side after the other.
    fn solve_columns(&mut self, _: &[Rhs], _: &mut Watch, _: &mut Times) -> Result<Option<Vec<Solved>>> {
        Ok(None)
    }

    fn update(&mut self, plan: Plan, copy: Copied, times: &mut Times) -> Result<()> {
        let (there, watch) = (copy.on_ranks(), &mut Watch::default());
        *self = System::new(plan, there, &self.device, &self.ranks, watch, times)?;
        Ok(())
    }
}

impl Drop for System {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Before this rank takes its memory away.
            self.ranks.comm.fail("it panicked");
        }
        // Where a rank has failed there is nobody to tell.
        let _ = self.ranks.order(&Order::Drop { system: self.number });
    }
}
