//! The GPU kernels as PTX, embedded when this crate was built.

use crate::launch::driver::PtxImage;

/// The kernels for one target.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddedPtx {
    /// The compute capability a device must have at least: (9, 0) for `sm_90`.
    pub target: (u32, u32),
    /// Who compiled it: "built by rustc ..." with this crate, or "kept, rustc ..." in the repository.
    pub origin: &'static str,
    /// The module.
    pub text: &'static str,
}

/// Every target, newest first.
pub static PTX: &[EmbeddedPtx] = include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

/// The newest target that a device of this compute capability can run.
pub fn newest_for(compute_capability: (u32, u32)) -> Option<&'static EmbeddedPtx> {
    PTX.iter().find(|ptx| ptx.target <= compute_capability)
}

/// Every target, as the driver takes them.
pub fn images() -> Vec<PtxImage> {
    PTX.iter().map(|ptx| PtxImage { target: ptx.target, text: ptx.text.into() }).collect()
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
