use cuda_std::kernel;

#[kernel]
pub fn add(n: usize) {
    let _ = n;
}

fn main() {}
