//! A stand-in for libcuda.so.1 with two GPUs made of host memory, compiled by tests/driver.
//!
//! It is as lazy as the real one may be: what is queued on a stream is done when the program waits for it. A
//! buffer that is reused too early, or a result that is not waited for, shows as wrong data.

#![allow(non_snake_case)]

mod kernels;
mod memory;
mod streams;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use streams::Event;

const SUCCESS: u32 = 0;
const OUT_OF_MEMORY: u32 = 2;
const INVALID_CONTEXT: u32 = 201;
const INVALID_PTX: u32 = 218;
const NO_BINARY_FOR_GPU: u32 = 209;
const UNSUPPORTED_PTX_VERSION: u32 = 222;
const NOT_FOUND: u32 = 500;
const NOT_READY: u32 = 600;
const ILLEGAL_ADDRESS: u32 = 700;

/// Device memory in bytes.
const MEMORY: usize = 200 << 20;

/// Bytes taken from the system, all that the pool holds among them.
static USED: Mutex<usize> = Mutex::new(0);
static POOL: Mutex<Pool> = Mutex::new(Pool { used: 0, idle: Vec::new() });
/// Page-locked host memory: the ranges which the device reads and writes by itself.
static LOCKED: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
static DEVICE: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// The first device's default pool; the second has none.
struct Pool {
    used: usize,
    /// Sizes of the pieces which nobody uses. They are cut, but never joined.
    idle: Vec<usize>,
}

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
    /// The contexts below the current one, where it was pushed.
    static BELOW: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    /// Captures begun for a graph: in a second one kernels need not overlap.
    static ATTEMPTS: Cell<u32> = const { Cell::new(0) };
}

#[derive(Clone)]
enum Work {
    Copy {
        to: usize,
        from: usize,
        bytes: usize,
    },
    Zero {
        to: usize,
        bytes: usize,
    },
    /// data[i] = factor * data[i] + shift
    Scale {
        data: usize,
        n: u32,
        factor: f64,
        shift: f32,
    },
    Fault,
    Event(usize),
    /// Back to the pool.
    Free(usize),
}

#[derive(Default)]
struct Stream {
    queue: Vec<Work>,
    done: HashSet<usize>,
    carried_out: usize,
    sticky: u32,
    /// Launched on as if the driver lacked `cuLaunchKernelEx`.
    old: bool,
    /// What is recorded instead of being queued.
    capture: Option<Graph>,
}

/// A graph, or one that can be launched.
#[derive(Clone, Default)]
struct Graph {
    work: Vec<Work>,
    /// What ending the capture returns, and instantiation.
    ended: u32,
    instantiated: u32,
}

fn stream<'a>(handle: usize) -> std::sync::MutexGuard<'a, Stream> {
    unsafe { &*(handle as *const Mutex<Stream>) }.lock().unwrap()
}

impl Stream {
    /// Carries out what is queued, up to an event or all of it.
    fn drain(&mut self, until: Option<usize>) -> u32 {
        while !self.queue.is_empty() && self.sticky == SUCCESS {
            self.carried_out += 1;
            match self.queue.remove(0) {
                Work::Copy { to, from, bytes } => unsafe {
                    std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes);
                },
                Work::Zero { to, bytes } => unsafe { std::ptr::write_bytes(to as *mut u8, 0, bytes) },
                Work::Scale { data, n, factor, shift } => {
                    let data = unsafe { std::slice::from_raw_parts_mut(data as *mut f64, n as usize) };
                    data.iter_mut().for_each(|x| *x = factor * *x + f64::from(shift));
                }
                Work::Fault => self.sticky = ILLEGAL_ADDRESS,
                Work::Free(address) => {
                    let bytes = give_back(&DEVICE, address).unwrap();
                    let mut pool = POOL.lock().unwrap();
                    pool.used -= bytes;
                    pool.idle.push(bytes);
                }
                Work::Event(event) => {
                    unsafe { (*(event as *mut Event)).at = self.carried_out };
                    self.done.insert(event);
                    if until == Some(event) {
                        break;
                    }
                }
            }
        }
        self.sticky
    }
}

