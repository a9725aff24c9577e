//! Adds two vectors on the GPU.

use cust::prelude::*;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(include_str!("sum.ptx"), &[])?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;

    let (x, y) = (vec![1.0_f32; 1000], vec![2.0_f32; 1000]);
    let x = DeviceBuffer::from_slice(&x)?;
    let y = y.as_slice().as_dbuf()?;
    let sum = DeviceBuffer::<f32>::zeroed(1000)?;
    let count = 1000_u32;
    // SAFETY: the kernel adds so many numbers.
    unsafe {
        launch!(module.sum<<<count.div_ceil(256), 256, 0, stream>>>(
            x.as_device_ptr(), y.as_device_ptr(), sum.as_device_ptr(), count
        ))?;
    }
    stream.synchronize()?;
    let mut found = vec![0.0_f32; 1000];
    sum.copy_to(&mut found)?;
    assert_eq!(found, sum.as_host_vec()?);
    assert!(found.iter().all(|&sum| sum == 3.0));
    Ok(())
}
