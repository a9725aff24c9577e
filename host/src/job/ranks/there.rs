//! Rows that ranks take to their devices, and look at there, before it is known what is solved with them.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use arithmetic::survey::Found;

use super::share::nothing_shared;
use crate::backend::gpu::Gpu;
use crate::comm::{Comm, Partition, Runs, agree};
use crate::error::Result;
use crate::job::memory::copied;
use crate::job::{Device, Options};
use crate::matrix::Csr;
use crate::setup::{DeviceCsr, Matrices, Parts};

/// The rows of a rank on its device, with the columns of the whole matrix.
pub(super) struct There {
    pub rows: DeviceCsr<f64>,
    /// Which of them have columns of other ranks.
    pub at_border: Vec<u32>,
    /// What a look at them has found.
    pub found: Found,
}

/// A matrix, which rank has which rows, a range each, and what is asked for.
pub(super) struct Whole {
    pub a: Arc<Csr<f64>>,
    pub partition: Arc<Partition>,
    pub options: Options,
}

/// Takes the rows of every rank to its device, and looks at them there; what came of it, at rank 0, is `None`
/// where a rank has no device or that has no room. In front are the seconds of the copies. All ranks of one
/// process call this, rank 0 with the matrix.
pub(super) fn take_rows(
    comm: &dyn Comm,
    device: &Device,
    whole: Option<Whole>,
) -> Result<(f64, Option<Vec<There>>)> {
    let process = comm.one_process().ok_or_else(nothing_shared)?;
    let given = process.share(Arc::new(whole))?;
    let Whole { a, partition, options } = given[0].as_ref().as_ref().ok_or_else(nothing_shared)?;
    let start = Instant::now();
    let own = partition.rows(comm.rank()).as_range().ok_or_else(nothing_shared)?;
    let taken = agree(comm, taken(device, a, own.start as usize..own.end as usize, options))?;
    let seconds = start.elapsed().as_secs_f64();
    let seen = taken.map(|(gpu, rows)| seen(gpu, rows, own)).transpose();
    let all = process.hand_over(comm.rank(), vec![agree(comm, seen)?])?;
    Ok((seconds, all.into_iter().collect()))
}

/// The rows on the device, where there is one that has room.
fn taken<'a>(
    device: &'a Device,
    a: &Csr<f64>,
    rows: Range<usize>,
    options: &Options,
) -> Result<Option<(&'a Gpu, DeviceCsr<f64>)>> {
    let nnz = a.row_ptr()[rows.end] - a.row_ptr()[rows.start];
    let has_room = |gpu: &&Gpu| DeviceCsr::<f64>::has_room(gpu, rows.len(), nnz);
    let Some(gpu) = device.gpu().filter(has_room) else { return Ok(None) };
    Ok(Some((gpu, copied(gpu, a, rows, options)?)))
}

/// What is found in rows, which are `own` and have these columns of their rank.
fn seen(gpu: &Gpu, rows: DeviceCsr<f64>, own: Range<u32>) -> Result<There> {
    let found = rows.found(gpu, own.start as usize)?;
    let columns = rows.size.n_cols;
    let others = Runs::from(own.start as usize..own.end as usize).complement(columns).inverse(columns);
    let at_border = gpu.rows_in_places(&rows, &Runs::from(0..rows.size.n_rows), &others)?;
    let at_border = Matrices::<f64>::indices_to_host(gpu, &at_border)?;
    Ok(There { rows, at_border, found })
}
