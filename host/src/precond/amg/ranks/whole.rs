//! A hierarchy that was set up on rank 0, and is shared out level after level.

use std::sync::Arc;

use cuda_std::Real;

use super::part::{Part, PieceOfMatrix};
use crate::backend::Memory;
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::{Comm, Partition, Pieces};
use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::matrix::rounding::{Pivot, Rounding};
use crate::parallel::*;
use crate::precond::amg::coarsest::as_ordinary;
use crate::precond::amg::cycle::Multigrid;
use crate::precond::amg::hierarchy::{Hierarchy, LevelMatrices};
use crate::precond::amg::level::{Correction, Level};
use crate::precond::amg::params::Params;
use crate::precond::amg::precisions::Precisions;
use crate::precond::amg::{Amg, Info};
use crate::setup::{Blocks, Matrices};

/// The levels that are to be shared out, the finest last.
type Levels<T, S, B> = Vec<(LevelMatrices<<B as Matrices<T>>::Csr, <B as Memory<T>>::Vector>, Level<S, B>)>;

/// A hierarchy on rank 0.
pub struct Whole<T: Real, S: Real, B: Precisions<T, S>> {
    shared: Levels<T, S, B>,
    /// The levels that stay here.
    pub rest: Multigrid<S, B>,
    /// Which rank has which unknowns of the next level: of the first that stays here in the end.
    pub partition: Arc<Partition>,
    pub info: Info,
    /// Whether matrices are rounded for compression.
    compressed: bool,
}

/// A hierarchy as it is applied, and the matrices that it was made of.
type Made<T, S, B> = (Amg<T, S, B>, Hierarchy<<B as Matrices<T>>::Csr, <B as Memory<T>>::Vector>);

/// Rows of a level a rank, below which rank 0 computes it alone.
const RANK_ROWS: usize = 1000;
/// The same where ranks compute on devices, which are done with many rows in the time that an exchange takes.
const RANK_ROWS_ON_DEVICES: usize = 100_000;
/// The same within one process: the rows of the level come to rank 0 without the host.
const RANK_ROWS_IN_ONE_PROCESS: usize = 500_000;

/// Rows of a level, other than the finest, below which rank 0 computes it alone.
pub fn least_rows<S: Real, B: Borders<S>>(backend: &Distributed<B>, params: &Params) -> usize {
    let comm = backend.comm();
    let usual = match (backend.inner().shared_device(), comm.one_process()) {
        (None, _) => RANK_ROWS,
        (Some(_), None) => RANK_ROWS_ON_DEVICES,
        (Some(_), Some(_)) => RANK_ROWS_IN_ONE_PROCESS,
    };
    params.rank_rows.unwrap_or(usual).saturating_mul(comm.size())
}

/// How many of these levels are large enough to be shared out among so many ranks at least.
pub fn count_of<T: Real, S: Real, B: Precisions<T, S>>(amg: &Amg<T, S, B>, least: usize) -> usize {
    let levels = &amg.multigrid.levels;
    let is_small = |level: &Level<S, B>| level.a.size.n_rows < least;
    levels.iter().skip(1).position(is_small).map_or(levels.len(), |l| l + 1)
}

impl<T: Real, S: Real, B: Precisions<T, S>> Whole<T, S, B> {
    /// A hierarchy with its matrices, of which the first `count` levels are to be shared out.
    pub fn new((amg, hierarchy): Made<T, S, B>, partition: Arc<Partition>, count: usize) -> Self {
        let Amg { mut multigrid, mut info, .. } = amg;
        let rest = multigrid.levels.split_off(count);
        let levels = std::mem::replace(&mut multigrid.levels, rest);
        let shared = hierarchy.levels.into_iter().zip(levels).rev().collect();
        info.on_ranks = count;
        let compressed = info.params.compressed && info.params.format.is_none() && S::NAME == f32::NAME;
        Whole { shared, rest: multigrid, partition, info, compressed }
    }

