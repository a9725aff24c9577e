//! Clusters of blocks, and bulk copies.

use cuda_std::{cluster, prelude::*};

#[kernel(needs = sm_90)]
pub unsafe fn clusters(out: *mut u64) {
    let (words, own) = (cuda_std::shared![u32; 8], cuda_std::shared![f64; 8]);
    let t = thread::thread_idx_x() as usize;
    let next = (cluster::block_rank() + 1) % cluster::num_blocks();
    cluster::sync();
    let (words, there) = (cluster::map_shared_rank(words, next), cluster::map_shared_rank(own, next));
    words.set(t, 0);
    there.set(t, there.get(t));
    cluster::arrive();
    cluster::wait();
    *out = u64::from(words.add(t, 1)) + u64::from(words.get(t));
    *out.add(1) = u64::from(cluster::block_idx().y + cluster::block_dim().z);
    cluster::sync();
}

#[kernel(needs = sm_90)]
pub unsafe fn bulk_copies(x: *const f64, y: *mut f64) {
    use cuda_std::bulk::Barrier;
    let (tile, barrier) = (cuda_std::shared![f64; 64], Barrier::at(cuda_std::shared![u64; 1]));
    let t = thread::thread_idx_x() as usize;
    if t == 0 {
        barrier.init();
        barrier.copy(tile, 0, x, 64);
        barrier.commit();
    }
    thread::sync_threads();
    barrier.wait(0);
    *y.add(t) = tile.get(t);
}
