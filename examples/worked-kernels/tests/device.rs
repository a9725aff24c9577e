//! The kernels on a GPU, with sizes that blocks do not divide.

use cuda_std::{bf16, f16};
use cust::context::CurrentContext;
use cust::device::DeviceAttribute;
use cust::error::CudaError;
use cust::memory::DeviceCopy;
use cust::prelude::*;
use kernels::{clusters, products, small, together};
use std::error::Error;
use std::fmt::Debug;
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

/// Numbers without a pattern, from -1/2 to 1/2.
fn numbers(count: u32, step: f64) -> Vec<f64> {
    (0..count).map(|i| (f64::from(i) * step).fract() - 0.5).collect()
}

#[test]
fn clusters_and_bulk_copies_do_on_a_gpu_what_they_do_on_the_host() -> Result<(), Box<dyn Error>> {
    if !cust::has_device()? {
        println!("skipped: there is no GPU, or no driver");
        return Ok(());
    }
    let _context = cust::quick_init()?;
    let major = CurrentContext::get_device()?.get_attribute(DeviceAttribute::ComputeCapabilityMajor)?;
    if major < 9 {
        println!("skipped: the device is of compute capability {major}");
        return Ok(());
    }
    let module = newest_rust_module()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let block = clusters::BLOCK;

    let x: Vec<u32> = (0..1_000_003_u32).map(|i| i.wrapping_mul(2_654_435_769) >> 7).collect();
    let (n, cluster) = (x.len() as u32, stream.clusters(clusters::CLUSTER));
    let (from, bins) = (x.as_slice().as_dbuf()?, DeviceBuffer::<u32>::zeroed(clusters::BINS)?);
    let (p, q) = (from.as_device_ptr(), bins.as_device_ptr());
    // SAFETY: n numbers, and as many bins as the kernel has.
    unsafe { launch!(module.cluster_histogram<<<64, block, 0, cluster>>>(n, p, q)) }?;
    stream.synchronize()?;
    assert_eq!(bins.as_host_vec()?, clusters::histogram_on_host(&x));

    for (size, shift) in [(1, 0), (2, 1), (8, 3)] {
        let blocks = 5 * size;
        let (x, cluster) = (numbers(blocks * block, 0.37), stream.clusters(size));
        let (from, to) = (x.as_slice().as_dbuf()?, DeviceBuffer::<f64>::zeroed(x.len())?);
        let (p, q) = (from.as_device_ptr(), to.as_device_ptr());
        // SAFETY: a thread an element.
        unsafe { launch!(module.pass_on<<<blocks, block, 0, cluster>>>(shift, p, q)) }?;
        stream.synchronize()?;
        assert_eq!(to.as_host_vec()?, clusters::pass_on_on_host(size as usize, shift as usize, &x));
    }
    let (zero, too_large) = (DevicePointer::<f64>::null(), stream.clusters(64));
    // SAFETY: it is not launched.
    let refused = unsafe { launch!(module.pass_on<<<64, block, 0, too_large>>>(0_u32, zero, zero)) };
    assert!(refused.is_err(), "a cluster of 64 blocks");

    let x: Vec<f32> = numbers(9 * 1024, 0.37).into_iter().map(|x| x as f32).collect();
    let (from, to) = (x.as_slice().as_dbuf()?, DeviceBuffer::<f32>::zeroed(x.len())?);
    let (p, q) = (from.as_device_ptr(), to.as_device_ptr());
    // SAFETY: both have nine tiles.
    unsafe { launch!(module.turn_in_bulk<<<1, block, 0, stream>>>(9_u32, p, q)) }?;
    stream.synchronize()?;
    assert_eq!(to.as_host_vec()?, clusters::turn_on_host(&x));
    Ok(())
}

