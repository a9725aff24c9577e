use cuda_std::prelude::*;
use cuda_std::{shared, shared_array};

#[kernel]
pub unsafe fn checked() {
    shared![f64; 6145].set(0, 1.0);
}

#[kernel]
pub unsafe fn plain() {
    *shared_array![f32; 12289] = 1.0;
}

fn main() {}
