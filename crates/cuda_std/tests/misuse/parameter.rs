use cuda_std::kernel;

#[kernel]
pub unsafe fn add(n: usize, values: Vec<f32>) {
    let _ = (n, values);
}

fn main() {}
