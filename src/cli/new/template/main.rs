//! y = a x + y on a GPU, or in the simulator where there is none.

use cuda_std::sim;
use cust::prelude::*;
use kernels::{BLOCK, saxpy};
use std::error::Error;

/// The kernels, as build.rs compiled them.
const PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/kernels.ptx"));

fn main() -> Result<(), Box<dyn Error>> {
    let x: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut y = vec![1.0; x.len()];
    if cust::has_device()? {
        on_gpu(2.0, &x, &mut y)?;
        println!("on the GPU");
    } else {
        in_simulator(2.0, &x, &mut y)?;
        println!("in the simulator, for there is no GPU");
    }
    println!("2 x + 1 = {:?} .. {:?}", &y[..4], y[999]);
    Ok(())
}

fn on_gpu(a: f32, x: &[f32], y: &mut [f32]) -> Result<(), Box<dyn Error>> {
    assert_eq!(x.len(), y.len());
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(PTX, &[])?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let on_x = DeviceBuffer::from_slice(x)?;
    let on_y = DeviceBuffer::from_slice(y)?;
    let blocks = (x.len() as u32).div_ceil(BLOCK);
    // SAFETY: x and y have as many elements. A slice is two arguments, its address and its length.
    unsafe {
        launch!(module.saxpy<<<blocks, BLOCK, 0, stream>>>(
            a, on_x.as_device_ptr(), on_x.len(), on_y.as_device_ptr()
        ))?;
    }
    stream.synchronize()?;
    on_y.copy_to(y)?;
    Ok(())
}

fn in_simulator(a: f32, x: &[f32], y: &mut [f32]) -> Result<(), sim::Fault> {
    assert_eq!(x.len(), y.len());
    let blocks = (x.len() as u32).div_ceil(BLOCK);
    // SAFETY: x and y have as many elements.
    unsafe { sim::launch!(saxpy<<<blocks, BLOCK>>>(a, x, y.as_mut_ptr())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_computes_what_the_simulator_does() -> Result<(), Box<dyn Error>> {
        if !cust::has_device()? {
            println!("skipped: there is no GPU, or no driver");
            return Ok(());
        }
        let x: Vec<f32> = (0..1000).map(|i| i as f32 * 0.5).collect();
        let (mut y, mut expected) = (vec![1.0; 1000], vec![1.0; 1000]);
        on_gpu(1.5, &x, &mut y)?;
        in_simulator(1.5, &x, &mut expected)?;
        assert_eq!(y, expected);
        Ok(())
    }
}
