//! Launches the kernel in the simulator, and on a GPU where there is one.

use own_kernels::{BLOCK, smooth};
use warpsolve::Result;
use warpsolve::launch::Launch;
use warpsolve::launch::driver::Driver;
use warpsolve::launch::sim::Sim;
use warpsolve::ptx::EmbeddedPtx;

/// The kernels, as build.rs compiled them.
static PTX: &[EmbeddedPtx] = include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

// ANCHOR: launch
/// `y_i = (x_{i-1} + 2 x_i + x_{i+1}) / 4` on `device`.
fn smoothed(device: &dyn Launch, x: &[f64]) -> Result<Vec<f64>> {
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut result = vec![0; bytes.len()];
    let (from, to) = (device.alloc(bytes.len())?, device.alloc(bytes.len())?);
    let launch = smooth { n: x.len() as u32, x: from as *const f64, y: to as *mut f64 };
    let blocks = launch.n.div_ceil(BLOCK);
    // SAFETY: both have as many elements as x, and are given back once, behind the last use.
    unsafe {
        device.upload(from, &bytes)?;
        device.launch(blocks, BLOCK, &launch)?;
        device.download(&mut result, to)?;
        device.free(from);
        device.free(to);
    }
    Ok(result.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().expect("8 bytes"))).collect())
}

fn main() -> Result<()> {
    let x = [0.0, 4.0, 0.0, 0.0, 8.0];
    println!("simulator: {:?}", smoothed(&Sim::checked(), &x)?);
    let images: Vec<_> = PTX.iter().map(EmbeddedPtx::image).collect();
    match Driver::open(0, &images) {
        Ok(gpu) => println!("{}: {:?}", gpu.info().name, smoothed(&gpu, &x)?),
        Err(error) => println!("{error}"),
    }
    Ok(())
}
// ANCHOR_END: launch

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_smooths() {
        let y = smoothed(&Sim::strict(), &[0.0, 4.0, 0.0, 0.0, 8.0]).unwrap();
        assert_eq!(y, [1.0, 2.0, 1.0, 2.0, 4.0]);
    }

    #[test]
    fn the_ptx_has_the_kernel_once_for_each_target() {
        assert_eq!(PTX.iter().map(|ptx| ptx.target).collect::<Vec<_>>(), [(9, 0), (7, 0)]);
        assert!(PTX.iter().all(|ptx| ptx.text.matches(".visible .entry smooth(").count() == 1));
        assert!(PTX.iter().all(|ptx| ptx.text.matches("bar.sync").count() == 1));
    }

    #[test]
    fn a_gpu_smooths() {
        let images: Vec<_> = PTX.iter().map(EmbeddedPtx::image).collect();
        match Driver::open(0, &images) {
            Ok(gpu) => {
                let x: Vec<f64> = (0..1000).map(|i| f64::from(i % 7)).collect();
                assert_eq!(smoothed(&gpu, &x).unwrap(), smoothed(&Sim::new(), &x).unwrap());
            }
            Err(error) => println!("skipped: {error}"),
        }
    }
}
