//! What `cuLaunchKernelEx` takes.

use super::types::CUstream;
use std::ffi::{c_int, c_uint};

/// What an attribute of a launch is about. The driver knows more of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum CUlaunchAttributeID {
    CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
    CU_LAUNCH_ATTRIBUTE_PRIORITY = 8,
}

/// Blocks in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct CUclusterDim {
    pub x: c_uint,
    pub y: c_uint,
    pub z: c_uint,
}

/// The value of an attribute: 64 bytes, of which each uses its own.
#[derive(Clone, Copy)]
#[repr(C)]
pub union CUlaunchAttributeValue {
    /// All of them. The union has pointers in it, as `cuda.h` has it, and their alignment.
    pub pad: [u64; 8],
    pub cooperative: c_int,
    pub clusterDim: CUclusterDim,
    pub programmaticStreamSerializationAllowed: c_int,
    pub priority: c_int,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct CUlaunchAttribute {
    pub id: CUlaunchAttributeID,
    pub pad: [u8; 4],
    pub value: CUlaunchAttributeValue,
}

impl CUlaunchAttribute {
    /// With a value of zeros.
    pub const fn new(id: CUlaunchAttributeID) -> CUlaunchAttribute {
        CUlaunchAttribute { id, pad: [0; 4], value: CUlaunchAttributeValue { pad: [0; 8] } }
    }
}

#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CUlaunchConfig {
    pub gridDimX: c_uint,
    pub gridDimY: c_uint,
    pub gridDimZ: c_uint,
    pub blockDimX: c_uint,
    pub blockDimY: c_uint,
    pub blockDimZ: c_uint,
    pub sharedMemBytes: c_uint,
    pub hStream: CUstream,
    pub attrs: *mut CUlaunchAttribute,
    pub numAttrs: c_uint,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn the_structs_are_those_of_the_header() {
        assert_eq!((size_of::<CUlaunchAttribute>(), size_of::<CUlaunchConfig>()), (72, 56));
        assert_eq!((offset_of!(CUlaunchAttribute, id), offset_of!(CUlaunchAttribute, value)), (0, 8));
        let config = (offset_of!(CUlaunchConfig, blockDimX), offset_of!(CUlaunchConfig, sharedMemBytes));
        assert_eq!(config, (12, 24));
        let config = (offset_of!(CUlaunchConfig, hStream), offset_of!(CUlaunchConfig, attrs));
        assert_eq!(config, (32, 40));
        assert_eq!(offset_of!(CUlaunchConfig, numAttrs), 48);
    }
}
