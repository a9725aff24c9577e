//! A hierarchy on several ranks. Rank 0 sets it up, so that it is the same for every number of ranks, and
//! shares its levels out: each rank has the rows of its unknowns, and the cycle runs on all of them. Levels
//! that are too small for that, and the coarsest, stay on rank 0.
//!
//! | file | what |
//! |---|---|
//! | `whole` | the hierarchy on rank 0, and which rank gets what |
//! | `part` | the part that a rank has of a level |
//! | `below` | the levels that stay on rank 0 |

use std::sync::Arc;

use cuda_std::Real;

use super::application::{apply, cg_step, is_fixed};
use super::cast::Cast;
use super::coarsest::{Coarsest, Solve};
use super::cycle::Multigrid;
use super::level::{Level, Vectors};
use super::precisions::Precisions;
use super::traffic::Traffic;
use super::{Amg, AnyPrecision, Info, Params};
use crate::backend::Memory;
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::{Partition, Reader, Writer, agree_within};
use crate::error::Result;
use crate::precond::description::Source;
use crate::precond::{Gathered, Preconditioner, cg_step_by_primitives, preconditioner};
use crate::setup::Size;
use crate::solver::cg::{CgStep, CgSteps};
use below::AtRoot;
use part::Part;
use whole::{Whole, count_of};

mod below;
mod part;
mod whole;

/// What rank 0 sets a hierarchy up from, and which rank has which rows.
pub(crate) type Root<'a, T, B> = (Arc<Partition>, Source<'a, T, B>);

/// Backends of ranks on which a hierarchy can be cycled over.
pub(crate) trait AmgOnRanks<T: Real>: AnyPrecision<T> + Borders<T> {
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
    ) -> Result<Box<dyn Preconditioner<T, Distributed<Self>>>>;
}

impl<T: Real, B> AmgOnRanks<T> for B
where
    B: Precisions<T, T> + Precisions<T, f32> + Borders<T> + Borders<f32>,
{
    fn amg_on_ranks(
        backend: &Distributed<B>,
        n: usize,
        params: &Params,
        root: Option<Root<T, B>>,
    ) -> Result<Box<dyn Preconditioner<T, Distributed<B>>>> {
        let in_f32 = root.as_ref().is_some_and(|(_, source)| source.parameters.hierarchy_in_f32);
        let mut message = vec![u8::from(in_f32)];
        backend.comm().broadcast(&mut message)?;
        match message[..] {
            [0] => set_up::<T, T, B>(backend, n, params, root),
            _ => set_up::<T, f32, B>(backend, n, params, root),
        }
    }
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

fn set_up<T: Real, S: Real, B: Precisions<T, S> + Borders<T> + Borders<S>>(
    backend: &Distributed<B>,
    n: usize,
    params: &Params,
    root: Option<Root<T, B>>,
) -> Result<Box<dyn Preconditioner<T, Distributed<B>>>> {
    let comm = &**backend.comm();
    let whole = root.map(|(partition, source)| {
        let Source { backend, csr, product, parameters, .. } = source;
        let csr = csr.expect("uploaded for a hierarchy");
        let near_null = parameters.near_null.as_deref();
        let whole = Amg::<T, S, B>::with_matrices(backend, csr, Some(product), &parameters.amg, near_null)?;
        Ok((whole, partition))
    });
    let whole = agree_within(comm, whole.transpose())?;
    let known = whole.as_ref().map_or([0; 2], |((amg, _), _)| {
        [count_of(amg, comm.size()) as u64, u64::from(is_fixed(&amg.multigrid))]
    });
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
            None => Part::read(&comm.receive(0)?),
        };
        let level = part.and_then(|part| part.level::<T, S, B>(backend, l, params));
        levels = levels.and_then(|mut levels| {
            levels.push(level?);
            Ok(levels)
        });
    }
    let levels = agree_within(comm, levels)?;

    let mut passes: Vec<_> = levels.iter().map(Level::passes).collect();
    let mut below_bytes = 0.0;
    let (info, rest) = match whole {
        None => (None, None),
        Some(Whole { rest, info, .. }) => {
            passes.extend(rest.levels.iter().map(Level::passes));
            below_bytes = rest.coarsest.traffic();
            (Some(info), Some(rest))
        }
    };
    let cycle = Traffic { value: size_of::<S>(), levels: passes, coarsest: below_bytes }.cycle(params);
    let casts = 2 * n * (size_of::<T>() + size_of::<S>());
    // Of which rank 0 has all.
    let n_below = levels.last().map_or(0, |level| level.r.size.n_rows);
    let coarsest = Coarsest {
        size: Size { n_rows: n_below, n_cols: n_below, nnz: 0 },
        solve: Solve::Below(Box::new(AtRoot(rest))),
        vectors: Vectors::new::<S, Distributed<B>>(backend, n_below)?,
    };
    let (cycle_of, pre, post) = (params.cycle(), params.pre, params.post);
    let multigrid = Multigrid { levels, coarsest, cycle: cycle_of, pre, post };
    Ok(Box::new(OnRanks { multigrid, info, is_fixed, bytes: cycle as u64 + casts as u64 }))
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
