//! The machine's GPU, for the tests that need one.

use warpsolve::launch::driver::Driver;

/// The first GPU. `None`, with the reason printed, only on a machine without a driver or without a device:
/// a driver that does not start, or PTX that does not load, fails the test.
pub fn driver() -> Option<Driver> {
    if !cust::has_device().unwrap_or_else(|error| panic!("the driver does not start: {error}")) {
        println!("skipped: this machine has no NVIDIA driver, or no GPU");
        return None;
    }
    Some(Driver::open(0, &warpsolve::ptx::images()).unwrap_or_else(|error| panic!("{error}")))
}
