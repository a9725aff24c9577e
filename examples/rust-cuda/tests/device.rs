//! The kernels on a GPU, through cust. `RUST_CUDA_PTX` names their PTX where this machine cannot compile it.

use cuda_builder::{CudaBuilder, Toolchain};
use cust::context::{CurrentContext, ResourceLimit};
use cust::prelude::*;
use sha2::{Digest, Sha256, Sha512};
use std::error::Error;
use std::path::PathBuf;

/// The PTX, or why there is none.
fn ptx() -> Result<PathBuf, Box<dyn Error>> {
    if let Some(path) = std::env::var_os("RUST_CUDA_PTX") {
        return Ok(path.into());
    }
    Toolchain::find()?;
    let files = CudaBuilder::new(env!("CARGO_MANIFEST_DIR")).archs(&["sm_70"]).build()?;
    Ok(files[0].path.clone())
}

fn numbers(n: usize, by: f32) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * by).fract() - 0.5).collect()
}

fn sums(module: &Module, stream: &Stream) -> Result<(), Box<dyn Error>> {
    let (a, b) = (numbers(100_003, 0.37), numbers(100_003, 0.71));
    let c = DeviceBuffer::from_slice(&vec![f32::NAN; a.len()])?;
    let (on_a, on_b) = (DeviceBuffer::from_slice(&a)?, DeviceBuffer::from_slice(&b)?);
    let vecadd = module.get_function("vecadd")?;
    let (_, block) = vecadd.suggested_launch_configuration(0, 0.into())?;
    let grid = (a.len() as u32).div_ceil(block);
    // SAFETY: all three have as many elements.
    unsafe {
        launch!(vecadd<<<grid, block, 0, stream>>>(
            on_a.as_device_ptr(), on_a.len(), on_b.as_device_ptr(), on_b.len(), c.as_device_ptr()
        ))?;
    }
    stream.synchronize()?;
    let sums = c.as_host_vec()?;
    assert!((0..a.len()).all(|i| sums[i] == a[i] + b[i]));
    Ok(())
}

fn products(module: &Module, stream: &Stream) -> Result<(), Box<dyn Error>> {
    let (m, n, k) = (137, 250, 141);
    let (a, b, c) = (numbers(m * k, 0.37), numbers(k * n, 0.71), numbers(m * n, 0.13));
    let (on_a, on_b) = (a.as_slice().as_dbuf()?, b.as_slice().as_dbuf()?);
    let grid = (n.div_ceil(16) as u32, m.div_ceil(16) as u32);
    for name in ["gemm", "gemm_tiled"] {
        let function = module.get_function(name)?;
        let on_c = c.as_slice().as_dbuf()?;
        // SAFETY: the matrices have these sizes.
        unsafe {
            launch!(function<<<grid, (16, 16), 0, stream>>>(
                on_a.as_device_ptr(), on_a.len(), on_b.as_device_ptr(), on_b.len(), on_c.as_device_ptr(),
                m, n, k, 2.0f32, -0.5f32
            ))?;
        }
        stream.synchronize()?;
        for (i, found) in on_c.as_host_vec()?.into_iter().enumerate() {
            let (row, col) = (i / n, i % n);
            let sum: f64 = (0..k).map(|l| f64::from(a[row * k + l]) * f64::from(b[l * n + col])).sum();
            let expected = 2.0 * sum - 0.5 * f64::from(c[i]);
            assert!((f64::from(found) - expected).abs() < 1e-4, "{name} {i}: {found}, not {expected}");
        }
    }
    Ok(())
}

fn hashes(module: &Module, stream: &Stream) -> Result<(), Box<dyn Error>> {
    let text: Vec<u8> = (0..100_000_u32).map(|i| (i.wrapping_mul(i) / 3) as u8).collect();
    let messages = text.as_slice().as_dbuf()?;
    let hashes = DeviceBuffer::from_slice(&[0_u8; 32 * 1000])?;
    let both = DeviceBuffer::from_slice(&[0_u8; 64])?;
    let (first, second) = text.split_at(30_000);
    let (first, second) = (first.as_dbuf()?, second.as_dbuf()?);
    // SAFETY: there are a thousand messages.
    unsafe {
        launch!(module.sha256<<<8, 128, 0, stream>>>(
            messages.as_device_ptr(), messages.len(), 100_usize, hashes.as_device_ptr()
        ))?;
        launch!(module.sha512_of_two<<<1, 1, 0, stream>>>(
            first.as_device_ptr(), first.len(), second.as_device_ptr(), second.len(), both.as_device_ptr()
        ))?;
    }
    stream.synchronize()?;
    for (message, hash) in text.chunks(100).zip(hashes.as_host_vec()?.chunks(32)) {
        assert_eq!(hash, &Sha256::digest(message)[..]);
    }
    assert_eq!(both.as_host_vec()?, Sha512::digest(&text)[..]);
    Ok(())
}

/// Allocates in the kernel, and prints from it.
fn ways(module: &Module, stream: &Stream) -> Result<(), Box<dyn Error>> {
    let starts = DeviceBuffer::from_slice(&[6_u32, 1, 27, 97])?;
    let steps = DeviceBuffer::from_slice(&[0_u32; 4])?;
    // SAFETY: there are four numbers.
    unsafe {
        launch!(module.collatz<<<1, 32, 0, stream>>>(
            starts.as_device_ptr(), starts.len(), steps.as_device_ptr()
        ))?;
    }
    stream.synchronize()?;
    assert_eq!(steps.as_host_vec()?, [8, 0, 111, 118]);
    Ok(())
}

#[test]
fn every_kernel_computes_on_a_gpu_what_it_does_in_the_simulator() -> Result<(), Box<dyn Error>> {
    if !cust::has_device()? {
        println!("skipped: there is no GPU, or no driver");
        return Ok(());
    }
    let _context = cust::quick_init()?;
    // What formats text calls through tables of functions, so that the driver cannot tell how deep it goes.
    CurrentContext::set_resource_limit(ResourceLimit::StackSize, 16 << 10)?;
    let module = Module::from_file(ptx()?)?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    sums(&module, &stream)?;
    products(&module, &stream)?;
    hashes(&module, &stream)?;
    ways(&module, &stream)
}
