use cuda_std::bulk::Barrier;
use cuda_std::prelude::*;
use cuda_std::{cluster, mma, shared, shared_array};

#[kernel(needs = sm_90)]
pub unsafe fn of_pointers(y: *mut f64) {
    let pointer = shared_array![f64; 4];
    *y = cluster::map_shared_rank(pointer, 0).get(0);
}

#[kernel(needs = sm_90)]
pub unsafe fn of_floats() {
    Barrier::at(shared![f64; 1]).init();
}

#[kernel]
pub unsafe fn of_singles(y: *mut [f64; 2]) {
    *y = mma::m8n8k4_f64(1.0_f32, 2.0, *y);
}

fn main() {}
