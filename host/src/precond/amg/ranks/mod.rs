//! A hierarchy on several ranks, the same for every number of ranks: each has the rows of its unknowns, and
//! the cycle runs on all of them. Levels that are too small for that, and the coarsest, are rank 0's. Ranks
//! set the others up together, or rank 0 does, and shares them out ([`are_set_up_together`]).
//!
//! | file | what |
//! |---|---|
//! | `from_rows` | by all ranks or by rank 0, where each rank has but its rows |
//! | `together` | levels that all ranks set up |
//! | `known` | what every rank knows before that |
//! | `own_rows`, `rows` | the rows of a rank before that, and after |
//! | `whole` | a hierarchy that rank 0 has set up, and which rank gets what |
//! | `part` | the part that a rank has of a level |
//! | `below` | the levels that stay on rank 0 |
//! | `space` | the near-null space of the first of them |

use std::sync::Arc;

use cuda_std::Real;

use super::application::{apply, cg_step, is_fixed};
use super::cast::Cast;
use super::coarsest::{Coarsest, Solve};
use super::cycle::Multigrid;
use super::level::{Level, Vectors};
use super::precisions::Precisions;
use super::traffic::Traffic;
use super::{Amg, AnyPrecision, Coarsening, Info, NearNull, Params, SetupOn, Splitting};
use crate::backend::Memory;
use crate::backend::distributed::{Borders, Distributed, WayToRoot};
use crate::comm::{Partition, Reader, Writer, agree_within, sums};
use crate::error::{Error, Result};
use crate::precond::description::Source;
use crate::precond::{Gathered, Preconditioner, cg_step_by_primitives, preconditioner};
use crate::setup::{Blocks, Parts, Size};
use crate::solver::cg::{CgStep, CgSteps};
use below::AtRoot;
pub(crate) use from_rows::amg_from_rows;
pub(crate) use known::Known;
pub(crate) use own_rows::OwnRows;
use part::{Joins, Part};
use together::{SetsUp, Together};
use whole::{Whole, count_of, least_rows};

mod below;
mod from_rows;
mod known;
mod own_rows;
mod part;
mod rows;
mod space;
#[cfg(test)]
mod tests;
mod together;
mod whole;

/// What rank 0 sets a hierarchy up from, and which rank has which rows.
pub(crate) type Root<'a, T, B> = (Arc<Partition>, Source<'a, T, B>);

/// A preconditioner that all ranks apply together.
pub(crate) type OnAll<T, B> = Box<dyn Preconditioner<T, Distributed<B>>>;

/// Whether ranks set up together what can be cycled over together. Greedy splittings go through all unknowns
/// in turn. That a smoother does not take blocks is rank 0's to say.
pub(crate) fn are_set_up_together(params: &Params, block: usize) -> bool {
    (block == 1 || params.smoother.takes_blocks())
        && params.setup == SetupOn::Device
        && (params.coarsening != Coarsening::MandelBrezina || params.splitting == Splitting::Parallel)
}

/// Backends of ranks on which a hierarchy can be cycled over.
pub(crate) trait AmgOnRanks<T: Real>: AnyPrecision<T> + Borders<T> + Parts<T> {
    /// Multigrid with the same parameters on every rank that all [set up together](are_set_up_together); its
    /// smoother is weighted sweeps. Every rank calls it. `None` where the finest level is the coarsest.
    ///
    /// # Errors
    /// As of a set-up.
    fn amg_set_up_together(
        backend: &Distributed<Self>,
        rows: OwnRows<T, Self>,
        params: &Params,
        known: Known,
    ) -> Result<Option<OnAll<T, Self>>>;

    /// Multigrid with the same parameters on every rank; its smoother is weighted sweeps. Every rank calls
    /// it, with `n` rows each, rank 0 with the whole matrix.
    ///
    /// # Errors
    /// As of a set-up, on rank 0; on the others that rank 0 has failed, or memory that runs out.
    fn amg_on_ranks(
        backend: &Distributed<Self>,
        n: usize,
        params: &Params,
        root: Option<Root<T, Self>>,
    ) -> Result<OnAll<T, Self>>;
}

