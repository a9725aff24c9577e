use cuda_std::kernel;

#[kernel]
pub unsafe fn add(n: usize) -> usize {
    n
}

fn main() {}
