//! The kernels of one image, each loaded when it is first used.

use super::function::Function;
use super::image::{self, PtxImage};
use super::lock::lock;
use super::module::Modules;
use super::overlap;
use super::status::{check, failed};
use crate::error::{Error, Result};
use crate::launch::{DeviceInfo, KernelAttributes};
use cust::module::Module;
use cust::sys::{self, CUfunction_attribute};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// How many launches a fault report names.
const REMEMBERED: usize = 4;

/// The kernels used so far, and the launches behind which a fault may lie.
///
/// The context is current in every call.
pub(super) struct Kernels {
    modules: Modules,
    /// All kernels as machine code, where the device takes it.
    machine_code: Option<Module>,
    device: DeviceInfo,
    /// Each kernel with a lock of its own, held while it is loaded: different ones are loaded at the same
    /// time.
    loaded: Mutex<HashMap<&'static str, Arc<Mutex<Option<Loaded>>>>>,
    /// Blocks of so many threads that a multiprocessor holds at a time.
    occupancy: Mutex<HashMap<(&'static str, u32), u32>>,
    /// Nanoseconds that went into loading.
    loading: AtomicU64,
    recent: Mutex<VecDeque<(&'static str, u32, u32)>>,
}

/// A kernel, and the module that it lives in if it was translated alone.
struct Loaded {
    function: Function,
    _module: Option<Module>,
}

impl Kernels {
    /// The kernels of `image`, whose name is in `device.ptx_target`; sets `device.machine_code`.
    ///
    /// # Errors
    /// There is no machine code for the device, and it does not load the shortest of the kernels: an image
    /// that it cannot run is refused here, and not at the first launch.
    pub(super) fn new(image: &PtxImage, device: &mut DeviceInfo) -> Result<Kernels> {
        let start = Instant::now();
        let machine_code = image::load_machine_code(image, device);
        device.machine_code = machine_code.is_some();
        let kernels = Kernels {
            modules: Modules::of(image.text.clone()),
            machine_code,
            device: device.clone(),
            loaded: Mutex::default(),
            occupancy: Mutex::default(),
            loading: AtomicU64::new(0),
            recent: Mutex::default(),
        };
        if let Some(name) = kernels.modules.shortest() {
            kernels.load(name)?;
        }
        kernels.count_loading(start);
        Ok(kernels)
    }

    fn count_loading(&self, start: Instant) {
        self.loading.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    pub(super) fn loading_seconds(&self) -> f64 {
        self.loading.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Looks a kernel up; loads it the first time.
    pub(super) fn function(&self, name: &'static str) -> Result<Function> {
        let entry = Arc::clone(lock(&self.loaded).entry(name).or_default());
        let mut kernel = lock(&entry);
        match &*kernel {
            Some(loaded) => Ok(loaded.function),
            None => {
                let start = Instant::now();
                let function = kernel.insert(self.load(name)?).function;
                self.count_loading(start);
                Ok(function)
            }
        }
    }

    fn load(&self, name: &str) -> Result<Loaded> {
        let target = &self.device.ptx_target;
        let call = || format!("cuModuleGetFunction({name})");
        let unknown = || Error::Device {
            call: call(),
            message: format!("the {target} image has no such kernel; compile the kernels again"),
        };
        // Machine code was made of this text, and does the same.
        let waits = overlap::waits(self.modules.entry(name).ok_or_else(unknown)?);
        let handle = |module: &Module| {
            let function = module.get_function(name).map_err(failed(call()))?.to_raw();
            // Otherwise the driver loads it when it is launched. One before 12.4 has no such function; and
            // what cannot be loaded cannot be launched, which will say why.
            // SAFETY: the handle is of the current context.
            let _ = unsafe { sys::cuFuncLoad(function) };
            Ok(function)
        };
        if let Some(module) = &self.machine_code {
            return Ok(Loaded { function: Function { handle: handle(module)?, waits }, _module: None });
        }
        let text = self.modules.module(name).ok_or_else(unknown)?;
        let module = image::load(text, &format!("{name} of the {target} image"), &self.device)?;
        Ok(Loaded { function: Function { handle: handle(&module)?, waits }, _module: Some(module) })
    }

    pub(super) fn attributes(&self, name: &'static str) -> Result<KernelAttributes> {
        let function = self.function(name)?;
        let get = |attribute: CUfunction_attribute| {
            let mut value = 0;
            // SAFETY: `value` is writable, and the handle is of the current context.
            let status = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, function.handle) };
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

    /// Asked of the driver only the first time: launches depend on it.
    pub(super) fn max_active_blocks(&self, name: &'static str, block: u32) -> Result<u32> {
        if let Some(&blocks) = lock(&self.occupancy).get(&(name, block)) {
            return Ok(blocks);
        }
        let function = self.function(name)?;
        let mut blocks = 0;
        // SAFETY: `blocks` is writable, and the handle is of the current context.
        let status = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, function.handle, block as i32, 0)
        };
        check(status, || format!("cuOccupancyMaxActiveBlocksPerMultiprocessor({name}, {block} threads)"))?;
        lock(&self.occupancy).insert((name, block), blocks as u32);
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
