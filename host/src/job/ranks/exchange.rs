//! What it costs that ranks tell each other elements of a vector before a product.

use std::sync::Arc;
use std::time::Instant;

use super::guarded;
use crate::backend::distributed::{Borders, Distributed, Exchanged};
use crate::backend::{Products, Then};
use crate::comm::{Comm, Partition, Partitioning, Piece, Pieces, Team};
use crate::error::Result;
use crate::job::{Device, Timing, spmv};
use crate::matrix::{AnyMatrix, Csr};
use crate::named::named;

/// Products before the first that is timed.
const WARM_UP: usize = 3;

named! {
    /// What goes between a rank's device, the host and the other ranks before a product.
    "exchange" Update {
        /// Nothing: a rank multiplies its rows in its own columns alone.
        Nothing = "nothing exchanged",
        /// The elements that ranks share.
        Shared = "shared elements",
        /// The same, after the whole vector of each rank went from its device to the host and back.
        /// Rosenberger and Haase, OpenACC and CUDA parallelization for the Elasticity Problem in CARP (2017),
        /// section 5, compare the two.
        Whole = "whole vectors",
    }
}

/// What [`measure`] found.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Seconds of a product on the rank that takes longest.
    pub timing: Timing,
    /// Bytes of vectors that were copied and sent for a product, summed over ranks.
    pub bytes: u64,
    /// Whether nothing between ranks went through the host.
    pub is_connected: bool,
    /// As [`spmv::Measurement::error`]; 0 where nothing was exchanged.
    pub error: f64,
    /// As [`spmv::Measurement::correct`].
    pub correct: bool,
}

/// Times `repeat` products of `a` in CRS by `size` ranks with blocks of its rows. They are threads of this
/// process, rank k on the device that `open(k)` gives.
///
/// # Errors
/// [`Error::Rank`](crate::Error::Rank) with the error of a rank.
pub fn measure(
    a: &Arc<Csr<f64>>,
    oracle: &spmv::Oracle,
    size: usize,
    update: Update,
    repeat: usize,
    open: impl Fn(usize) -> Result<Device> + Sync,
) -> Result<Measurement> {
    let partition = Arc::new(Partition::new(a, size, 1, &Partitioning::Blocks)?);
    let pieces = Pieces::of(a, &partition);
    let on_rank = |team: Team| {
        let (rank, comm) = (team.rank(), Arc::new(team) as Arc<dyn Comm>);
        let (piece, x) = (pieces.piece(rank), partition.part(oracle.x(), rank));
        guarded(&comm, || {
            let device = open(rank)?;
            device.run(|| match &device {
                Device::Cpu(cpu) => products(cpu, &comm, &piece, &x, update, repeat),
                Device::Gpu(gpu) => products(gpu, &comm, &piece, &x, update, repeat),
            })
        })
    };
    let found: Vec<Result<Part>> = std::thread::scope(|scope| {
        let on_rank = &on_rank;
        let ranks: Vec<_> =
            Team::new(size).into_iter().map(|team| scope.spawn(move || on_rank(team))).collect();
        let ended = |rank: std::thread::ScopedJoinHandle<Result<Part>>| {
            rank.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        ranks.into_iter().map(ended).collect()
    });
    let found = found.into_iter().collect::<Result<Vec<_>>>()?;
    let longest = |k: usize| found.iter().map(|part| part.seconds[k]).fold(0.0, f64::max);
    let mut y = vec![0.0; a.n_rows()];
    found.iter().enumerate().for_each(|(rank, part)| partition.put(&part.y, rank, &mut y));
    let (error, correct) = match update {
        Update::Nothing => (0.0, true),
        Update::Shared | Update::Whole => oracle.compare(a, &y),
    };
    Ok(Measurement {
        timing: Timing::of((0..repeat).map(longest).collect()),
        bytes: found.iter().map(|part| part.bytes).sum(),
        is_connected: found.iter().all(|part| part.is_connected),
        error,
        correct,
    })
}

/// The products of one rank.
struct Part {
    seconds: Vec<f64>,
    bytes: u64,
    is_connected: bool,
    y: Vec<f64>,
}

fn products<B: Borders<f64>>(
    inner: &B,
    comm: &Arc<dyn Comm>,
    piece: &Piece,
    x: &[f64],
    update: Update,
    repeat: usize,
) -> Result<Part> {
    let backend = Distributed::connected::<f64>(inner.clone(), comm.clone())?;
    let local = Arc::new(AnyMatrix::Crs(piece.local.csr().clone()));
    let a = backend.rows(&local, &piece.border)?;
    let (mut on_device, mut y) = (inner.vector(x)?, inner.zeros(piece.local.n_rows())?);
    let mut seconds = Vec::with_capacity(repeat);
    let mut before = Exchanged::default();
    for k in 0..WARM_UP + repeat {
        if k == WARM_UP {
            before = backend.exchanged()?;
        }
        inner.synchronize()?;
        // They begin together.
        comm.barrier()?;
        let start = Instant::now();
        if update == Update::Whole {
            on_device = inner.vector(&inner.to_host(&on_device)?)?;
        }
        match update {
            Update::Nothing => inner.multiply(a.local(), &on_device, Then::Store { y: &mut y })?,
            Update::Shared | Update::Whole => {
                backend.multiply(&a, &on_device, Then::Store { y: &mut y })?;
            }
        }
        inner.synchronize()?;
        if k >= WARM_UP {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let sent = backend.exchanged()?.since(before).bytes / repeat.max(1) as u64;
    let copied = if update == Update::Whole { 2 * size_of_val(x) as u64 } else { 0 };
    Ok(Part { seconds, bytes: sent + copied, is_connected: backend.is_connected(), y: inner.to_host(&y)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::problem::random_spd;

    #[test]
    fn whole_vectors_are_more_than_what_is_shared() {
        let a = Arc::new(random_spd(61, 5, 3));
        let oracle = spmv::Oracle::new(&a);
        let cpu = |_| Device::cpu(1);
        for open in [cpu as fn(usize) -> Result<Device>, |_| Device::simulator()] {
            let of = |update| measure(&a, &oracle, 3, update, 2, open).unwrap();
            let [nothing, shared, whole] = [Update::Nothing, Update::Shared, Update::Whole].map(of);
            assert!(shared.correct && whole.correct && nothing.bytes == 0 && shared.bytes > 0);
            assert_eq!(whole.bytes, shared.bytes + 2 * 8 * 61);
            assert_eq!(whole.timing.seconds.len(), 2);
        }
    }

    #[test]
    fn a_rank_without_a_device_ends_all() {
        let a = Arc::new(random_spd(20, 3, 1));
        let oracle = spmv::Oracle::new(&a);
        let open = |rank| match rank {
            1 => Err(Error::Option("no device".into())),
            _ => Device::cpu(1),
        };
        let error = measure(&a, &oracle, 2, Update::Shared, 1, open).unwrap_err().to_string();
        assert!(error.contains("no device"), "{error}");
    }
}
