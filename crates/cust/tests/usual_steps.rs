//! A program as one writes it for cust 0.3. It runs on a GPU where there is one, and on the fake elsewhere.

mod common;

use cust::prelude::*;
use std::error::Error;

/// sum[i] = a[i] + b[i]
static PTX: &str = "\
.version 6.0
.target sm_50
.address_size 64

.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 sum, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<4>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [sum];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd4, %r5, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
DONE:
    ret;
}
";

const NUMBERS_LEN: usize = 100_000;

fn program() -> Result<(), Box<dyn Error>> {
    let lhs: Vec<f32> = (0..NUMBERS_LEN).map(|i| i as f32).collect();
    let rhs: Vec<f32> = (0..NUMBERS_LEN).map(|i| 0.5 * i as f32).collect();

    // Initialise CUDA, take the first device, make a context for it and make that current on this thread.
    let _ctx = cust::quick_init()?;

    // Load the module: translated for the device by the driver.
    let module = Module::from_ptx(PTX, &[])?;

    // Work is queued on streams.
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;

    // Allocate device memory and copy the numbers there.
    let lhs_gpu = DeviceBuffer::from_slice(&lhs)?;
    let rhs_gpu = rhs.as_slice().as_dbuf()?;

    let mut out = vec![0.0f32; NUMBERS_LEN];
    let out_buf = out.as_slice().as_dbuf()?;

    let func = module.get_function("add")?;

    // One thread for each number.
    let block_size = 256;
    let grid_size = (NUMBERS_LEN as u32).div_ceil(block_size);

    let start = Event::new(EventFlags::DEFAULT)?;
    let stop = Event::new(EventFlags::DEFAULT)?;
    start.record(&stream)?;

    // SAFETY: the kernel takes three pointers and a length, and stays within it.
    unsafe {
        launch!(
            func<<<grid_size, block_size, 0, stream>>>(
                lhs_gpu.as_device_ptr(),
                rhs_gpu.as_device_ptr(),
                out_buf.as_device_ptr(),
                NUMBERS_LEN as u32,
            )
        )?;
        // The same by the name of the kernel, with sizes in two dimensions.
        launch!(module.add<<<(grid_size, 1), (block_size, 1, 1), 0, stream>>>(
            lhs_gpu.as_device_ptr(), out_buf.as_device_ptr(), out_buf.as_device_ptr(), NUMBERS_LEN as u32
        ))?;
    }

    stop.record(&stream)?;
    stream.synchronize()?;
    stop.synchronize()?;
    assert!(stop.elapsed_time_f32(&start)? > 0.0);

    // Copy the result back.
    out_buf.copy_to(&mut out)?;
    for i in 0..NUMBERS_LEN {
        assert_eq!(out[i], 2.0 * lhs[i] + rhs[i], "{i}");
    }
    Ok(())
}

#[test]
fn the_usual_steps() {
    // Without a driver the fake can take its place, with one it cannot.
    let there_is_one =
        cust::has_device().unwrap() || cust::driver::load().is_err() && common::fake().is_some();
    if !there_is_one {
        println!("skipped: this machine has no GPU and no rustc, or a driver without a GPU");
        return;
    }
    program().unwrap();
}
