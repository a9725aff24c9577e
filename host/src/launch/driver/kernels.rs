//! The kernels of one loaded image.

use super::lock;
use super::status::{check, code, describe};
use crate::error::{Error, Result};
use cust::error::CudaError;
use cust::module::Module;
use cust::sys::{self, CUfunction, CUfunction_attribute};
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

/// How many launches a fault report names.
const REMEMBERED: usize = 4;

/// What a kernel takes, as the driver translated it for the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelAttributes {
    /// 32-bit registers a thread.
    pub registers: u32,
    /// Bytes of static shared memory a block.
    pub shared_bytes: u32,
    /// Bytes of local memory a thread: spilled registers and arrays indexed at run time.
    pub local_bytes: u32,
    /// The largest block with which it can be launched.
    pub max_threads: u32,
}

/// A module, its kernels found so far, and the launches behind which a fault may lie.
///
/// The module's context is current in every call.
pub(super) struct Kernels {
    module: Module,
    /// "sm_90".
    target: String,
    functions: Mutex<HashMap<&'static str, Function>>,
    recent: Mutex<VecDeque<(&'static str, u32, u32)>>,
}

/// A kernel's handle. It lives as long as its module.
#[derive(Clone, Copy)]
pub(super) struct Function(pub(super) CUfunction);

// SAFETY: any thread may use the handle while its context is current there.
unsafe impl Send for Function {}

impl Kernels {
    pub(super) fn new(module: Module, target: String) -> Kernels {
        Kernels { module, target, functions: Mutex::default(), recent: Mutex::default() }
    }

    /// Looks a kernel up, in the module only the first time.
    pub(super) fn function(&self, name: &'static str) -> Result<Function> {
        let mut functions = lock(&self.functions);
        if let Some(&function) = functions.get(name) {
            return Ok(function);
        }
        let function = self.module.get_function(name).map_err(|e| Error::Device {
            call: format!("cuModuleGetFunction({name})"),
            message: match e {
                CudaError::NotFound => {
                    format!("the {} image has no such kernel; compile the kernels again", self.target)
                }
                e => describe(code(e)),
            },
        })?;
        let function = Function(function.to_raw());
        functions.insert(name, function);
        Ok(function)
    }

    pub(super) fn attributes(&self, name: &'static str) -> Result<KernelAttributes> {
        let function = self.function(name)?;
        let get = |attribute: CUfunction_attribute| {
            let mut value = 0;
            // SAFETY: `value` is writable, and the handle is of the current context.
            let status = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, function.0) };
            check(status, || format!("cuFuncGetAttribute({attribute:?}, {name})"))?;
            Ok(value as u32)
        };
        Ok(KernelAttributes {
            registers: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            max_threads: get(CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        })
    }

    pub(super) fn max_active_blocks(&self, name: &'static str, block: u32) -> Result<u32> {
        let function = self.function(name)?;
        let mut blocks = 0;
        // SAFETY: `blocks` is writable, and the handle is of the current context.
        let status = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function.0, block as i32, 0)
        };
        check(status, || format!("cuOccupancyMaxActiveBlocksPerMultiprocessor({name}, {block} threads)"))?;
        Ok(blocks as u32)
    }

    /// Remembers a launch.
    pub(super) fn launched(&self, name: &'static str, grid: u32, block: u32) {
        let mut recent = lock(&self.recent);
        if recent.len() == REMEMBERED {
            recent.pop_front();
        }
        recent.push_back((name, grid, block));
    }

    /// The launches remembered, as text.
    pub(super) fn recent(&self) -> String {
        let launch = |(name, grid, block): &(_, _, _)| format!("{name} ({grid} blocks of {block})");
        match lock(&self.recent).iter().map(launch).collect::<Vec<_>>() {
            launches if launches.is_empty() => "no kernel was launched before".to_owned(),
            launches => format!("launched last, newest at the end: {}", launches.join(", ")),
        }
    }
}
