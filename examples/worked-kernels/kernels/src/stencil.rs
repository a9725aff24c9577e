//! A step of the heat equation on a grid of three dimensions

// ANCHOR: kernel
use cuda_std::{intrinsics::fmaf, kernel, memory::*, thread};

pub const BLOCK: (u32, u32, u32) = (32, 4, 4);

/// `v = u + c (sum of the six neighbours - 6 u)` inside; at the boundary `v = u`. x runs fastest.
#[kernel]
pub unsafe fn heat_step(nx: u32, ny: u32, nz: u32, c: f32, u: *const f32, v: *mut f32) {
    let at = thread::index_3d();
    if at.x >= nx || at.y >= ny || at.z >= nz {
        return;
    }
    let (row, plane) = (nx as usize, nx as usize * ny as usize);
    let i = at.z as usize * plane + at.y as usize * row + at.x as usize;
    let middle = u.ld_nc(i);
    let inside = |k: u32, n: u32| k > 0 && k + 1 < n;
    if inside(at.x, nx) && inside(at.y, ny) && inside(at.z, nz) {
        let along_x = u.ld_nc(i - 1) + u.ld_nc(i + 1);
        let along_y = u.ld_nc(i - row) + u.ld_nc(i + row);
        let along_z = u.ld_nc(i - plane) + u.ld_nc(i + plane);
        v.st(i, fmaf(c, fmaf(-6.0, middle, along_x + along_y + along_z), middle));
    } else {
        v.st(i, middle);
    }
}
// ANCHOR_END: kernel

#[cfg(not(target_arch = "nvptx64"))]
pub fn on_host(nx: usize, ny: usize, nz: usize, c: f32, u: &[f32]) -> Vec<f32> {
    let at = |x: usize, y: usize, z: usize| u[(z * ny + y) * nx + x];
    let mut v = u.to_vec();
    for z in 1..nz.saturating_sub(1) {
        for y in 1..ny.saturating_sub(1) {
            for x in 1..nx.saturating_sub(1) {
                let along_x = at(x - 1, y, z) + at(x + 1, y, z);
                let along_y = at(x, y - 1, z) + at(x, y + 1, z);
                let along_z = at(x, y, z - 1) + at(x, y, z + 1);
                let middle = at(x, y, z);
                let change = (-6.0_f32).mul_add(middle, along_x + along_y + along_z);
                v[(z * ny + y) * nx + x] = c.mul_add(change, middle);
            }
        }
    }
    v
}
