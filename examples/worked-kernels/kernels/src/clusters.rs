//! Blocks that share their memory, and copies that bring some KiB at once, from compute capability 9.0 on

use cuda_std::{bulk::Barrier, cluster, kernel, memory::*, shared, thread};

pub const BLOCK: u32 = 128;
pub const BINS: usize = 1024;
/// Bins in the memory of each block.
pub const SHARE: usize = 256;
/// Blocks in a cluster: together they have memory for all bins.
pub const CLUSTER: u32 = (BINS / SHARE) as u32;

/// Adds to each of the bins how many of the n numbers are in it, each block of a cluster keeping a quarter of
/// the bins.
#[kernel(needs = sm_90)]
pub unsafe fn cluster_histogram(n: u32, x: *const u32, bins: *mut u32) {
    let own = shared![u32; SHARE];
    let (t, threads) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    for bin in (t..SHARE).step_by(threads) {
        own.set(bin, 0);
    }
    cluster::sync();
    for i in (thread::index_x()..n as usize).step_by(thread::stride()) {
        let bin = x.ld_nc(i) as usize % BINS;
        cluster::map_shared_rank(own, (bin / SHARE) as u32).add(bin % SHARE, 1);
    }
    cluster::sync();
    let first = SHARE * cluster::block_rank() as usize;
    for bin in (t..SHARE).step_by(threads) {
        cuda_std::atomic::atomic_add_u32(bins.add(first + bin), own.get(bin));
    }
}

/// Each block turns its elements, and gives them to the block of the cluster that is `shift` behind it.
#[kernel(needs = sm_90)]
pub unsafe fn pass_on(shift: u32, x: *const f64, y: *mut f64) {
    let own = shared![f64; BLOCK as usize];
    let t = thread::thread_idx_x() as usize;
    let next = (cluster::block_rank() + shift) % cluster::num_blocks();
    cluster::sync();
    cluster::map_shared_rank(own, next).set(BLOCK as usize - 1 - t, x.ld(thread::index_x()));
    cluster::arrive();
    cluster::wait();
    y.st(thread::index_x(), own.get(t));
}

/// Tiles of 1024 elements, each the other way round; the next is copied while one is written.
#[kernel(needs = sm_90)]
pub unsafe fn turn_in_bulk(tiles: u32, x: *const f32, y: *mut f32) {
    let (buffer, first, second) = (shared![f32; 2048], shared![u64; 1], shared![u64; 1]);
    let (first, second) = (Barrier::at(first), Barrier::at(second));
    let (t, tiles) = (thread::thread_idx_x() as usize, tiles as usize);
    if t == 0 {
        first.init();
        second.init();
        first.copy(buffer, 0, x, 1024);
        first.commit();
    }
    thread::sync_threads();
    for tile in 0..tiles {
        let half = tile % 2;
        let (this, next) = if half == 0 { (first, second) } else { (second, first) };
        if t == 0 && tile + 1 < tiles {
            next.copy(buffer, 1024 * (1 - half), x.add(1024 * (tile + 1)), 1024);
            next.commit();
        }
        this.wait(tile as u32 / 2);
        for k in (t..1024).step_by(BLOCK as usize) {
            y.st(1024 * tile + k, buffer.get(1024 * half + 1023 - k));
        }
        thread::sync_threads();
    }
}

#[cfg(not(target_arch = "nvptx64"))]
pub fn histogram_on_host(x: &[u32]) -> Vec<u32> {
    let mut bins = vec![0; BINS];
    x.iter().for_each(|&x| bins[x as usize % BINS] += 1);
    bins
}

#[cfg(not(target_arch = "nvptx64"))]
pub fn pass_on_on_host(blocks: usize, shift: usize, x: &[f64]) -> Vec<f64> {
    let size = BLOCK as usize;
    let element = |i: usize| {
        let (block, t) = (i / size, i % size);
        let from = block / blocks * blocks + (block % blocks + blocks - shift % blocks) % blocks;
        x[from * size + size - 1 - t]
    };
    (0..x.len()).map(element).collect()
}

#[cfg(not(target_arch = "nvptx64"))]
pub fn turn_on_host(x: &[f32]) -> Vec<f32> {
    x.chunks(1024).flat_map(|tile| tile.iter().rev()).copied().collect()
}
