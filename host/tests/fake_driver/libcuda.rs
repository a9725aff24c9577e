//! A stand-in for libcuda.so.1 with two GPUs made of host memory, compiled by tests/driver.rs.
//!
//! It is as lazy as the real one may be: what is queued on a stream is done when the program waits for it. A
//! buffer that is reused too early, or a result that is not waited for, shows as wrong data.

#![allow(non_snake_case)]

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const SUCCESS: u32 = 0;
const OUT_OF_MEMORY: u32 = 2;
const INVALID_CONTEXT: u32 = 201;
const INVALID_PTX: u32 = 218;
const NO_BINARY_FOR_GPU: u32 = 209;
const UNSUPPORTED_PTX_VERSION: u32 = 222;
const NOT_FOUND: u32 = 500;
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

// ---- modules and kernels

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut usize,
    image: *const c_char,
    count: c_uint,
    options: *const c_uint,
    values: *const usize,
) -> u32 {
    // Machine code is an ELF header, and here the same as PTX behind it, with any number of kernels.
    let is_machine_code = unsafe { *image.cast::<[u8; 4]>() } == *b"\x7fELF";
    let image = if is_machine_code { unsafe { image.add(64) } } else { image };
    let text = unsafe { CStr::from_ptr(image) }.to_str().unwrap();
    let option = |wanted: c_uint| {
        (0..count as usize).find(|&i| unsafe { *options.add(i) } == wanted).map(|i| unsafe { *values.add(i) })
    };
    if !is_machine_code {
        assert_eq!(text.matches(".entry").count(), 1, "kernels are loaded one by one");
    }
    if text.contains("for another device") {
        return NO_BINARY_FOR_GPU;
    }
    if text.contains("patient") && !loads_together() {
        return INVALID_PTX;
    }
    if text.contains("future") {
        return UNSUPPORTED_PTX_VERSION;
    }
    if text.contains("broken") {
        if let (Some(log), Some(size)) = (option(5), option(6)) {
            let message = "ptxas application ptx input, line 3; error: what is this?\n\0";
            assert!(message.len() <= size);
            unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), log as *mut u8, message.len()) };
        }
        return INVALID_PTX;
    }
    unsafe { *module = Box::into_raw(Box::new(text.to_owned())) as usize };
    SUCCESS
}

/// Whether two threads load at the same time, once at least within some seconds.
fn loads_together() -> bool {
    static LOADING: AtomicUsize = AtomicUsize::new(0);
    let start = Instant::now();
    LOADING.fetch_add(1, Ordering::SeqCst);
    while LOADING.load(Ordering::SeqCst) < 2 && start.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    LOADING.load(Ordering::SeqCst) >= 2
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleUnload(module: usize) -> u32 {
    drop(unsafe { Box::from_raw(module as *mut String) });
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut usize,
    module: usize,
    name: *const c_char,
) -> u32 {
    let text = unsafe { &*(module as *const String) };
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap();
    if !text.contains(&format!(".entry {name}(")) {
        return NOT_FOUND;
    }
    let number = if name == "scale" { SCALE } else { FAULT };
    unsafe { *function = number | if text.contains("griddepcontrol.wait;") { WAITS } else { 0 } };
    SUCCESS
}

const SCALE: usize = 0x5ca1e0;
const FAULT: usize = 0xfa0170;
/// In the handle of a kernel that waits for the one in front.
const WAITS: usize = 1;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: usize) -> u32 {
    assert_eq!(function & !WAITS, SCALE);
    unsafe { *value = 1000 + attribute };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: usize,
    block: c_int,
    shared: usize,
) -> u32 {
    assert!([SCALE, FAULT].contains(&(function & !WAITS)) && shared == 0);
    unsafe { *blocks = 2048 / block };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: usize,
    gx: c_uint,
    gy: c_uint,
    gz: c_uint,
    bx: c_uint,
    by: c_uint,
    bz: c_uint,
    shared: c_uint,
    stream: usize,
    arguments: *const *const c_void,
    extra: usize,
) -> u32 {
    assert_eq!([gy, gz, by, bz, shared], [1, 1, 1, 1, 0]);
    assert_eq!(extra, 0);
    let off = std::env::var_os("WARPSOLVE_PDL").is_some_and(|setting| setting == "0");
    let again = self::stream(stream).capture.is_some() && ATTEMPTS.get() == 2;
    assert!(
        function & WAITS == 0 || off || again || self::stream(stream).old,
        "a kernel that could overlap with the one in front"
    );
    launch(function, gx, bx, stream, arguments)
}

