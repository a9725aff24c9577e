//! The GPU kernels as PTX and machine code, embedded when this crate was built.

use crate::launch::driver::{MachineCode, PtxImage};

/// The kernels for one target.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedPtx {
    /// The compute capability a device must have at least: (9, 0) for `sm_90`.
    pub target: (u32, u32),
    /// Who compiled it: "built by rustc ..." with this crate, or "kept, rustc ..." in the repository.
    pub origin: &'static str,
    /// The module.
    pub text: &'static str,
    /// Machine code made of it: the compute capability of a device, and the code compressed by gzip.
    pub machine_code: &'static [((u32, u32), &'static [u8])],
}

impl EmbeddedPtx {
    /// The kernels, as the driver takes them.
    pub fn image(&self) -> PtxImage {
        let code = |&(device, gzip): &((u32, u32), &'static [u8])| MachineCode { device, gzip: gzip.into() };
        PtxImage {
            target: self.target,
            text: self.text.into(),
            machine_code: self.machine_code.iter().map(code).collect(),
        }
    }
}

/// Every target, newest first.
pub static PTX: &[EmbeddedPtx] = include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

/// The newest target that a device of this compute capability can run.
pub fn newest_for(compute_capability: (u32, u32)) -> Option<&'static EmbeddedPtx> {
    PTX.iter().find(|ptx| ptx.target <= compute_capability)
}

/// Every target, as the driver takes them.
pub fn images() -> Vec<PtxImage> {
    PTX.iter().map(EmbeddedPtx::image).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_gets_the_newest_target_that_fits() {
        let target = |major, minor| newest_for((major, minor)).map(|ptx| ptx.target);
        assert_eq!(target(6, 1), None);
        assert_eq!(target(7, 0), Some((7, 0)));
        assert_eq!(target(8, 9), Some((7, 0)));
        assert_eq!(target(9, 0), Some((9, 0)));
        assert_eq!(target(12, 1), Some((9, 0)));
    }
}
