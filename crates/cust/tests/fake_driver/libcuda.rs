//! A stand-in for the driver with one GPU made of host memory, compiled by the tests.
//!
//! It does at once what the real one queues, and stops the process where it is called in a way that the real
//! one does not allow.

#![allow(non_snake_case)]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

const INVALID_VALUE: u32 = 1;
const OUT_OF_MEMORY: u32 = 2;
const INVALID_CONTEXT: u32 = 201;
const INVALID_PTX: u32 = 218;
const NOT_FOUND: u32 = 500;
const NOT_READY: u32 = 600;
const TOO_LARGE: u32 = 720;
const INVALID_CLUSTER: u32 = 912;

const DEVICE: c_int = 70;
const CONTEXT: usize = 0xC0;
/// Device memory in bytes.
const MEMORY: usize = 4 << 20;

static RETAINED: AtomicUsize = AtomicUsize::new(0);
/// Streams, events and modules that there are.
static HANDLES: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// Allocations: address and bytes.
static TAKEN: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
/// The kinds of what was given to the linker, which are its result.
static LINKED: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// A variable of every module.
static VARIABLE: AtomicU32 = AtomicU32::new(7);

thread_local! {
    /// The thread's contexts; the last one is current.
    static CONTEXTS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

fn current() -> usize {
    CONTEXTS.with_borrow(|contexts| contexts.last().copied().unwrap_or(0))
}

/// A status, if a context is current that exists.
fn within_context(work: impl FnOnce() -> u32) -> u32 {
    if current() == CONTEXT && RETAINED.load(SeqCst) > 0 { work() } else { INVALID_CONTEXT }
}

fn create(handle: *mut usize) -> u32 {
    within_context(|| {
        static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
        let new = NEXT.fetch_add(0x10, SeqCst);
        HANDLES.lock().unwrap().push(new);
        unsafe { *handle = new };
        0
    })
}

fn destroy(handle: usize) -> u32 {
    within_context(|| {
        let mut handles = HANDLES.lock().unwrap();
        let at = handles.iter().position(|&known| known == handle).expect("a handle that is given back once");
        handles.swap_remove(at);
        0
    })
}

fn known(handle: usize) -> u32 {
    assert!(HANDLES.lock().unwrap().contains(&handle), "a handle that is not there");
    0
}

fn take(address: *mut usize, bytes: usize) -> u32 {
    within_context(|| {
        let mut taken = TAKEN.lock().unwrap();
        if taken.iter().map(|&(_, bytes)| bytes).sum::<usize>() + bytes > MEMORY {
            return OUT_OF_MEMORY;
        }
        // As aligned as the driver's, and never zeros.
        let memory = Box::leak(vec![0xA5A5_A5A5_u128; bytes.div_ceil(16)].into_boxed_slice());
        unsafe { *address = memory.as_mut_ptr() as usize };
        taken.push((memory.as_ptr() as usize, bytes));
        0
    })
}

fn give_back(address: usize) -> u32 {
    within_context(|| {
        let mut taken = TAKEN.lock().unwrap();
        let at = taken.iter().position(|&(at, _)| at == address).expect("memory that is given back once");
        taken.swap_remove(at);
        0
    })
}

/// Copies; one of both is memory that was taken.
fn copy(to: usize, from: usize, bytes: usize) -> u32 {
    within_context(|| {
        let within = |place: usize| {
            place == variable() && bytes == 4
                || TAKEN.lock().unwrap().iter().any(|&(at, size)| at <= place && place + bytes <= at + size)
        };
        assert!(bytes > 0 && (within(to) || within(from)), "a copy of {bytes} bytes from nowhere to nowhere");
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
        0
    })
}

fn fill<T: Copy>(to: usize, value: T, count: usize) -> u32 {
    within_context(|| {
        let bytes = count * size_of::<T>();
        let taken = TAKEN.lock().unwrap();
        assert!(taken.iter().any(|&(at, size)| at <= to && to + bytes <= at + size));
        unsafe { std::slice::from_raw_parts_mut(to as *mut T, count) }.fill(value);
        0
    })
}

fn variable() -> usize {
    VARIABLE.as_ptr() as usize
}

/// The driver's functions.
macro_rules! driver {
    ($(fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $kind),*) -> u32 {
                #[allow(unused_unsafe)]
                unsafe { $body }
            }
        )*
    };
}

