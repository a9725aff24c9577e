use cuda_std::prelude::*;

#[kernel(needs = hopper)]
pub unsafe fn nothing(x: *mut u32) {
    *x = 1;
}

fn main() {}
