//! The symbols: one list, from which the table's order and the trampolines are made.
//!
//! All that cust 0.3.2 refers to, in generic code too, and behind them those which it does not wrap.

use crate::TABLE;
use std::arch::naked_asm;

macro_rules! trampolines {
    ($($name:ident)*) => {
        /// The symbols defined here, in the order of the table.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// Positions in the table.
        #[expect(non_camel_case_types, reason = "the driver's own names")]
        enum Index { $($name),* }

        /// The trampolines, to call each of them in a test.
        #[cfg(test)]
        pub const TRAMPOLINES: &[extern "C" fn()] = &[$($name),*];

        $(
            // A jump through the table's entry. The signature is the caller's business.
            #[cfg(target_arch = "x86_64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name() {
                naked_asm!(
                    "jmp qword ptr [rip + {table} + {offset}]",
                    table = sym TABLE,
                    offset = const Index::$name as usize * size_of::<usize>(),
                )
            }

            // x16 is the register which the procedure call standard leaves to such veneers.
            #[cfg(target_arch = "aarch64")]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            extern "C" fn $name() {
                naked_asm!(
                    "adrp x16, {table} + {offset}",
                    "ldr x16, [x16, :lo12:{table} + {offset}]",
                    "br x16",
                    table = sym TABLE,
                    offset = const Index::$name as usize * size_of::<usize>(),
                )
            }
        )*
    };
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("the CUDA driver can be loaded on Linux on x86_64 and aarch64 only");

trampolines! {
    cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy cuCtxCreate_v2 cuCtxDestroy_v2
    cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetFlags cuCtxGetLimit
    cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2 cuCtxPushCurrent_v2
    cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetLimit cuCtxSetSharedMemConfig cuCtxSynchronize
    cuDestroyExternalMemory cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount cuDeviceGetDefaultMemPool
    cuDeviceGetName
    cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRetain
    cuDevicePrimaryCtxSetFlags_v2 cuDeviceTotalMem_v2 cuDriverGetVersion cuEventCreate cuEventDestroy_v2
    cuEventElapsedTime cuEventQuery cuEventRecord cuEventSynchronize cuExternalMemoryGetMappedBuffer
    cuFuncGetAttribute cuFuncSetCacheConfig cuFuncSetSharedMemConfig cuGetErrorName cuGetErrorString
    cuGraphAddKernelNode cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy cuGraphExecDestroy
    cuGraphGetEdges cuGraphGetNodes cuGraphInstantiateWithFlags cuGraphKernelNodeGetParams cuGraphLaunch
    cuGraphNodeGetType cuImportExternalMemory cuInit cuLaunchHostFunc cuLaunchKernel cuLaunchKernelEx
    cuLinkAddData_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy cuMemAdvise cuMemAllocAsync cuMemAllocHost_v2
    cuMemAllocManaged cuMemAlloc_v2 cuMemFreeAsync cuMemFreeHost cuMemFree_v2 cuMemGetInfo_v2
    cuMemHostGetDevicePointer_v2 cuMemPoolGetAttribute cuMemPoolSetAttribute cuMemPoolTrimTo
    cuMemPrefetchAsync cuMemcpy2D_v2 cuMemcpyAtoH_v2 cuMemcpyDtoDAsync_v2
    cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoA_v2 cuMemcpyHtoDAsync_v2
    cuMemcpyHtoD_v2 cuMemsetD16Async cuMemsetD16_v2 cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8Async
    cuMemsetD8_v2 cuModuleGetFunction cuModuleGetGlobal_v2 cuModuleLoad cuModuleLoadData
    cuModuleLoadDataEx cuModuleUnload cuOccupancyAvailableDynamicSMemPerBlock
    cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize cuStreamBeginCapture_v2
    cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamEndCapture cuStreamGetFlags
    cuStreamGetPriority cuStreamSynchronize cuStreamWaitEvent cuSurfObjectCreate cuSurfObjectDestroy
    cuSurfObjectGetResourceDesc cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc
    cuTexObjectGetResourceViewDesc
}
