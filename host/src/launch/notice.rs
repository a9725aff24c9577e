//! A line on stderr for each launch and each copy, with the place in the program that asked for it: what
//! `PGI_ACC_NOTIFY` shows of a program with directives.
//!
//! ```text
//! upload data    file=host/src/solver/cg/mod.rs line=70 device=0 type=f64 elements=1000 bytes=8000
//! launch kernel  file=host/src/solver/cg/mod.rs line=91 device=0 kernel=dot_f64 grid=4 block=256
//! ```
//!
//! The place is the caller of the operation of a backend. Where nothing is asked for, a launch costs one load
//! more, and a copy too.

use std::io::Write;
use std::panic::Location;
use std::sync::atomic::{AtomicU8, Ordering};

use super::DeviceInfo;
use crate::named::named;

named! {
    /// What there are lines about.
    "kind of notices" Notices {
        /// Launches of kernels. Iterations are queued kernel by kernel, and not as graphs.
        Launches = "launches",
        /// Copies between host and device.
        Copies = "copies",
        /// Both.
        All = "all",
    }
}

const LAUNCHES: u8 = 1;
const COPIES: u8 = 2;

/// What is wanted, by all devices of the process.
static WANTED: AtomicU8 = AtomicU8::new(0);

/// Which way a copy goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Upload,
    Download,
}

/// Writes lines from now on.
pub fn switch_on(notices: Notices) {
    let wanted = match notices {
        Notices::Launches => LAUNCHES,
        Notices::Copies => COPIES,
        Notices::All => LAUNCHES | COPIES,
    };
    WANTED.store(wanted, Ordering::Relaxed);
}

/// Whether launches are wanted.
pub(crate) fn of_launches() -> bool {
    WANTED.load(Ordering::Relaxed) & LAUNCHES != 0
}

/// A kernel is launched.
#[inline(always)]
pub(crate) fn launch(device: &DeviceInfo, kernel: &str, [grid, block]: [u32; 2], place: &Location) {
    if of_launches() {
        write(&of_launch(device, kernel, [grid, block], place));
    }
}

/// Elements of a type are copied.
#[inline(always)]
pub(crate) fn copy<U>(device: &DeviceInfo, way: Way, elements: usize, place: &Location) {
    if WANTED.load(Ordering::Relaxed) & COPIES != 0 {
        write(&of_copy(device, way, std::any::type_name::<U>(), elements, size_of::<U>(), place));
    }
}

/// A stderr that nobody reads any more (`2>&1 | head`) is no reason to stop.
fn write(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn of_launch(device: &DeviceInfo, kernel: &str, [grid, block]: [u32; 2], place: &Location) -> String {
    let (file, line, ordinal) = (place.file(), place.line(), device.ordinal);
    format!(
        "launch kernel  file={file} line={line} device={ordinal} kernel={kernel} grid={grid} block={block}"
    )
}

fn of_copy(
    device: &DeviceInfo,
    way: Way,
    element: &str,
    elements: usize,
    size: usize,
    place: &Location,
) -> String {
    let (file, line, ordinal, bytes) = (place.file(), place.line(), device.ordinal, elements * size);
    let way = match way {
        Way::Upload => "upload data  ",
        Way::Download => "download data",
    };
    format!(
        "{way}  file={file} line={line} device={ordinal} type={element} elements={elements} bytes={bytes}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::gpu::Gpu;

    #[test]
    fn lines_name_place_and_size() {
        let gpu = Gpu::simulated().unwrap();
        let (info, place) = (gpu.device().info(), Location::caller());
        let (file, line) = (file!(), place.line());
        assert_eq!(
            of_launch(info, "dot_f64", [4, 256], place),
            format!("launch kernel  file={file} line={line} device=0 kernel=dot_f64 grid=4 block=256")
        );
        assert_eq!(
            of_copy(info, Way::Download, "f64", 3, 8, place),
            format!("download data  file={file} line={line} device=0 type=f64 elements=3 bytes=24")
        );
    }
}
