//! The source documents' `toolbox_vector` function by function: what each does to a vector in device memory,
//! and what does it here.
//!
//! `cargo run --release --example toolbox_vector` runs on the first GPU, or else in the simulator.

use warpsolve::backend::gpu::Gpu;
use warpsolve::backend::prelude::*;
use warpsolve::{Error, Result};

/// Elements of the vectors.
const N: usize = 1000;

/// What is found at the end: the vector as the host has it, and the sum of squares that the device computed
/// on the way.
pub fn steps(gpu: &Gpu) -> Result<(Vec<f64>, f64)> {
    let mut host: Vec<f64> = (0..N).map(|i| i as f64).collect();

    // todev: memory on the device, and a copy.
    let mut x = gpu.vector(&host)?;
    // createdev: memory alone. It is set to zero, because what nobody wrote may not be read.
    let mut y = gpu.zeros(N)?;

    // updatedev, of a range: the host's elements 10 to 19, changed, into the same memory.
    host[10..20].fill(-1.0);
    x.update_device(10, &host[10..20])?;

    // A kernel: y = 2 x + y.
    let scalars = gpu.scalars(1)?;
    gpu.axpby(&scalars, Coef::constant(2.0), &x, Coef::ONE, &mut y)?;
    gpu.dot(&y, &y, &scalars, Slot(0))?;
    let squares = gpu.read(&scalars, Slot(0))?;

    // updatehost, of a range: the device's elements 0 to 99 into the host's memory.
    y.update_host(0, &mut host[..100])?;

    // fromdev: the end of x in device memory, without a copy.
    drop(x);
    // cfromdev: the same for y, with a copy of all of it.
    let end = y.detach()?;
    assert_eq!(end[..100], host[..100]);
    Ok((end, squares))
}

/// What [`steps`] must find, by the host alone.
pub fn expected() -> Vec<f64> {
    (0..N).map(|i| if (10..20).contains(&i) { -2.0 } else { 2.0 * i as f64 }).collect()
}

fn main() -> Result<()> {
    let gpu = warpsolve::open_gpu(0).or_else(|_| Gpu::simulated())?;
    let (y, squares) = steps(&gpu)?;
    if y != expected() {
        return Err(Error::Option("the device has other numbers than the host".into()));
    }
    println!("{N} elements on {}, to the device and back; (y, y) = {squares:e}", gpu.device().info().name);
    Ok(())
}