impl<T: Real, B> AmgOnRanks<T> for B
where
    B: SetsUp<T, T> + SetsUp<T, f32>,
{
    fn amg_set_up_together(
        backend: &Distributed<B>,
        rows: OwnRows<T, B>,
        params: &Params,
        known: Known,
    ) -> Result<Option<OnAll<T, B>>> {
        let comm = &**backend.comm();
        let made = match known.in_f32 {
            false => set_up_together::<T, T, B>(backend, rows, &known, params),
            true => set_up_together::<T, f32, B>(backend, rows, &known, params),
        };
        made.map_err(|error| match error {
            Error::Rank { .. } => error,
            // The others may wait for this rank.
            own => {
                comm.fail(&own.to_string());
                Error::Rank { rank: comm.rank(), message: own.to_string() }
            }
        })
    }

    fn amg_on_ranks(
        backend: &Distributed<B>,
        n: usize,
        params: &Params,
        root: Option<Root<T, B>>,
    ) -> Result<OnAll<T, B>> {
        let in_f32 = root.as_ref().is_some_and(|(_, source)| source.parameters.hierarchy_in_f32);
        let mut message = vec![u8::from(in_f32)];
        backend.comm().broadcast(&mut message)?;
        match message[..] {
            [0] => set_up::<T, T, B>(backend, n, params, root),
            _ => set_up::<T, f32, B>(backend, n, params, root),
        }
    }
}

/// The matrix of which each rank has some rows, on rank 0, where it computes, and which rank has which of
/// them. All ranks call this.
#[allow(clippy::type_complexity)]
pub(crate) fn whole_at_root<T: Real, B: Parts<T> + Borders<T>>(
    backend: &Distributed<B>,
    own: OwnRows<T, B>,
    Known { numbers, total, .. }: Known,
) -> Result<Option<(Blocks<B::Csr>, Arc<Partition>)>> {
    let comm = &**backend.comm();
    let gathered = comm.gather(Writer::new().put(&numbers.expanded()).bytes())?;
    let a = backend.at_root(&own.numbered(backend, &numbers, total)?)?;
    let (Some(messages), Some(a)) = (gathered, a) else { return Ok(None) };
    let mut owners = vec![0; total];
    for (rank, message) in messages.iter().enumerate() {
        Reader::new(message).take::<u32>()?.into_iter().for_each(|row| owners[row as usize] = rank as u32);
    }
    Ok(Some((a, Arc::new(Partition::of_owners(&owners, comm.size())))))
}

/// The cycle of one rank.
struct OnRanks<S: Real, B: Borders<S>> {
    multigrid: Multigrid<S, Distributed<B>>,
    /// What was set up, on rank 0.
    info: Option<Info>,
    /// Whether the cycle is the same operator every time.
    is_fixed: bool,
    /// Bytes that an application moves here.
    bytes: u64,
}

fn set_up<T: Real, S: Real, B: Joins<T, S> + Borders<T>>(
    backend: &Distributed<B>,
    n: usize,
    params: &Params,
    root: Option<Root<T, B>>,
) -> Result<OnAll<T, B>> {
    let comm = &**backend.comm();
    let whole = root.map(|(partition, source)| {
        let Source { backend, csr, product, parameters, .. } = source;
        let csr = csr.expect("uploaded for a hierarchy");
        let near_null = parameters.near_null.as_deref();
        let whole =
            Amg::<T, S, B>::with_matrices(backend, csr, Some(product), &parameters.amg, near_null, true)?;
        Ok((whole, partition))
    });
    let whole = agree_within(comm, whole.transpose())?;
    let least = least_rows::<S, B>(backend, params);
    let known = whole
        .as_ref()
        .map_or([0; 2], |((amg, _), _)| [count_of(amg, least) as u64, u64::from(is_fixed(&amg.multigrid))]);
    let mut known = Writer::new().put(&known).bytes();
    comm.broadcast(&mut known)?;
    let mut known = Reader::new(&known).take::<u64>()?.into_iter();
    let (count, is_fixed) = (known.next().unwrap_or(0) as usize, known.next() == Some(1));
    if count == 0 {
        let m =
            whole.map(|((amg, _), partition)| (Box::new(amg) as Box<dyn Preconditioner<T, B>>, partition));
        return Ok(Box::new(Gathered::new(backend, m, is_fixed)?));
    }
    let mut whole = whole.map(|(whole, partition)| Whole::new(whole, partition, count));

    // Every rank takes part to the end, also after an error.
    let mut levels: Result<Vec<Level<S, Distributed<B>>>> = Ok(Vec::new());
    for l in 0..count {
        let part = match &mut whole {
            Some(whole) => whole.share(backend.inner(), comm),
            None => Part::receive(comm),
        };
        let level = part.and_then(|part| part.level::<T, S, B>(backend, l, params));
        levels = levels.and_then(|mut levels| {
            levels.push(level?);
            Ok(levels)
        });
    }
    let levels = agree_within(comm, levels)?;
    let way = WayToRoot::of_partition(backend, whole.as_ref().map(|whole| &*whole.partition))?;
    let (info, rest) = whole.map(|Whole { rest, info, .. }| (info, rest)).unzip();
    let (multigrid, bytes) = cycled::<T, S, B>(backend, n, params, levels, (way, rest))?;
    Ok(Box::new(OnRanks { multigrid, info, is_fixed, bytes }))
}

