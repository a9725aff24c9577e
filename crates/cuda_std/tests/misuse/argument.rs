use cuda_std::kernel;
use cuda_std::sim::launch;

#[kernel]
pub unsafe fn add(a: &[f32], b: &[f32], c: *mut f32) {
    *c = a[0] + b[0];
}

fn main() {
    let (a, b, mut c) = ([1.0_f32], [2.0_f64], [0.0_f32]);
    unsafe { launch!(add<<<1, 1>>>(&a, &b, c.as_mut_ptr())) }.unwrap();
}
