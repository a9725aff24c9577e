//! Handles, and the constants that functions take.

use std::ffi::{c_int, c_uint, c_void};

pub type CUdevice = c_int;
/// An address in device memory.
pub type CUdeviceptr = u64;

/// Handles: pointers to what the driver alone knows.
macro_rules! handles {
    ($($name:ident $behind:ident)*) => {
        $(
            #[derive(Debug)]
            pub enum $behind {}
            pub type $name = *mut $behind;
        )*
    };
}

handles! {
    CUcontext CUctx_st
    CUevent CUevent_st
    CUfunction CUfunc_st
    CUgraph CUgraph_st
    CUgraphExec CUgraphExec_st
    CUlinkState CUlinkState_st
    CUmemoryPool CUmemPoolHandle_st
    CUmodule CUmod_st
    CUstream CUstream_st
}

/// What a stream calls on the host.
pub type CUhostFn = Option<unsafe extern "system" fn(user_data: *mut c_void)>;
/// Dynamic shared memory as a function of the block size.
pub type CUoccupancyB2DSize = Option<unsafe extern "system" fn(block_size: c_int) -> usize>;

// Numbers, not enums: the driver writes some of them too, and has more than are named in this crate.
pub type CUdevice_attribute = c_uint;
pub type CUfunc_cache = c_uint;
pub type CUlimit = c_uint;
pub type CUsharedconfig = c_uint;

/// What tells a device from all others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct CUuuid {
    pub bytes: [u8; 16],
}

/// How another process finds memory of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct CUipcMemHandle {
    pub reserved: [u8; 64],
}

/// Flag of `cuIpcOpenMemHandle`: peer access is enabled where the memory is another device's.
pub const CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS: c_uint = 1;
/// Flag of `cuMemAllocManaged`: any stream may use the memory.
pub const CU_MEM_ATTACH_GLOBAL: c_uint = 1;

/// Constants that the driver takes and never returns.
macro_rules! constants {
    ($($(#[$note:meta])* $kind:ident { $($name:ident = $number:literal)* })*) => {
        $(
            $(#[$note])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            #[repr(u32)]
            pub enum $kind { $($name = $number),* }
        )*
    };
}

constants! {
    CUfunction_attribute {
        CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3
        CU_FUNC_ATTRIBUTE_NUM_REGS = 4
        CU_FUNC_ATTRIBUTE_PTX_VERSION = 5
        CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6
        CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9
    }
    CUjitInputType {
        CU_JIT_INPUT_CUBIN = 0
        CU_JIT_INPUT_PTX = 1
        CU_JIT_INPUT_FATBINARY = 2
        CU_JIT_INPUT_OBJECT = 3
        CU_JIT_INPUT_LIBRARY = 4
    }
    CUjit_option {
        CU_JIT_MAX_REGISTERS = 0
        CU_JIT_THREADS_PER_BLOCK = 1
        CU_JIT_WALL_TIME = 2
        CU_JIT_INFO_LOG_BUFFER = 3
        CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4
        CU_JIT_ERROR_LOG_BUFFER = 5
        CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
        CU_JIT_OPTIMIZATION_LEVEL = 7
        CU_JIT_TARGET_FROM_CUCONTEXT = 8
        CU_JIT_TARGET = 9
        CU_JIT_FALLBACK_STRATEGY = 10
        CU_JIT_GENERATE_DEBUG_INFO = 11
        CU_JIT_LOG_VERBOSE = 12
        CU_JIT_GENERATE_LINE_INFO = 13
        CU_JIT_CACHE_MODE = 14
    }
    CUmemPool_attribute {
        CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1
        CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2
        CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3
        CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5
        CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7
        CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8
    }
    CUstreamCaptureMode {
        CU_STREAM_CAPTURE_MODE_GLOBAL = 0
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1
        CU_STREAM_CAPTURE_MODE_RELAXED = 2
    }
}
