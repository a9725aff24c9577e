//! The kernels on a GPU, with sizes that blocks do not divide.

use cust::prelude::*;
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