/// `CUlaunchAttribute` with a programmatic stream serialization.
#[repr(C)]
pub struct Attribute {
    id: c_uint,
    padding: c_uint,
    allowed: c_int,
    rest: [c_uint; 15],
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct Config {
    gx: c_uint,
    gy: c_uint,
    gz: c_uint,
    bx: c_uint,
    by: c_uint,
    bz: c_uint,
    shared: c_uint,
    stream: usize,
    attributes: *const Attribute,
    count: c_uint,
}

/// The block size for which the fake is a driver that lacks `cuLaunchKernelEx`.
const OLD: c_uint = 96;
/// The block size for which the fake is a driver that knows no overlap within graphs.
const NO_OVERLAP: c_uint = 160;
/// The block size for which the fake is a driver that makes nothing of a graph.
const NO_GRAPH: c_uint = 224;
const CAPTURE_INVALIDATED: u32 = 901;
const NOT_SUPPORTED: u32 = 801;
const SYMBOL_NOT_FOUND: u32 = 302;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernelEx(
    config: *const Config,
    function: usize,
    arguments: *const *const c_void,
    extra: usize,
) -> u32 {
    let config = unsafe { &*config };
    assert_eq!([config.gy, config.gz, config.by, config.bz, config.shared], [1, 1, 1, 1, 0]);
    assert_eq!((extra, config.count), (0, 1));
    let attribute = unsafe { &*config.attributes };
    assert_eq!((attribute.id, attribute.allowed), (6, 1));
    assert_eq!((attribute.padding, attribute.rest), (0, [0; 15]));
    assert!(function & WAITS != 0, "a kernel that does not wait for the one in front overlaps with it");
    assert!(!stream(config.stream).old, "a function that this driver lacks is called again");
    if config.bx == OLD {
        stream(config.stream).old = true;
        return SYMBOL_NOT_FOUND;
    }
    if config.bx == NO_OVERLAP
        && let Some(graph) = &mut stream(config.stream).capture
    {
        graph.ended = CAPTURE_INVALIDATED;
    }
    launch(function, config.gx, config.bx, config.stream, arguments)
}

fn launch(function: usize, grid: u32, block: u32, stream: usize, arguments: *const *const c_void) -> u32 {
    if block > 1024 || grid == 0 {
        return 1;
    }
    if block == NO_GRAPH
        && let Some(graph) = &mut self::stream(stream).capture
    {
        graph.instantiated = NOT_SUPPORTED;
    }
    if function & !WAITS == FAULT {
        return queue(stream, Work::Fault);
    }
    // Arguments are read now, as the driver does.
    let argument = |i: usize| unsafe { *arguments.add(i) };
    let work = unsafe {
        Work::Scale {
            data: *argument(0).cast(),
            n: *argument(1).cast(),
            factor: *argument(2).cast(),
            shift: *argument(3).cast(),
        }
    };
    queue(stream, work)
}

// ---- memory

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> u32 {
    unsafe {
        *free = MEMORY - *USED.lock().unwrap();
        *total = MEMORY;
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> u32 {
    assert_eq!(CURRENT.get(), 71, "the first device has a pool");
    let mut used = USED.lock().unwrap();
    if *used + bytes > MEMORY {
        return OUT_OF_MEMORY;
    }
    *used += bytes;
    unsafe { *address = take(&DEVICE, bytes) as u64 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(address: u64) -> u32 {
    let Some(bytes) = give_back(&DEVICE, address as usize) else { return 1 };
    *USED.lock().unwrap() -= bytes;
    SUCCESS
}

const DEFAULT_POOL: usize = 0x900;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetDefaultMemPool(pool: *mut usize, device: c_int) -> u32 {
    assert_eq!(device, 70, "the second device has no pools");
    unsafe { *pool = DEFAULT_POOL };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolSetAttribute(pool: usize, attribute: c_uint, value: *const u64) -> u32 {
    // The release threshold.
    assert_eq!((pool, attribute, unsafe { *value }), (DEFAULT_POOL, 4, u64::MAX));
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemPoolGetAttribute(pool: usize, attribute: c_uint, value: *mut u64) -> u32 {
    assert_eq!(pool, DEFAULT_POOL);
    let pool = POOL.lock().unwrap();
    unsafe {
        *value = match attribute {
            5 => pool.used + pool.idle.iter().sum::<usize>(),
            7 => pool.used,
            _ => return 1,
        } as u64;
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemPoolTrimTo(pool: usize, keep: usize) -> u32 {
    assert_eq!((pool, keep), (DEFAULT_POOL, 0));
    let idle = std::mem::take(&mut POOL.lock().unwrap().idle);
    *USED.lock().unwrap() -= idle.iter().sum::<usize>();
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(address: *mut u64, bytes: usize, handle: usize) -> u32 {
    assert!(CURRENT.get() == 70 && bytes > 0 && stream(handle).capture.is_none());
    let mut pool = POOL.lock().unwrap();
    if let Some(i) = pool.idle.iter().position(|&idle| idle >= bytes) {
        pool.idle[i] -= bytes;
    } else {
        let mut used = USED.lock().unwrap();
        if *used + bytes > MEMORY {
            return OUT_OF_MEMORY;
        }
        *used += bytes;
    }
    pool.used += bytes;
    unsafe { *address = take(&DEVICE, bytes) as u64 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeAsync(address: u64, handle: usize) -> u32 {
    assert!(stream(handle).capture.is_none());
    queue(handle, Work::Free(address as usize))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocHost_v2(address: *mut usize, bytes: usize) -> u32 {
    if CURRENT.get() == 0 {
        return INVALID_CONTEXT;
    }
    unsafe { *address = take(&LOCKED, bytes) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeHost(address: usize) -> u32 {
    if give_back(&LOCKED, address).is_some() { SUCCESS } else { 1 }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostGetDevicePointer_v2(device: *mut u64, host: usize, flags: c_uint) -> u32 {
    assert_eq!(flags, 0);
    // The second device, compute capability 8.0, has no unified addressing.
    unsafe { *device = (host + if CURRENT.get() == 71 { 4096 } else { 0 }) as u64 };
    SUCCESS
}

/// At once, whatever is queued on a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) -> u32 {
    unsafe { std::ptr::copy_nonoverlapping(from, to as *mut u8, bytes) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) -> u32 {
    unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to, bytes) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: usize, bytes: usize, handle: usize) -> u32 {
    assert!(within(&DEVICE, to as usize, bytes) || within(&LOCKED, to as usize, bytes));
    let status = queue(handle, Work::Copy { to: to as usize, from, bytes });
    // Pageable memory has been read when the call returns.
    if status == SUCCESS && !within(&LOCKED, from, bytes) { stream(handle).drain(None) } else { status }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoHAsync_v2(to: usize, from: u64, bytes: usize, handle: usize) -> u32 {
    assert!(within(&DEVICE, from as usize, bytes) || within(&LOCKED, from as usize, bytes));
    queue(handle, Work::Copy { to, from: from as usize, bytes })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, handle: usize) -> u32 {
    assert!(within(&DEVICE, to as usize, bytes) && within(&DEVICE, from as usize, bytes));
    queue(handle, Work::Copy { to: to as usize, from: from as usize, bytes })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8Async(to: u64, value: u8, bytes: usize, handle: usize) -> u32 {
    assert!(value == 0 && within(&DEVICE, to as usize, bytes));
    queue(handle, Work::Zero { to: to as usize, bytes })
}

// ---- streams

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreateWithPriority(handle: *mut usize, _flags: c_uint, _: c_int) -> u32 {
    unsafe { *handle = Box::into_raw(Box::<Mutex<Stream>>::default()) as usize };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamDestroy_v2(handle: usize) -> u32 {
    drop(unsafe { Box::from_raw(handle as *mut Mutex<Stream>) });
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(handle: usize) -> u32 {
    if CURRENT.get() == 0 {
        return INVALID_CONTEXT;
    }
    assert!(stream(handle).capture.is_none());
    stream(handle).drain(None)
}

// ---- graphs

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamBeginCapture_v2(handle: usize, mode: c_uint) -> u32 {
    // Relaxed, so that kernels can be loaded meanwhile.
    assert_eq!(mode, 2);
    assert!(stream(handle).capture.replace(Graph::default()).is_none());
    ATTEMPTS.set(ATTEMPTS.get() + 1);
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamEndCapture(handle: usize, graph: *mut usize) -> u32 {
    let captured = stream(handle).capture.take().unwrap();
    if ATTEMPTS.get() == 2 {
        ATTEMPTS.set(0);
    }
    let status = captured.ended;
    unsafe { *graph = if status == SUCCESS { Box::into_raw(Box::new(captured)) as usize } else { 0 } };
    status
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(
    executable: *mut usize,
    graph: usize,
    flags: u64,
) -> u32 {
    assert_eq!(flags, 0);
    let graph = unsafe { &*(graph as *const Graph) };
    if graph.instantiated == SUCCESS {
        ATTEMPTS.set(0);
        unsafe { *executable = Box::into_raw(Box::new(graph.clone())) as usize };
    }
    graph.instantiated
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch(executable: usize, handle: usize) -> u32 {
    let graph = unsafe { &*(executable as *const Graph) };
    graph.work.iter().map(|work| queue(handle, work.clone())).max().unwrap_or(SUCCESS)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroy(graph: usize) -> u32 {
    drop(unsafe { Box::from_raw(graph as *mut Graph) });
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecDestroy(executable: usize) -> u32 {
    assert_ne!(CURRENT.get(), 0);
    drop(unsafe { Box::from_raw(executable as *mut Graph) });
    SUCCESS
}

// ---- events

struct Event {
    stream: usize,
    /// How much work its stream had carried out when it came to it: the fake's clock, in ms.
    at: usize,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut usize, _flags: c_uint) -> u32 {
    unsafe { *event = Box::into_raw(Box::new(Event { stream: 0, at: 0 })) as usize };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventDestroy_v2(event: usize) -> u32 {
    drop(unsafe { Box::from_raw(event as *mut Event) });
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventRecord(event: usize, handle: usize) -> u32 {
    unsafe { (*(event as *mut Event)).stream = handle };
    stream(handle).done.remove(&event);
    queue(handle, Work::Event(event))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventSynchronize(event: usize) -> u32 {
    let handle = unsafe { (*(event as *const Event)).stream };
    if handle == 0 {
        return SUCCESS;
    }
    let mut stream = stream(handle);
    if stream.done.contains(&event) { stream.sticky } else { stream.drain(Some(event)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(milliseconds: *mut f32, start: usize, end: usize) -> u32 {
    unsafe {
        *milliseconds = (*(end as *const Event)).at as f32 - (*(start as *const Event)).at as f32;
    }
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
