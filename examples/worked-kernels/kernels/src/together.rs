//! Blocks that wait for each other, and copies that go on meanwhile

// ANCHOR: kernel
use cuda_std::{kernel, memory::*, pipeline, shared, thread};

pub const BLOCK: u32 = 128;

/// So many steps of `x_i = (x_(i-1) + x_(i+1)) / 2` inside, in one cooperative launch of a thread an element.
#[kernel]
pub unsafe fn relax(steps: u32, x: *mut f64, barrier: *mut u32) {
    let (i, last) = (thread::index_x(), thread::stride() - 1);
    for _ in 0..steps {
        let mean = if i == 0 || i == last { x.ld(i) } else { 0.5 * (x.ld(i - 1) + x.ld(i + 1)) };
        thread::sync_grid(barrier);
        x.st(i, mean);
        thread::sync_grid(barrier);
    }
}

/// Tiles of 4 x 128 elements, each the other way round: the next is copied while one is written.
#[kernel]
pub unsafe fn turn_tiles(tiles: u32, x: *const f32, y: *mut f32) {
    let buffer = shared![f32; 1024];
    let (t, tiles) = (4 * thread::thread_idx_x() as usize, tiles as usize);
    pipeline::copy_async::<f32, 4>(buffer, t, x.add(t));
    pipeline::commit();
    for tile in 0..tiles {
        if tile + 1 < tiles {
            let next = 512 * (tile + 1) + t;
            pipeline::copy_async::<f32, 4>(buffer, next % 1024, x.add(next));
        }
        pipeline::commit();
        pipeline::wait_prior::<1>();
        thread::sync_threads();
        for k in 0..4 {
            y.st(512 * tile + t + k, buffer.get(512 * (tile % 2) + 511 - t - k));
        }
        thread::sync_threads();
    }
}
// ANCHOR_END: kernel

#[cfg(not(target_arch = "nvptx64"))]
pub fn relax_on_host(steps: u32, x: &mut [f64]) {
    for _ in 0..steps {
        let before = x.to_vec();
        (1..x.len() - 1).for_each(|i| x[i] = 0.5 * (before[i - 1] + before[i + 1]));
    }
}

#[cfg(not(target_arch = "nvptx64"))]
pub fn turn_on_host(x: &[f32]) -> Vec<f32> {
    x.chunks(512).flat_map(|tile| tile.iter().rev()).copied().collect()
}
