//! The numbering that a device makes for itself, of the matrix where it is, where that is left to it.

use std::time::Instant;

use cuda_std::Real;

use super::options::Reorder;
use super::plan::Plan;
use super::reorder::{Reordered, is_better, is_tied, lines_where_bad, most_levels};
use super::setup::Times;
use crate::analysis::{Neighbours, lines_per_entry, reverse_cuthill_mckee};
use crate::backend::Memory;
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::DeviceCsr;
use crate::setup::numbering::{DeviceNumbering, MOST_LEVELS};

/// A numbering of what is on a device, where others use the given one.
pub(super) trait Renumbers<T: Real, B: Memory<T>>: Send {
    /// What it gave.
    fn info(&self) -> Reordered;
    /// A vector of the host, in the given numbering, in this one.
    fn vector(&self, backend: &B, given: &[T]) -> Result<B::Vector>;
    /// Fills `given` with a vector of this numbering in the given one.
    fn copy_to_host(&self, backend: &B, v: &B::Vector, given: &mut [T]) -> Result<()>;
    /// Another matrix of the same pattern, of which there may be a copy, in this numbering.
    fn matrix(
        &self,
        backend: &B,
        a: &Csr<f64>,
        copy: Option<DeviceCsr<f64>>,
        times: &mut Times,
    ) -> Result<DeviceCsr<f64>>;
}

/// Of a GPU in f64.
type Renumbering = Box<dyn Renumbers<f64, Gpu>>;

struct Renumbered {
    numbering: DeviceNumbering,
    info: Reordered,
}

impl Renumbers<f64, Gpu> for Renumbered {
    fn info(&self) -> Reordered {
        self.info
    }
    fn vector(&self, gpu: &Gpu, given: &[f64]) -> Result<DeviceVector<f64>> {
        self.numbering.vector(gpu, given)
    }
    fn copy_to_host(&self, gpu: &Gpu, v: &DeviceVector<f64>, given: &mut [f64]) -> Result<()> {
        self.numbering.copy_to_host(gpu, v, given)
    }
    fn matrix(
        &self,
        gpu: &Gpu,
        a: &Csr<f64>,
        copy: Option<DeviceCsr<f64>>,
        times: &mut Times,
    ) -> Result<DeviceCsr<f64>> {
        let copy = there(gpu, a, copy, times)?;
        let start = Instant::now();
        let reordered = self.numbering.matrix(gpu, &copy)?;
        gpu.device().synchronize()?;
        times.setup += start.elapsed().as_secs_f64();
        Ok(reordered)
    }
}

/// Whether what is set up is made of nothing but the matrix on a device, in whatever numbering.
fn has_any_numbering(plan: &Plan) -> bool {
    plan.converts_on_device
        && plan.options.block_size == 1
        && !is_tied(&plan.options)
        && plan.gains_by_numbering()
}

/// The matrix of a plan on a GPU, of which there may be a copy, in the numbering that the plan asks for, and
/// that numbering; both as they were where it asks for none.
///
/// # Errors
/// Those of the device.
pub(super) fn reordered(
    plan: &Plan,
    gpu: &Gpu,
    copy: Option<DeviceCsr<f64>>,
    times: &mut Times,
) -> Result<(Option<DeviceCsr<f64>>, Option<Renumbering>)> {
    let (a, reorder) = (&plan.a, plan.options.reorder);
    // Another matrix, and what it is made with.
    let has_room = || reorder == Reorder::Rcm || DeviceCsr::<f64>::has_room(gpu, 2 * a.n_rows(), 2 * a.nnz());
    if !has_any_numbering(plan) || !has_room() {
        return Ok((copy, None));
    }
    let start = Instant::now();
    let Some(lines_before) = lines_where_bad(a, &plan.options) else { return Ok((copy, None)) };
    times.setup += start.elapsed().as_secs_f64();
    let copy = there(gpu, a, copy, times)?;
    let start = Instant::now();
    let Some(numbering) = numbering(gpu, plan, &copy)? else {
        times.setup += start.elapsed().as_secs_f64();
        return Ok((Some(copy), None));
    };
    let reordered = numbering.matrix(gpu, &copy)?;
    let lines_after = lines_per_entry(&reordered.pattern_of_some()?);
    let serves = is_better(reorder, lines_before, lines_after);
    let copy = if serves { reordered } else { copy };
    gpu.device().synchronize()?;
    let seconds = start.elapsed().as_secs_f64();
    times.setup += seconds;
    let info = Reordered { lines_before, lines_after, seconds };
    let renumbered = serves.then(|| Box::new(Renumbered { numbering, info }) as Renumbering);
    Ok((Some(copy), renumbered))
}

/// The matrix on the GPU.
fn there(gpu: &Gpu, a: &Csr<f64>, copy: Option<DeviceCsr<f64>>, times: &mut Times) -> Result<DeviceCsr<f64>> {
    let start = Instant::now();
    let copy = copy.map_or_else(|| DeviceCsr::upload(gpu, a), Ok)?;
    times.upload += start.elapsed().as_secs_f64();
    Ok(copy)
}

/// Reverse Cuthill-McKee's, which the host finds of graphs that are not for the device; `None` where `auto`
/// does not wait for it.
fn numbering(gpu: &Gpu, plan: &Plan, copy: &DeviceCsr<f64>) -> Result<Option<DeviceNumbering>> {
    let (a, is_auto) = (&plan.a, plan.options.reorder == Reorder::Auto);
    let has_images = plan.is_symmetric || copy.mirrored(gpu)?.share == 1.0;
    let most_levels = if is_auto { most_levels(a.nnz()) } else { MOST_LEVELS };
    let found = match has_images {
        true => DeviceNumbering::reverse_cuthill_mckee(gpu, copy, most_levels)?,
        false => None,
    };
    if found.is_some() || is_auto {
        return Ok(found);
    }
    let order = reverse_cuthill_mckee(&Neighbours::of(a, has_images));
    DeviceNumbering::of_order(gpu, &order).map(Some)
}
