//! The gravity of bodies on one another

// ANCHOR: kernel
use cuda_std::{Shared, float::approx::rsqrt, intrinsics::fmaf, kernel, shared, thread};

pub const BLOCK: u32 = 256;
const T: usize = BLOCK as usize;
/// Added to squares of distances, so that near bodies do not fly apart.
pub const SOFTENING: f32 = 1e-4;

/// Position and mass; or an acceleration, and 0. Of CUDA's `float4`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(16))]
pub struct Body {
    pub x: f32,
    pub y: f32,
    pub z: f32,
    pub w: f32,
}

/// The acceleration of each body: the sum over all bodies j of `m_j d / (d^2 + softening)^(3/2)`, where d
/// leads to body j. A block loads as many bodies as it has threads at a time.
#[kernel]
pub unsafe fn nbody(bodies: &[Body], accelerations: *mut Body) {
    let tile = shared![f32; 4 * T];
    let (i, t) = (thread::index_x(), thread::thread_idx_x() as usize);
    let nothing = Body { x: 0.0, y: 0.0, z: 0.0, w: 0.0 };
    let body = if i < bodies.len() { bodies[i] } else { nothing };
    let mut sum = nothing;
    for first in (0..bodies.len()).step_by(T) {
        set_body(tile, t, if first + t < bodies.len() { bodies[first + t] } else { nothing });
        thread::sync_threads();
        for j in 0..T {
            sum = add_pull(sum, body, get_body(tile, j));
        }
        thread::sync_threads();
    }
    if i < bodies.len() {
        *accelerations.add(i) = sum;
    }
}

/// Bodies are four numbers each, one after the other.
#[inline(always)]
unsafe fn set_body(tile: Shared<f32>, j: usize, Body { x, y, z, w }: Body) {
    tile.set(4 * j, x);
    tile.set(4 * j + 1, y);
    tile.set(4 * j + 2, z);
    tile.set(4 * j + 3, w);
}

#[inline(always)]
unsafe fn get_body(tile: Shared<f32>, j: usize) -> Body {
    Body { x: tile.get(4 * j), y: tile.get(4 * j + 1), z: tile.get(4 * j + 2), w: tile.get(4 * j + 3) }
}

/// The sum with what `other` does to `body`.
#[inline(always)]
fn add_pull(sum: Body, body: Body, other: Body) -> Body {
    let (dx, dy, dz) = (other.x - body.x, other.y - body.y, other.z - body.z);
    let near = rsqrt(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, SOFTENING))));
    let pull = other.w * near * near * near;
    Body { x: fmaf(pull, dx, sum.x), y: fmaf(pull, dy, sum.y), z: fmaf(pull, dz, sum.z), w: 0.0 }
}
// ANCHOR_END: kernel

/// What `bodies` do to `some`, in f64.
#[cfg(not(target_arch = "nvptx64"))]
pub fn on_host(bodies: &[Body], some: &[Body]) -> Vec<[f64; 3]> {
    let acceleration = |body: &Body| {
        let mut sum = [0.0; 3];
        for other in bodies {
            let d = [other.x - body.x, other.y - body.y, other.z - body.z].map(f64::from);
            let square = d.iter().map(|d| d * d).sum::<f64>() + f64::from(SOFTENING);
            let pull = f64::from(other.w) / (square * square.sqrt());
            (0..3).for_each(|k| sum[k] += pull * d[k]);
        }
        sum
    };
    some.iter().map(acceleration).collect()
}