    /// Sends every other rank its part of the next level, which is forgotten here, and returns that of rank
    /// 0. After an error the others get messages that say nothing.
    pub fn share(&mut self, backend: &B, comm: &dyn Comm) -> Result<Part> {
        let level = match self.next(backend) {
            Ok(level) => level,
            Err(error) => {
                (1..comm.size()).try_for_each(|rank| comm.send(rank, &[]))?;
                return Err(error);
            }
        };
        let [a, correction, r] = level.matrices;
        let coarse = coarse_partition(&r.0, &self.partition, level.block);
        let fine = std::mem::replace(&mut self.partition, Arc::new(coarse));
        let coarse = &self.partition;
        let pieces = [
            (Pieces::of(&a.0, &fine), a.1),
            (Pieces::between(correction.0, fine.clone(), coarse.clone()), correction.1),
            (Pieces::between(r.0, coarse.clone(), fine.clone()), r.1),
        ];
        let part = |rank: usize| {
            let of_row = |i: u32| &level.d[level.block * i as usize..][..level.block];
            Part {
                block: level.block,
                matrices: [0, 1, 2].map(|k| {
                    let (pieces, pivot) = &pieces[k];
                    PieceOfMatrix { piece: pieces.piece(rank), pivot: *pivot }
                }),
                is_swept: level.is_swept,
                weights: level.weights.clone(),
                d: fine.rows(rank).iter().flat_map(of_row).copied().collect(),
            }
        };
        (1..comm.size()).try_for_each(|rank| part(rank).send(comm, rank))?;
        Ok(part(0))
    }

    /// The next level, on the host.
    fn next(&mut self, backend: &B) -> Result<OnHost> {
        let Some((matrices, level)) = self.shared.pop() else {
            return Err(Error::Option("all levels are shared out".into()));
        };
        let Some(sweeps) = level.smoother.as_sweeps() else {
            return Err(Error::Option("this smoother is not there on several ranks".into()));
        };
        let values = |v: &[S]| v.iter().map(|v| v.to_f64()).collect::<Vec<f64>>();
        let (weights, d) =
            (values(sweeps.weights()), values(&Memory::<S>::to_host(backend, sweeps.first().1)?));
        let is_swept = matches!(level.correction, Correction::Swept(_));
        let LevelMatrices { a, p, r, products, .. } = matrices;
        let block = a.block();
        // The level has made Q of A P.
        let (correction, pivot) = match products.filter(|_| is_swept) {
            Some(products) => (products.ap, Some(Pivot::Largest)),
            None => (p, None),
        };
        let on_host = |m: Blocks<B::Csr>, pivot: Option<Pivot>| {
            self.on_host(backend, &m, pivot.filter(|_| self.compressed && block == 1))
        };
        let matrices = [on_host(a, Some(Pivot::Diagonal))?, on_host(correction, pivot)?, on_host(r, None)?];
        Ok(OnHost { block, matrices, is_swept, weights, d })
    }

    /// The matrix, blocks written out, and rounded with these pivots if a GPU would compress it.
    fn on_host(
        &self,
        backend: &B,
        m: &Blocks<B::Csr>,
        pivot: Option<Pivot>,
    ) -> Result<(Arc<Csr<f64>>, Option<Pivot>)> {
        let a = as_ordinary(&m.map(|plane| Matrices::<T>::csr_to_host(backend, plane))?);
        let Some((rounding, pivot)) = pivot.and_then(|pivot| Some((Rounding::of(&a, pivot)?, pivot))) else {
            return Ok((Arc::new(a.cast()), None));
        };
        let mut values = vec![0.0; a.nnz()];
        rounding.values(0..a.n_rows(), &mut values);
        let rounded =
            Csr::from_valid_parts(a.n_rows(), a.n_cols(), a.row_ptr().to_vec(), a.col_idx().to_vec(), values);
        Ok((Arc::new(rounded), Some(pivot)))
    }
}

/// A whole level on the host.
struct OnHost {
    block: usize,
    matrices: [(Arc<Csr<f64>>, Option<Pivot>); 3],
    is_swept: bool,
    weights: Vec<f64>,
    d: Vec<f64>,
}

/// Each coarse node goes to the rank whose fine unknowns it is restricted from with the largest weights, the
/// first of those that are equal.
fn coarse_partition(r: &Csr<f64>, fine: &Partition, block: usize) -> Partition {
    let owner_of = |node: usize| {
        let mut shares: Vec<(usize, f64)> = Vec::new();
        for i in block * node..block * (node + 1) {
            let (columns, values) = r.row(i);
            for (&j, value) in columns.iter().zip(values) {
                let owner = fine.owner(j as usize);
                match shares.iter_mut().find(|(rank, _)| *rank == owner) {
                    Some((_, share)) => *share += value.abs(),
                    None => shares.push((owner, value.abs())),
                }
            }
        }
        let better = |best: (usize, f64), next: (usize, f64)| {
            let is_better = next.1 > best.1 || (next.1 == best.1 && next.0 < best.0);
            if is_better { next } else { best }
        };
        shares.into_iter().reduce(better).map_or(0, |(rank, _)| rank as u32)
    };
    let nodes = (0..r.n_rows() / block).into_par_iter().with_min_len(1024);
    let owner = nodes.flat_map_collect(|node| std::iter::repeat_n(owner_of(node), block));
    Partition::of_owners(&owner, fine.size())
}