fn set_up_together<T: Real, S: Real, B: SetsUp<T, S>>(
    backend: &Distributed<B>,
    rows: OwnRows<T, B>,
    known: &Known,
    params: &Params,
) -> Result<Option<OnAll<T, B>>> {
    let (comm, n, block) = (&**backend.comm(), known.numbers.len(), rows.a.block());
    // What compression keeps are row sums, not the products of A with other vectors.
    let keeps_sums = known.near_null.as_ref().is_none_or(NearNull::is_constant);
    let params = &Params { compressed: params.compressed && keeps_sums, ..params.clone() };
    let Some(Together { levels, below, rest }) = Together::<T, S, B>::new(backend, rows, known, params)?
    else {
        return Ok(None);
    };
    let (rest, mut info): (Option<Multigrid<S, B>>, Option<Info>) =
        rest.map(|Amg { multigrid, info, .. }| (multigrid, info)).unzip();
    let are_flexible = levels.iter().any(|level| level.flexible.is_some())
        || rest.as_ref().is_some_and(|rest| !is_fixed(rest));
    let below = below.written_out(comm.rank(), block);
    let way = WayToRoot::new(backend, &below.own_numbers(), below.total())?;
    let (multigrid, bytes) = cycled::<T, S, B>(backend, n, params, levels, (way, rest))?;
    let of_all = sums(comm, &[bytes as f64, f64::from(u8::from(are_flexible))])?;
    if let Some(info) = &mut info {
        info.cycle_bytes = of_all[0] as u64;
    }
    Ok(Some(Box::new(OnRanks { multigrid, info, is_fixed: of_all[1] == 0.0, bytes })))
}

/// The cycle over these levels, and those below, which rank 0 has, with the way there; and the bytes that an
/// application moves here.
fn cycled<T: Real, S: Real, B: Precisions<T, S> + Borders<T> + Borders<S>>(
    backend: &Distributed<B>,
    n: usize,
    params: &Params,
    levels: Vec<Level<S, Distributed<B>>>,
    (way, rest): (WayToRoot<S, B>, Option<Multigrid<S, B>>),
) -> Result<(Multigrid<S, Distributed<B>>, u64)> {
    let mut passes: Vec<_> = levels.iter().map(Level::passes).collect();
    let mut below_bytes = 0.0;
    if let Some(rest) = &rest {
        passes.extend(rest.levels.iter().map(Level::passes));
        below_bytes = rest.coarsest.traffic();
    }
    let cycle = Traffic { value: size_of::<S>(), levels: passes, coarsest: below_bytes }.cycle(params);
    let casts = 2 * n * (size_of::<T>() + size_of::<S>());
    let n_below = levels.last().map_or(0, |level| level.r.size.n_rows);
    let nothing = Memory::<S>::zeros(backend.inner(), 0)?;
    let coarsest = Coarsest {
        size: Size { n_rows: n_below, n_cols: n_below, nnz: 0 },
        solve: Solve::Below(Box::new(AtRoot { way, levels: rest, nothing })),
        vectors: Vectors::new::<S, Distributed<B>>(backend, n_below)?,
    };
    let (cycle_of, pre, post) = (params.cycle(), params.pre, params.post);
    let multigrid = Multigrid { levels, coarsest, cycle: cycle_of, pre, post };
    Ok((multigrid, cycle as u64 + casts as u64))
}

impl<T: Real, S: Real, B> Preconditioner<T, Distributed<B>> for OnRanks<S, B>
where
    B: Cast<T, S> + Cast<S, T> + Borders<T> + Borders<S>,
{
    fn apply(
        &mut self,
        backend: &Distributed<B>,
        r: &<B as Memory<T>>::Vector,
        z: &mut <B as Memory<T>>::Vector,
    ) -> Result<()> {
        apply::<T, S, _>(&mut self.multigrid, backend, r, z)
    }

    fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    fn traffic(&self, vector: u64) -> preconditioner::Traffic {
        // As on one rank.
        preconditioner::Traffic { apply: self.bytes, in_cg: self.bytes.saturating_sub(2 * vector) }
    }

    fn hierarchy(&self) -> Option<&Info> {
        self.info.as_ref()
    }

    fn cg_step(
        &mut self,
        backend: &Distributed<B>,
        step: CgStep<T, Distributed<B>>,
        z: &mut <Distributed<B> as Memory<T>>::Vector,
    ) -> Result<()>
    where
        Distributed<B>: CgSteps<T>,
    {
        match self.is_fixed {
            true => cg_step::<T, S, _>(&mut self.multigrid, backend, step),
            false => cg_step_by_primitives(self, backend, step, z),
        }
    }
}
