//! [`TriangularSolves`] on a device: a launch for each level that keeps many threads busy, and one for a run
//! of smaller ones.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::triangular::{self, CHAIN_BLOCK, TriangleRows};

use super::{Triangles, TriangularSolves};
use crate::backend::Memory;
use crate::backend::gpu::buffer::{Buffer, check_reach};
use crate::backend::gpu::matrix::log2_lanes;
use crate::backend::gpu::{DeviceVector, Gpu, Work};
use crate::backend::memory::check_lengths;
use crate::error::Result;
use crate::precond::ilu::schedule::Triangle;

/// Rounds of one block in which a level is solved sooner than another launch begins.
const ROUNDS: usize = 2;

/// The triangles, and the solution of the first.
pub struct DeviceTriangles<T> {
    n: usize,
    lower: DeviceTriangle<T>,
    upper: DeviceTriangle<T>,
    /// Where each unknown of the second goes in z.
    target: Arc<Buffer>,
    y: DeviceVector<T>,
    w: DeviceVector<T>,
}

/// What a launch solves.
enum Step {
    /// A level: its unknowns.
    Level { first: usize, end: usize },
    /// So many levels, by one block.
    Chain { first: usize, end: usize },
}

struct DeviceTriangle<T> {
    row_ptr: Arc<Buffer>,
    col_idx: Arc<Buffer>,
    values: Arc<Buffer>,
    diagonal: DeviceVector<T>,
    source: Arc<Buffer>,
    level_ptr: Arc<Buffer>,
    log2_lanes: u32,
    steps: Vec<Step>,
    /// Entries up to each unknown, for the bytes of a step.
    entries: usize,
}

impl<T: Real> DeviceTriangle<T> {
    fn of(gpu: &Gpu, triangle: &Triangle<T>) -> Result<Self> {
        let (device, a) = (gpu.device(), &triangle.entries);
        check_reach(a.nnz() as u64)?;
        let row_ptr: Vec<u32> = a.row_ptr().iter().map(|&p| p as u32).collect();
        let log2_lanes =
            log2_lanes(a.n_rows() / triangle.levels().max(1), a.nnz() / triangle.levels().max(1));
        Ok(DeviceTriangle {
            row_ptr: Buffer::from_slice(device, &row_ptr)?,
            col_idx: Buffer::from_slice(device, a.col_idx())?,
            values: Buffer::from_slice(device, a.values())?,
            diagonal: gpu.vector(&triangle.diagonal)?,
            source: Buffer::from_slice(device, &triangle.source)?,
            level_ptr: Buffer::from_slice(device, &triangle.level_ptr)?,
            log2_lanes,
            steps: steps(triangle, log2_lanes),
            entries: a.nnz(),
        })
    }

    /// The triangle's solution for the right-hand side r goes to y, and to `z[target]` where there is one.
    fn solve(
        &self,
        gpu: &Gpu,
        r: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
        target: *const u32,
        z: *mut T,
    ) -> Result<()> {
        let rows = TriangleRows {
            row_ptr: self.row_ptr.address as *const u32,
            col_idx: self.col_idx.address as *const u32,
            values: self.values.address as *const T,
            diagonal: self.diagonal.ptr(),
            source: self.source.address as *const u32,
            target,
            r: r.ptr(),
            y: y.ptr_mut(),
            z,
        };
        let (log2_lanes, guard) = (self.log2_lanes, gpu.guard());
        let n = self.diagonal.len().max(1);
        // Each entry once, and of each unknown: pointer, d, source, r, y.
        let bytes = |unknowns: usize| {
            let entries = self.entries as f64 / n as f64 * (4 + size_of::<T>()) as f64;
            ((entries + (8 + 3 * size_of::<T>()) as f64) * unknowns as f64) as u64
        };
        for step in &self.steps {
            // SAFETY: the arrays are those of a valid triangle, and the vectors have its size: the caller has
            // checked that.
            unsafe {
                match *step {
                    Step::Level { first, end } => {
                        let unknowns = end - first;
                        let kernel = triangular::triangle_level {
                            first: first as u64,
                            end: end as u64,
                            log2_lanes,
                            rows,
                            guard,
                        };
                        gpu.launch(Work::moving(unknowns << log2_lanes, bytes(unknowns)), &kernel)?;
                    }
                    Step::Chain { first, end } => {
                        let level_ptr = self.level_ptr.address as *const u32;
                        let (first_level, end_level) = (first as u32, end as u32);
                        let kernel = triangular::triangle_chain {
                            first_level,
                            end_level,
                            level_ptr,
                            log2_lanes,
                            rows,
                            guard,
                        };
                        gpu.launch_in_blocks_of(CHAIN_BLOCK, CHAIN_BLOCK as usize, &kernel)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The launches of a triangle: neighbouring small levels in one.
fn steps<T: Real>(triangle: &Triangle<T>, log2_lanes: u32) -> Vec<Step> {
    let most = ROUNDS * (CHAIN_BLOCK as usize >> log2_lanes);
    let is_small = |level: usize| triangle.level(level).len() <= most;
    let mut steps = Vec::new();
    let mut first = 0;
    while first < triangle.levels() {
        let end = (first..triangle.levels()).find(|&level| !is_small(level)).unwrap_or(triangle.levels());
        if end > first + 1 {
            steps.push(Step::Chain { first, end });
            first = end;
        } else {
            let level = triangle.level(first);
            steps.push(Step::Level { first: level.start, end: level.end });
            first += 1;
        }
    }
    steps
}

impl<T: Real> TriangularSolves<T> for Gpu {
    type Triangles = DeviceTriangles<T>;

    fn triangles(&self, triangles: Triangles<T>) -> Result<DeviceTriangles<T>> {
        let n = triangles.n();
        let mut target = vec![0u32; n];
        triangles.places.iter().enumerate().for_each(|(i, &place)| target[place as usize] = i as u32);
        Ok(DeviceTriangles {
            n,
            lower: DeviceTriangle::of(self, &triangles.lower)?,
            upper: DeviceTriangle::of(self, &triangles.upper)?,
            target: Buffer::from_slice(self.device(), &target)?,
            y: self.zeros(n)?,
            w: self.zeros(n)?,
        })
    }

    fn solve_triangles(
        &self,
        triangles: &mut DeviceTriangles<T>,
        r: &DeviceVector<T>,
        z: &mut DeviceVector<T>,
    ) -> Result<()> {
        check_lengths("triangular solves", triangles.n, &[("r", r.len()), ("z", z.len())])?;
        let DeviceTriangles { lower, upper, target, y, w, .. } = triangles;
        lower.solve(self, r, y, std::ptr::null(), std::ptr::null_mut())?;
        upper.solve(self, y, w, target.address as *const u32, z.ptr_mut())
    }
}
