//! Copies and kernels on two streams, ordered and timed by events, from page-locked memory.

use cust::event::EventStatus;
use cust::memory::{AsyncCopyDestination, LockedBuffer};
use cust::prelude::*;
use cust::stream::StreamWaitEventFlags;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let _context = cust::quick_init()?;
    let module = Module::from_ptx(include_str!("sum.ptx"), &[])?;
    let sum = module.get_function("sum")?;
    let [copies, kernels] =
        [Stream::new(StreamFlags::NON_BLOCKING, None)?, Stream::new(StreamFlags::NON_BLOCKING, None)?];
    let count = 1 << 20;
    let host = LockedBuffer::new(&1.0_f32, count)?;
    let mut back = LockedBuffer::new(&0.0_f32, count)?;
    // SAFETY: all buffers live on until both streams are done.
    unsafe {
        let mut x = DeviceBuffer::<f32>::uninitialized_async(count, &copies)?;
        let start = Event::new(EventFlags::DEFAULT)?;
        let copied = Event::new(EventFlags::DEFAULT)?;
        let end = Event::new(EventFlags::DEFAULT)?;
        start.record(&copies)?;
        x.async_copy_from(&host, &copies)?;
        copied.record(&copies)?;
        copies.synchronize()?;
        assert_eq!(copied.query()?, EventStatus::Ready);
        println!("copied in {:?}", copied.elapsed(&start)?);
        kernels.wait_event(copied, StreamWaitEventFlags::DEFAULT)?;
        let p = x.as_device_ptr();
        launch!(sum<<<(count as u32).div_ceil(256), 256, 0, kernels>>>(p, p, p, count as u32))?;
        end.record(&kernels)?;
        x.async_copy_to(&mut back, &kernels)?;
        kernels.add_callback(Box::new(|| println!("added")))?;
        kernels.synchronize()?;
        println!("{} ms in all", end.elapsed_time_f32(&start)?);
        x.drop_async(&kernels)?;
        kernels.synchronize()?;
    }
    assert!(back.iter().all(|&sum| sum == 2.0));
    Ok(())
}
