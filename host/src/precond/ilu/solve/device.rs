//! [`TriangularSolves`] on a device: a launch for each level that keeps many threads busy, and one for a run
//! of smaller ones.

use std::ops::Range;
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
use crate::precond::ilu::schedule::{Triangle, triangle_bytes};

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

impl<T: Real> DeviceTriangles<T> {
    /// Both triangles, each with the places where its levels begin, and the end.
    pub(in crate::precond::ilu) fn new(
        gpu: &Gpu,
        lower: (TriangleArrays<T>, &[u32]),
        upper: (TriangleArrays<T>, &[u32]),
        target: Arc<Buffer>,
    ) -> Result<Self> {
        let n = lower.0.diagonal.len();
        Ok(DeviceTriangles {
            n,
            lower: DeviceTriangle::new(gpu, lower.0, lower.1)?,
            upper: DeviceTriangle::new(gpu, upper.0, upper.1)?,
            target,
            y: gpu.zeros(n)?,
            w: gpu.zeros(n)?,
        })
    }

    /// Bytes that they take, as [`Triangles::bytes`].
    pub(in crate::precond::ilu) fn bytes(&self) -> u64 {
        let of = |triangle: &DeviceTriangle<T>| triangle_bytes::<T>(self.n, triangle.arrays.entries);
        of(&self.lower) + of(&self.upper) + 4 * self.n as u64
    }
}

/// What a launch solves.
enum Step {
    /// A level: its unknowns.
    Level { first: usize, end: usize },
    /// So many levels, by one block.
    Chain { first: usize, end: usize },
}

/// A triangle in device memory.
pub(in crate::precond::ilu) struct TriangleArrays<T> {
    pub row_ptr: Arc<Buffer>,
    pub col_idx: Arc<Buffer>,
    pub values: Arc<Buffer>,
    pub diagonal: DeviceVector<T>,
    pub source: Arc<Buffer>,
    /// How many there are.
    pub entries: usize,
}

/// A triangle and how it is solved with.
struct DeviceTriangle<T> {
    arrays: TriangleArrays<T>,
    level_ptr: Arc<Buffer>,
    log2_lanes: u32,
    steps: Vec<Step>,
}

impl<T: Real> TriangleArrays<T> {
    fn of(gpu: &Gpu, triangle: &Triangle<T>) -> Result<Self> {
        let (device, a) = (gpu.device(), &triangle.entries);
        check_reach(a.nnz() as u64)?;
        let row_ptr: Vec<u32> = a.row_ptr().iter().map(|&p| p as u32).collect();
        Ok(TriangleArrays {
            row_ptr: Buffer::from_slice(device, &row_ptr)?,
            col_idx: Buffer::from_slice(device, a.col_idx())?,
            values: Buffer::from_slice(device, a.values())?,
            diagonal: gpu.vector(&triangle.diagonal)?,
            source: Buffer::from_slice(device, &triangle.source)?,
            entries: a.nnz(),
        })
    }
}

impl<T: Real> DeviceTriangle<T> {
    fn new(gpu: &Gpu, arrays: TriangleArrays<T>, level_ptr: &[u32]) -> Result<Self> {
        let levels = (level_ptr.len() - 1).max(1);
        let log2_lanes = log2_lanes(arrays.diagonal.len() / levels, arrays.entries / levels);
        Ok(DeviceTriangle {
            arrays,
            level_ptr: Buffer::from_slice(gpu.device(), level_ptr)?,
            log2_lanes,
            steps: steps(level_ptr, log2_lanes),
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
        let arrays = &self.arrays;
        let rows = TriangleRows {
            row_ptr: arrays.row_ptr.address as *const u32,
            col_idx: arrays.col_idx.address as *const u32,
            values: arrays.values.address as *const T,
            diagonal: arrays.diagonal.ptr(),
            source: arrays.source.address as *const u32,
            target,
            r: r.ptr(),
            y: y.ptr_mut(),
            z,
        };
        let (log2_lanes, guard) = (self.log2_lanes, gpu.guard());
        let n = arrays.diagonal.len().max(1);
        // Each entry once, and of each unknown: pointer, d, source, r, y.
        let bytes = |unknowns: usize| {
            let entries = arrays.entries as f64 / n as f64 * (4 + size_of::<T>()) as f64;
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
fn steps(level_ptr: &[u32], log2_lanes: u32) -> Vec<Step> {
    let most = ROUNDS * (CHAIN_BLOCK as usize >> log2_lanes);
    let levels = level_ptr.len() - 1;
    let unknowns = |level: usize| level_ptr[level] as usize..level_ptr[level + 1] as usize;
    let is_small = |level: usize| unknowns(level).len() <= most;
    let mut steps = Vec::new();
    let mut first = 0;
    while first < levels {
        let end = (first..levels).find(|&level| !is_small(level)).unwrap_or(levels);
        if end > first + 1 {
            steps.push(Step::Chain { first, end });
            first = end;
        } else {
            let Range { start, end } = unknowns(first);
            steps.push(Step::Level { first: start, end });
            first += 1;
        }
    }
    steps
}

impl<T: Real> TriangularSolves<T> for Gpu {
    type Triangles = DeviceTriangles<T>;

    fn triangles(&self, triangles: Triangles<T>) -> Result<DeviceTriangles<T>> {
        let mut target = vec![0u32; triangles.n()];
        triangles.places.iter().enumerate().for_each(|(i, &place)| target[place as usize] = i as u32);
        let target = Buffer::from_slice(self.device(), &target)?;
        let Triangles { lower, upper, .. } = &triangles;
        let lower = (TriangleArrays::of(self, lower)?, &*lower.level_ptr);
        DeviceTriangles::new(self, lower, (TriangleArrays::of(self, upper)?, &upper.level_ptr), target)
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