driver! {
    fn cuInit(flags: u32) { flags }
    fn cuLinkCreate_v2(count: u32, _options: usize, _values: usize, state: *mut usize) {
        assert_eq!(count, 0);
        create(state)
    }
    fn cuLinkAddData_v2(
        state: usize,
        kind: u32,
        data: *const u8,
        bytes: usize,
        _name: *const c_char,
        count: u32,
        _options: usize,
        _values: usize,
    ) {
        known(state);
        let data = std::slice::from_raw_parts(data, bytes);
        assert!(count == 0 && (kind != 1 || data.ends_with(b"\0")), "PTX ends with a nul");
        if kind == 1 && !data.starts_with(b".version") { return INVALID_PTX }
        LINKED.lock().unwrap().push(kind as u8);
        0
    }
    fn cuLinkComplete(state: usize, cubin: *mut *const u8, bytes: *mut usize) {
        known(state);
        let kinds = LINKED.lock().unwrap();
        *bytes = kinds.len();
        *cubin = kinds.as_ptr();
        0
    }
    fn cuLinkDestroy(state: usize) {
        LINKED.lock().unwrap().clear();
        destroy(state)
    }
    fn cuDriverGetVersion(version: *mut c_int) { *version = 12_080; 0 }
    fn cuGetErrorName(status: u32, text: *mut *const c_char) {
        if status != OUT_OF_MEMORY { return INVALID_VALUE }
        *text = c"CUDA_ERROR_OUT_OF_MEMORY".as_ptr();
        0
    }
    fn cuGetErrorString(status: u32, text: *mut *const c_char) {
        if status != OUT_OF_MEMORY { return INVALID_VALUE }
        *text = c"out of memory".as_ptr();
        0
    }

    fn cuDeviceGetCount(count: *mut c_int) { *count = 1; 0 }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        if ordinal != 0 { return 101 }
        *device = DEVICE;
        0
    }
    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) {
        assert!(device == DEVICE && length > 9);
        std::ptr::copy_nonoverlapping(c"Fake GPU".as_ptr(), name, 9);
        0
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) { *bytes = MEMORY; 0 }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: u32, _device: c_int) {
        if attribute != 75 { return INVALID_VALUE }
        *value = 9;
        0
    }

    fn cuDevicePrimaryCtxRetain(context: *mut usize, device: c_int) {
        assert_eq!(device, DEVICE);
        RETAINED.fetch_add(1, SeqCst);
        *context = CONTEXT;
        0
    }
    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        assert_eq!(device, DEVICE);
        assert!(RETAINED.fetch_sub(1, SeqCst) > 0, "a context that is released once too often");
        0
    }
    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: u32) {
        assert_eq!((device, flags & !0x1f), (DEVICE, 0));
        0
    }
    fn cuCtxGetApiVersion(context: usize, version: *mut u32) {
        assert_eq!(context, CONTEXT);
        *version = 3020;
        0
    }
    fn cuCtxGetCurrent(context: *mut usize) { *context = current(); 0 }
    fn cuCtxSetCurrent(context: usize) {
        assert_eq!(context, CONTEXT);
        CONTEXTS.with_borrow_mut(|contexts| { contexts.pop(); contexts.push(context) });
        0
    }
    fn cuCtxPushCurrent_v2(context: usize) {
        assert!(context == CONTEXT && RETAINED.load(SeqCst) > 0);
        CONTEXTS.with_borrow_mut(|contexts| contexts.push(context));
        0
    }
    fn cuCtxPopCurrent_v2(context: *mut usize) {
        let Some(top) = CONTEXTS.with_borrow_mut(Vec::pop) else { return INVALID_CONTEXT };
        *context = top;
        0
    }
    fn cuCtxGetDevice(device: *mut c_int) { *device = DEVICE; within_context(|| 0) }
    fn cuCtxGetFlags(flags: *mut u32) { *flags = 0x4; within_context(|| 0) }
    fn cuCtxGetLimit(value: *mut usize, limit: u32) { *value = 100 + limit as usize; within_context(|| 0) }
    fn cuCtxSetLimit(limit: u32, value: usize) {
        assert_eq!((limit, value), (2, 1 << 33));
        within_context(|| 0)
    }
    fn cuCtxGetCacheConfig(config: *mut u32) { *config = 2; within_context(|| 0) }
    fn cuCtxSetCacheConfig(config: u32) { assert_eq!(config, 3); within_context(|| 0) }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        (*least, *greatest) = (0, -5);
        within_context(|| 0)
    }
    fn cuCtxSynchronize() { within_context(|| 0) }

    fn cuModuleLoadDataEx(
        module: *mut usize,
        image: *const c_char,
        count: u32,
        options: *const u32,
        values: *const usize,
    ) {
        if !CStr::from_ptr(image).to_bytes().starts_with(b".version") { return INVALID_PTX }
        // At most 64 registers, or no wish.
        assert!((0..count as usize).all(|i| (*options.add(i), *values.add(i)) == (0, 64)));
        create(module)
    }
    fn cuModuleUnload(module: usize) { destroy(module) }
    fn cuModuleGetFunction(function: *mut usize, module: usize, name: *const c_char) {
        *function = match CStr::from_ptr(name).to_bytes() {
            b"add" => ADD,
            b"nothing" => NOTHING,
            _ => return NOT_FOUND,
        };
        known(module)
    }
    fn cuModuleGetGlobal_v2(address: *mut usize, bytes: *mut usize, module: usize, name: *const c_char) {
        if CStr::from_ptr(name) != c"variable" { return NOT_FOUND }
        (*address, *bytes) = (variable(), 4);
        known(module)
    }
    fn cuFuncGetAttribute(value: *mut c_int, attribute: u32, function: usize) {
        assert_eq!(function, ADD);
        *value = 100 + attribute as c_int;
        0
    }
    fn cuFuncSetCacheConfig(function: usize, config: u32) { assert_eq!((function, config), (ADD, 1)); 0 }
    fn cuOccupancyAvailableDynamicSMemPerBlock(
        bytes: *mut usize, function: usize, blocks: c_int, threads: c_int,
    ) {
        assert_eq!((function, blocks, threads), (ADD, 6, 64));
        *bytes = 1 << 14;
        0
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, function: usize, threads: c_int, bytes: usize,
    ) {
        assert_eq!((function, bytes), (ADD, 48));
        *blocks = 2048 / threads;
        0
    }
    fn cuOccupancyMaxPotentialBlockSize(
        grid: *mut c_int, block: *mut c_int, function: usize, bytes_of: usize, bytes: usize, limit: c_int,
    ) {
        assert_eq!((function, bytes_of, bytes, limit), (ADD, 0, 48, 512));
        (*grid, *block) = (264, 512);
        0
    }

    fn cuLaunchKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32,
        stream: usize, arguments: *const *mut c_void, extra: usize,
    ) {
        if function == 8 {
            let numbers = [gx, gy, gz, bx, by, bz, shared] == [1, 2, 3, 4, 5, 6, 7];
            **(arguments as *mut *mut f64) = 0.125;
            return if numbers && stream == 9 && extra == 10 { 0 } else { INVALID_VALUE };
        }
        if bx * by * bz > 1024 { return INVALID_VALUE }
        assert_eq!((extra, known(stream)), (0, 0));
        if function == ADD {
            let argument = |i: usize| *arguments.add(i);
            let [a, b, sum] = [0, 1, 2].map(|i| *(argument(i) as *const *mut f32));
            let n = *(argument(3) as *const u32);
            // One thread for each value.
            for i in 0..n.min(gx * gy * gz * bx * by * bz) as usize {
                *sum.add(i) = *a.add(i) + *b.add(i);
            }
        }
        within_context(|| 0)
    }
    fn cuLaunchCooperativeKernel(
        function: usize, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32,
        stream: usize, arguments: *const *mut c_void,
    ) {
        if gx * gy * gz > 4 { return TOO_LARGE }
        cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, 0)
    }
    fn cuLaunchKernelEx(
        config: *const [u32; 14], function: usize, arguments: *const *mut c_void, extra: usize,
    ) {
        let [gx, gy, gz, bx, by, bz, shared, _, stream, high, attributes, above, count, _] = *config;
        let wide = |low: u32, high: u32| low as usize | (high as usize) << 32;
        // The one attribute: its number, 4 bytes, and three sizes.
        let [id, _, x, y, z] = *(wide(attributes, above) as *const [u32; 5]);
        assert_eq!((count, id), (1, 4));
        if x * y * z > 8 || [gx % x, gy % y, gz % z] != [0; 3] { return INVALID_CLUSTER }
        cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, wide(stream, high), arguments, extra)
    }
    fn cuLaunchHostFunc(stream: usize, function: extern "C" fn(*mut c_void), user_data: *mut c_void) {
        known(stream);
        if user_data.is_null() { return INVALID_VALUE }
        function(user_data);
        0
    }

    fn cuMemAlloc_v2(address: *mut usize, bytes: usize) { take(address, bytes) }
    fn cuMemFree_v2(address: usize) { give_back(address) }
    fn cuMemAllocAsync(address: *mut usize, bytes: usize, stream: usize) {
        known(stream);
        take(address, bytes)
    }
    fn cuMemFreeAsync(address: usize, stream: usize) { known(stream); give_back(address) }
    fn cuMemAllocHost_v2(address: *mut usize, bytes: usize) { take(address, bytes) }
    fn cuMemFreeHost(address: usize) { give_back(address) }
    fn cuMemAllocManaged(address: *mut usize, bytes: usize, flags: u32) {
        assert_eq!(flags, 1);
        take(address, bytes)
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        *free = MEMORY - TAKEN.lock().unwrap().iter().map(|&(_, bytes)| bytes).sum::<usize>();
        *total = MEMORY;
        within_context(|| 0)
    }
    fn cuMemcpyHtoD_v2(to: usize, from: usize, bytes: usize) { copy(to, from, bytes) }
    fn cuMemcpyDtoH_v2(to: usize, from: usize, bytes: usize) { copy(to, from, bytes) }
    fn cuMemcpyDtoD_v2(to: usize, from: usize, bytes: usize) { copy(to, from, bytes) }
    fn cuMemcpyHtoDAsync_v2(to: usize, from: usize, bytes: usize, stream: usize) {
        known(stream);
        copy(to, from, bytes)
    }
    fn cuMemcpyDtoHAsync_v2(to: usize, from: usize, bytes: usize, stream: usize) {
        known(stream);
        copy(to, from, bytes)
    }
    fn cuMemcpyDtoDAsync_v2(to: usize, from: usize, bytes: usize, stream: usize) {
        known(stream);
        copy(to, from, bytes)
    }
    fn cuMemsetD8_v2(to: usize, value: u8, count: usize) { fill(to, value, count) }
    fn cuMemsetD16_v2(to: usize, value: u16, count: usize) { fill(to, value, count) }
    fn cuMemsetD32_v2(to: usize, value: u32, count: usize) { fill(to, value, count) }
    fn cuMemsetD8Async(to: usize, value: u8, count: usize, stream: usize) {
        known(stream);
        fill(to, value, count)
    }
    fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: usize) {
        if to == 0xFEDC_BA98_7654_3210 {
            return if (value, count, stream) == (0xABCD, usize::MAX - 1, 9) { 0 } else { INVALID_VALUE };
        }
        known(stream);
        fill(to as usize, value, count)
    }
    fn cuMemsetD32Async(to: usize, value: u32, count: usize, stream: usize) {
        known(stream);
        fill(to, value, count)
    }

    fn cuStreamCreateWithPriority(stream: *mut usize, flags: u32, priority: c_int) {
        // Streams that do not wait for the legacy one are not asked for.
        assert!(flags == 0 && (-5..=0).contains(&priority));
        create(stream)
    }
    fn cuStreamDestroy_v2(stream: usize) { destroy(stream) }
    fn cuStreamGetFlags(stream: usize, flags: *mut u32) { *flags = 0; known(stream) }
    fn cuStreamGetPriority(stream: usize, priority: *mut c_int) { *priority = -1; known(stream) }
    fn cuStreamSynchronize(stream: usize) { known(stream) }
    fn cuStreamWaitEvent(stream: usize, event: usize, flags: u32) {
        assert_eq!(flags, 0);
        known(stream) + known(event)
    }

    fn cuEventCreate(event: *mut usize, flags: u32) { assert_eq!(flags & !0x7, 0); create(event) }
    fn cuEventDestroy_v2(event: usize) { destroy(event) }
    fn cuEventRecord(event: usize, stream: usize) { known(event) + known(stream) }
    fn cuEventQuery(event: usize) {
        // The first time it has not come yet.
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        if ASKED.fetch_add(1, SeqCst) == 0 { NOT_READY } else { known(event) }
    }
    fn cuEventSynchronize(event: usize) { known(event) }
    fn cuEventElapsedTime(milliseconds: *mut f32, start: usize, end: usize) {
        *milliseconds = if start < end { 1.5 } else { -1.5 };
        known(start) + known(end)
    }
}

const ADD: usize = 0xadd0;
const NOTHING: usize = 0x0e00;

/// For the tests: how often the context is held, and what has not been given back.
#[unsafe(no_mangle)]
pub extern "C" fn fake_held(contexts: &mut usize, handles: &mut usize, allocations: &mut usize) {
    *contexts = RETAINED.load(SeqCst);
    *handles = HANDLES.lock().unwrap().len();
    *allocations = TAKEN.lock().unwrap().len();
}
