//! The kernels on a GPU, with sizes that blocks do not divide.

use cust::error::CudaError;
use cust::prelude::*;
use kernels::together;
use std::error::Error;
use worked_kernels::*;

#[test]
fn every_kernel_computes_on_a_gpu_what_the_host_does() -> Result<(), Box<dyn Error>> {
    if !cust::has_device()? {
        println!("skipped: there is no GPU, or no driver");
        return Ok(());
    }
    let _context = cust::quick_init()?;
    let module = rust_module()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let kernels: [Box<dyn Worked>; 8] = [
        Box::new(Vadd::new(100_003)?),
        Box::new(Saxpy::new(100_003)?),
        Box::new(Matmul::new(137, 250, 141)?),
        Box::new(Histogram::new(1_000_003)?),
        Box::new(Scan::new(3_000_017)?),
        Box::new(Stencil::new([65, 33, 19])?),
        Box::new(Pi::new(7, 50)?),
        Box::new(Nbody::new(1_001)?),
    ];
    for mut kernel in kernels {
        kernel.reset()?;
        kernel.launch(&module, &stream)?;
        stream.synchronize()?;
        assert_eq!(kernel.fault()?, None, "{}", kernel.name());
    }
    Ok(())
}

#[test]
fn blocks_wait_for_each_other_and_copies_go_on() -> Result<(), Box<dyn Error>> {
    if !cust::has_device()? {
        println!("skipped: there is no GPU, or no driver");
        return Ok(());
    }
    let _context = cust::quick_init()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let all_at_once = stream.cooperative();
    for module in [rust_module()?, newer_rust_module()?] {
        let blocks = 61;
        let mut x: Vec<f64> = (0..blocks * together::BLOCK).map(|i| (f64::from(i) * 0.37).fract()).collect();
        let (on_device, barrier) = (x.as_slice().as_dbuf()?, DeviceBuffer::<u32>::zeroed(1)?);
        let (p, word, block) = (on_device.as_device_ptr(), barrier.as_device_ptr(), together::BLOCK);
        // Twice, with the same word.
        for steps in [20_u32, 7] {
            // SAFETY: a thread an element, and a word that was 0.
            unsafe { launch!(module.relax<<<blocks, block, 0, all_at_once>>>(steps, p, word)) }?;
            together::relax_on_host(steps, &mut x);
        }
        stream.synchronize()?;
        assert_eq!(on_device.as_host_vec()?, x);
        // SAFETY: it is not launched.
        let too_many = unsafe { launch!(module.relax<<<1_000_000, block, 0, all_at_once>>>(1_u32, p, word)) };
        assert_eq!(too_many, Err(CudaError::CooperativeLaunchTooLarge));

        let x: Vec<f32> = (0..9 * 512).map(|i| (i as f32 * 0.37).fract()).collect();
        let (from, to) = (x.as_slice().as_dbuf()?, DeviceBuffer::<f32>::zeroed(x.len())?);
        let (p, q) = (from.as_device_ptr(), to.as_device_ptr());
        // SAFETY: both have nine tiles.
        unsafe { launch!(module.turn_tiles<<<1, block, 0, stream>>>(9_u32, p, q)) }?;
        stream.synchronize()?;
        assert_eq!(to.as_host_vec()?, together::turn_on_host(&x));
    }
    Ok(())
}