#[test]
fn tensor_cores_multiply_as_the_host_does() -> Result<(), Box<dyn Error>> {
    if !cust::has_device()? {
        println!("skipped: there is no GPU, or no driver");
        return Ok(());
    }
    let _context = cust::quick_init()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    // Without tensor cores, and with them.
    for (module, tensor_cores) in [(rust_module()?, false), (newer_rust_module()?, true)] {
        let warps = 1000_u32;
        let (a, b) = (numbers(warps * 32, 0.377_123), numbers(warps * 32, 0.591_731));
        let c = numbers(warps * 64, 0.837_119);
        let buffers = [a.as_slice().as_dbuf()?, b.as_slice().as_dbuf()?, c.as_slice().as_dbuf()?];
        let [p, q, r] = buffers.each_ref().map(|buffer| buffer.as_device_ptr());
        let d = DeviceBuffer::<f64>::zeroed(c.len())?;
        let to = d.as_device_ptr();
        // SAFETY: matrices for as many warps.
        unsafe { launch!(module.product_f64<<<warps / 4, 128, 0, stream>>>(p, q, r, to)) }?;
        stream.synchronize()?;
        assert_eq!(d.as_host_vec()?, products::product_f64_on_host(&a, &b, &c));

        let narrow = |x: Vec<f64>| x.into_iter().map(|x| x as f32).collect::<Vec<f32>>();
        let (a, b) = (narrow(numbers(warps * 256, 0.377_123)), narrow(numbers(warps * 128, 0.591_731)));
        let c = narrow(numbers(warps * 128, 0.837_119));
        let buffers = [a.as_slice().as_dbuf()?, b.as_slice().as_dbuf()?, c.as_slice().as_dbuf()?];
        let [p, q, r] = buffers.each_ref().map(|buffer| buffer.as_device_ptr());
        let d = DeviceBuffer::<f32>::zeroed(c.len())?;
        let to = d.as_device_ptr();
        // SAFETY: as above.
        unsafe { launch!(module.product_bf16<<<warps / 4, 128, 0, stream>>>(p, q, r, to)) }?;
        stream.synchronize()?;
        let expected = products::product_bf16_on_host(&a, &b, &c);
        let errors = d.as_host_vec()?.into_iter().zip(expected);
        let errors = errors.map(|(d, (exact, magnitude))| (f64::from(d) - exact).abs() / magnitude);
        let largest = errors.fold(0.0, f64::max) / f64::from(f32::EPSILON);
        println!("bf16, tensor cores {tensor_cores}: {largest:.3} x 2^-23 of the sum of magnitudes");
        assert!(largest <= if tensor_cores { 2.0 } else { 0.501 }, "{largest}");
    }
    Ok(())
}

/// Turns 100 blocks of numbers round by the instance of this name.
fn turn<T: DeviceCopy + Default + PartialEq + Debug>(
    (module, stream): (&Module, &Stream),
    name: &str,
    number: impl Fn(u32) -> T,
) -> Result<(), Box<dyn Error>> {
    let x: Vec<T> = (0..100 * small::BLOCK).map(number).collect();
    let (on_device, function) = (x.as_slice().as_dbuf()?, module.get_function(name)?);
    // SAFETY: a thread a number.
    unsafe { launch!(function<<<100, small::BLOCK, 0, stream>>>(on_device.as_device_ptr())) }?;
    stream.synchronize()?;
    assert_eq!(on_device.as_host_vec()?, small::turn_on_host(&x), "{name}");
    Ok(())
}

#[test]
fn numbers_of_one_and_two_bytes_are_those_of_the_host() -> Result<(), Box<dyn Error>> {
    if !cust::has_device()? {
        println!("skipped: there is no GPU, or no driver");
        return Ok(());
    }
    let _context = cust::quick_init()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    for module in [rust_module()?, newer_rust_module()?] {
        let on = (&module, &stream);
        turn(on, "turn_u8", |i| (i * 7) as u8)?;
        turn(on, "turn_i8", |i| (i * 7) as i8)?;
        turn(on, "turn_bool", |i| i % 3 == 0)?;
        turn(on, "turn_u16", |i| (i * 777) as u16)?;
        turn(on, "turn_i16", |i| (i * 777) as i16)?;
        turn(on, "turn_f16", |i| f16::from_f32(i as f32 * 0.37))?;
        turn(on, "turn_bf16", |i| bf16::from_f32(i as f32 * 0.37))?;

        let x: Vec<u8> = (0..400 * small::BLOCK).map(|i| (i * 31 + i / 7) as u8).collect();
        let n = x.len() / 4;
        let (from, sums) = (x.as_slice().as_dbuf()?, DeviceBuffer::<u16>::zeroed(n)?);
        let (products, short) =
            (vec![f16::ZERO; n].as_slice().as_dbuf()?, vec![bf16::ZERO; n].as_slice().as_dbuf()?);
        let (p, s) = (from.as_device_ptr(), sums.as_device_ptr());
        let (q, r) = (products.as_device_ptr(), short.as_device_ptr());
        // SAFETY: a thread for each four bytes.
        unsafe { launch!(module.fours<<<100, small::BLOCK, 0, stream>>>(p, s, q, r)) }?;
        stream.synchronize()?;
        let found = sums.as_host_vec()?.into_iter().zip(products.as_host_vec()?).zip(short.as_host_vec()?);
        assert!(found.map(|((sum, product), short)| (sum, product, short)).eq(small::fours_on_host(&x)));
    }
    Ok(())
}
