//! What a function takes, and how many of its blocks fit on a multiprocessor; contexts and their limits.

use cust::context::{CacheConfig, Context, ContextFlags, CurrentContext, ResourceLimit, SharedMemoryConfig};
use cust::function::{BlockSize, FunctionAttribute, GridSize};
use cust::prelude::*;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    cust::init(CudaFlags::empty())?;
    let device = Device::get_device(0)?;
    let context = Context::new(device)?;
    context.set_flags(ContextFlags::SCHED_AUTO)?;
    CurrentContext::set_current(&context)?;
    CurrentContext::set_resource_limit(ResourceLimit::StackSize, 16 << 10)?;
    println!("stack: {} bytes", CurrentContext::get_resource_limit(ResourceLimit::StackSize)?);
    CurrentContext::set_cache_config(CacheConfig::PreferL1)?;
    let priorities = CurrentContext::get_stream_priority_range()?;
    println!("priorities: {} to {}", priorities.least, priorities.greatest);

    let module = Module::from_ptx(include_str!("sum.ptx"), &[])?;
    let mut sum = module.get_function("sum")?;
    sum.set_cache_config(CacheConfig::PreferShared)?;
    sum.set_shared_memory_config(SharedMemoryConfig::DefaultBankSize)?;
    println!("registers: {}", sum.get_attribute(FunctionAttribute::NumRegisters)?);
    println!("blocks at once: {}", sum.max_active_blocks_per_multiprocessor(BlockSize::x(256), 0)?);
    let (blocks, threads) = sum.suggested_launch_configuration(0, BlockSize::xyz(1024, 1, 1))?;
    let bytes = sum.available_dynamic_shared_memory_per_block(GridSize::x(blocks), BlockSize::x(threads))?;
    println!("suggested: {blocks} blocks of {threads} threads with up to {bytes} bytes");
    Ok(())
}
