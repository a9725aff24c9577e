//! Modules: from PTX with options, from a file, joined of parts; their functions and variables.

use cust::link::Linker;
use cust::module::{JitFallback, JitTarget, ModuleJitOption, OptLevel};
use cust::prelude::*;
use std::error::Error;
use std::ffi::CString;

const VARIABLE: &str = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .global .u32 count = 7;\n";

fn main() -> Result<(), Box<dyn Error>> {
    let _context = cust::quick_init()?;
    let options = [
        ModuleJitOption::MaxRegisters(64),
        ModuleJitOption::OptLevel(OptLevel::O4),
        ModuleJitOption::Fallback(JitFallback::PreferPtx),
        ModuleJitOption::GenerateLineInfo(true),
    ];
    // For one kind of device alone, which need not be this one.
    let _ = ModuleJitOption::Target(JitTarget::Compute70);
    let sum = include_str!("sum.ptx");
    let module = Module::from_ptx(sum, &options)?;
    assert!(module.get_function("none").is_err());
    drop(module.get_function("sum")?);

    let mut linker = Linker::new()?;
    linker.add_ptx(sum)?;
    linker.add_ptx(VARIABLE)?;
    let joined = Module::from_cubin(linker.complete()?, &[])?;
    let mut count = joined.get_global::<u32>(&CString::new("count")?)?;
    let mut value = 0;
    count.copy_to(&mut value)?;
    assert_eq!(value, 7);
    count.copy_from(&8)?;
    drop(joined.get_function("sum")?);
    Module::drop(module).map_err(|(error, _)| error)?;
    Ok(())
}
