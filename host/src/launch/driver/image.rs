//! Kernel images: which of them a device takes, and loading modules.

use crate::error::{Error, Result};
use crate::launch::DeviceInfo;
use crate::launch::switch::is_on;
use cust::module::Module;
use cust::sys::{self, CUjit_option, CUresult};
use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_void};
use std::io::Read;

/// Set to `0` it makes the driver translate PTX although there is machine code for the device. It is read
/// when a [`Driver`](super::Driver) is opened.
pub const CUBIN_VARIABLE: &str = "WARPSOLVE_CUBIN";

/// The kernels compiled for one target. Where there is no machine code for a device, its driver translates
/// each kernel when it is first used.
#[derive(Debug, Clone)]
pub struct PtxImage {
    /// Compute capability compiled for: (9, 0) for `sm_90`. Every device from that one on takes it.
    pub target: (u32, u32),
    /// The PTX module.
    pub text: Cow<'static, str>,
    /// The same kernels as machine code, for some devices; may be empty.
    pub machine_code: Vec<MachineCode>,
}

/// All kernels of an image as machine code.
#[derive(Debug, Clone)]
pub struct MachineCode {
    /// The compute capability that it was made for. Devices of the same major number take it, from this minor
    /// number on.
    pub device: (u32, u32),
    /// The code (cubin), compressed by gzip.
    pub gzip: Cow<'static, [u8]>,
}

impl PtxImage {
    /// "sm_90".
    pub fn name(&self) -> String {
        format!("sm_{}{}", self.target.0, self.target.1)
    }
}

/// The newest image which the device takes.
pub(super) fn newest<'a>(images: &'a [PtxImage], device: &DeviceInfo) -> Result<&'a PtxImage> {
    let fitting = images.iter().filter(|image| image.target <= device.compute_capability);
    fitting.max_by_key(|image| image.target).ok_or_else(|| {
        let (major, minor) = device.compute_capability;
        let targets: Vec<_> = images.iter().map(PtxImage::name).collect();
        Error::NoDevice(format!(
            "{} has compute capability {major}.{minor}, but the kernels are compiled for {}; \
             compile them for sm_{major}{minor}",
            device.name,
            if targets.is_empty() { "no target".to_owned() } else { targets.join(", ") },
        ))
    })
}

/// The image's machine code for the device, loaded into the current context. `None` where there is none,
/// where the driver does not take it, or where [`CUBIN_VARIABLE`] is 0: PTX does as well, and only takes
/// longer.
pub(super) fn load_machine_code(image: &PtxImage, device: &DeviceInfo) -> Option<Module> {
    if !is_on(CUBIN_VARIABLE) {
        return None;
    }
    let code = machine_code(image, device.compute_capability)?;
    let mut cubin = Vec::new();
    GzDecoder::new(&*code.gzip).read_to_end(&mut cubin).ok()?;
    Module::from_cubin(&cubin, &[]).ok()
}

/// The newest machine code that a device of this compute capability takes.
fn machine_code(image: &PtxImage, (major, minor): (u32, u32)) -> Option<&MachineCode> {
    let fits = |code: &&MachineCode| code.device.0 == major && code.device.1 <= minor;
    image.machine_code.iter().filter(fits).max_by_key(|code| code.device)
}

/// Loads a module into the current context; `what` names it in errors.
pub(super) fn load(text: String, what: &str, device: &DeviceInfo) -> Result<Module> {
    let call = || format!("cuModuleLoadDataEx({what} on {})", device.name);
    let text = CString::new(text)
        .map_err(|e| Error::Device { call: call(), message: format!("the PTX is damaged: {e}") })?;
    Module::from_ptx_cstr(&text, &[]).map_err(|e| {
        let (status, log) = load_log(&text).unwrap_or((e.status(), String::new()));
        let advice = match status {
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
                format!("; driver {} is too old for this PTX: install a newer one", device.driver_version)
            }
            _ => String::new(),
        };
        let log = if log.is_empty() { log } else { format!("\n{log}") };
        Error::Device { call: call(), message: format!("{status}{advice}{log}") }
    })
}

/// Status and log of loading a module once more, since cust asks for no log. None if it goes well now.
fn load_log(text: &CStr) -> Option<(CUresult, String)> {
    let mut log = vec![0_u8; 8192];
    let mut options =
        [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    // The driver takes the size in the place of a pointer.
    let mut values = [log.as_mut_ptr().cast(), log.len() as *mut c_void];
    let mut module = std::ptr::null_mut();
    // SAFETY: the text ends with a nul; options and values are as many as said; the log buffer is as
    // long as said; a module that loads after all is given back at once.
    let status = unsafe {
        let status = sys::cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        );
        if status == CUresult::CUDA_SUCCESS {
            sys::cuModuleUnload(module);
            return None;
        }
        status
    };
    let length = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    Some((status, String::from_utf8_lossy(&log[..length]).trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(target: (u32, u32)) -> PtxImage {
        PtxImage { target, text: "".into(), machine_code: Vec::new() }
    }

    fn device(compute_capability: (u32, u32)) -> DeviceInfo {
        DeviceInfo {
            name: "Test GPU".into(),
            ordinal: 0,
            compute_capability,
            multiprocessors: 1,
            total_memory: 0,
            l2_bytes: 0,
            driver_version: "13.0".into(),
            ptx_target: String::new(),
            machine_code: false,
        }
    }

    #[test]
    fn machine_code_is_for_one_major_compute_capability() {
        let code = |device| MachineCode { device, gzip: Cow::Borrowed(&[]) };
        let machine_codes = vec![code((8, 0)), code((8, 6)), code((9, 0))];
        let image = PtxImage { machine_code: machine_codes, ..image((7, 0)) };
        for (capability, expected) in [
            ((7, 5), None),
            ((8, 0), Some((8, 0))),
            ((8, 9), Some((8, 6))),
            ((9, 0), Some((9, 0))),
            ((10, 0), None),
        ] {
            assert_eq!(machine_code(&image, capability).map(|code| code.device), expected, "{capability:?}");
        }
    }

    #[test]
    fn the_newest_image_not_newer_than_the_device_is_taken() {
        let images = [image((7, 0)), image((10, 0)), image((9, 0)), image((8, 6))];
        for (capability, expected) in [
            ((7, 0), (7, 0)),
            ((7, 5), (7, 0)),
            ((8, 0), (7, 0)),
            ((8, 6), (8, 6)),
            ((8, 9), (8, 6)),
            ((9, 0), (9, 0)),
            ((12, 1), (10, 0)),
        ] {
            assert_eq!(newest(&images, &device(capability)).unwrap().target, expected, "{capability:?}");
        }
    }

    #[test]
    fn a_device_too_old_for_every_image_is_told_both() {
        let error = newest(&[image((7, 0)), image((9, 0))], &device((6, 1))).unwrap_err().to_string();
        for part in ["no GPU: Test GPU has compute capability 6.1", "sm_70, sm_90", "compile them for sm_61"]
        {
            assert!(error.contains(part), "{part:?} is not in {error:?}");
        }
        assert!(newest(&[], &device((9, 0))).unwrap_err().to_string().contains("no target"));
    }
}