fn queue(handle: usize, work: Work) -> u32 {
    if CURRENT.get() == 0 {
        return INVALID_CONTEXT;
    }
    let mut stream = stream(handle);
    if let Some(graph) = &mut stream.capture {
        graph.work.push(work);
        return SUCCESS;
    }
    stream.queue.push(work);
    stream.sticky
}

fn within(ranges: &Mutex<Vec<(usize, usize)>>, address: usize, bytes: usize) -> bool {
    ranges.lock().unwrap().iter().any(|&(at, size)| at <= address && address + bytes <= at + size)
}

fn take(ranges: &Mutex<Vec<(usize, usize)>>, bytes: usize) -> usize {
    // Poisoned, and never 0 bytes.
    let memory = Box::leak(vec![0xA5_u8; bytes.max(1)].into_boxed_slice());
    let at = memory.as_mut_ptr() as usize;
    ranges.lock().unwrap().push((at, bytes));
    at
}

fn give_back(ranges: &Mutex<Vec<(usize, usize)>>, address: usize) -> Option<usize> {
    let mut ranges = ranges.lock().unwrap();
    let i = ranges.iter().position(|&(at, _)| at == address)?;
    let (at, bytes) = ranges.swap_remove(i);
    drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at as *mut u8, bytes.max(1))) });
    Some(bytes)
}

// ---- devices and contexts

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(flags: c_uint) -> u32 {
    flags
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> u32 {
    unsafe { *version = 12_080 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> u32 {
    unsafe { *count = 2 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> u32 {
    unsafe { *device = 70 + ordinal };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) -> u32 {
    let text = format!("Fake GPU {device}\0");
    assert!(text.len() <= length as usize);
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) -> u32 {
    unsafe { *bytes = MEMORY };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) -> u32 {
    let known = match attribute {
        16 => 132,
        38 => 50 << 20,
        75 => 9 - (device - 70),
        76 => 0,
        115 => 71 - device,
        _ => return 1,
    };
    unsafe { *value = known };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) -> u32 {
    unsafe { *context = device as usize };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(_device: c_int) -> u32 {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: usize) -> u32 {
    CURRENT.set(context);
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut usize) -> u32 {
    unsafe { *context = CURRENT.get() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetDevice(device: *mut c_int) -> u32 {
    // A context has the number of its device.
    unsafe { *device = CURRENT.get() as c_int };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPushCurrent_v2(context: usize) -> u32 {
    assert_ne!(context, 0);
    BELOW.with_borrow_mut(|stack| stack.push(CURRENT.replace(context)));
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxPopCurrent_v2(context: *mut usize) -> u32 {
    let below = BELOW.with_borrow_mut(Vec::pop).expect("what was pushed");
    unsafe { *context = CURRENT.replace(below) };
    SUCCESS
}

// ---- errors

fn text(status: u32) -> Option<(&'static CStr, &'static CStr)> {
    Some(match status {
        1 => (c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
        OUT_OF_MEMORY => (c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
        INVALID_CONTEXT => (c"CUDA_ERROR_INVALID_CONTEXT", c"invalid device context"),
        INVALID_PTX => (c"CUDA_ERROR_INVALID_PTX", c"a PTX JIT compilation failed"),
        UNSUPPORTED_PTX_VERSION => (c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", c"unsupported toolchain"),
        ILLEGAL_ADDRESS => (c"CUDA_ERROR_ILLEGAL_ADDRESS", c"an illegal memory access was encountered"),
        _ => return None,
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(status: u32, name: *mut *const c_char) -> u32 {
    let Some((text, _)) = text(status) else { return 1 };
    unsafe { *name = text.as_ptr() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(status: u32, string: *mut *const c_char) -> u32 {
    let Some((_, text)) = text(status) else { return 1 };
    unsafe { *string = text.as_ptr() };
    SUCCESS
}
