//! Modules and kernels.

use super::*;

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
    let number = match name {
        "scale" => SCALE,
        "scale_batch" => SCALE_BATCH,
        _ => FAULT,
    };
    unsafe { *function = number | if text.contains("griddepcontrol.wait;") { WAITS } else { 0 } };
    SUCCESS
}

const SCALE: usize = 0x5ca1e0;
const SCALE_BATCH: usize = 0x5ca1e4;
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
    assert_eq!([gz, by, bz, shared], [1, 1, 1, 0]);
    assert_eq!(extra, 0);
    let off = std::env::var_os("WARPSOLVE_PDL").is_some_and(|setting| setting == "0");
    let again = self::stream(stream).capture.is_some() && ATTEMPTS.get() == 2;
    assert!(
        function & WAITS == 0 || off || again || self::stream(stream).old,
        "a kernel that could overlap with the one in front"
    );
    launch(function, [gx, gy], bx, stream, arguments)
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
    assert_eq!([config.gz, config.by, config.bz, config.shared], [1, 1, 1, 0]);
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
    launch(function, [config.gx, config.gy], config.bx, config.stream, arguments)
}

fn launch(
    function: usize,
    [grid, count]: [u32; 2],
    block: u32,
    stream: usize,
    arguments: *const *const c_void,
) -> u32 {
    if block > 1024 || grid == 0 {
        return 1;
    }
    if block == NO_GRAPH
        && let Some(graph) = &mut self::stream(stream).capture
    {
        graph.instantiated = NOT_SUPPORTED;
    }
    // Arguments are read now, as the driver does.
    let argument = |i: usize| unsafe { *arguments.add(i) };
    match function & !WAITS {
        FAULT => queue(stream, Work::Fault),
        SCALE_BATCH => {
            assert!(count <= 8);
            let set = |k: u32| unsafe { argument(0).cast::<Scale>().add(k as usize).read() };
            (0..count).map(|k| queue(stream, set(k).work())).fold(SUCCESS, u32::max)
        }
        _ => {
            assert_eq!(count, 1);
            let scale = unsafe {
                Scale {
                    data: *argument(0).cast(),
                    n: *argument(1).cast(),
                    factor: *argument(2).cast(),
                    shift: *argument(3).cast(),
                }
            };
            queue(stream, scale.work())
        }
    }
}

/// The arguments of the kernel `scale`.
#[repr(C)]
struct Scale {
    data: u64,
    n: u32,
    factor: f64,
    shift: f32,
}

impl Scale {
    fn work(self) -> Work {
        let Scale { data, n, factor, shift } = self;
        Work::Scale { data: data as usize, n, factor, shift }
    }
}
