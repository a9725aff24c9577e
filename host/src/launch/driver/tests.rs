//! What needs no driver; host/tests/driver has a fake one.

use super::*;
use cust::error::CudaError;

#[test]
fn without_a_driver_the_error_says_what_to_install() {
    if cust::driver::load().is_ok() {
        println!("skipped: this machine has a CUDA driver");
        return;
    }
    let refusals =
        [Driver::open(0, &[]).err(), device_count().err(), devices().err(), driver_version().err()];
    for error in refusals {
        let error = error.expect("there is no driver");
        assert!(matches!(error, Error::NoDevice(_)), "{error:?}");
        let expected = "no GPU: libcuda.so.1 not found: install the NVIDIA driver (libcuda.so.1: ";
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn statuses_keep_their_number_where_no_driver_explains_them() {
    let error = failed("cuMemAlloc(8 bytes)")(CudaError::OutOfMemory);
    if cust::driver::load().is_err() {
        assert_eq!(error.to_string(), "cuMemAlloc(8 bytes) failed: CUDA error 2");
    }
    assert_eq!(CudaError::IllegalAddress.status(), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_eq!(CudaError::InvalidMemoryAllocation.status(), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert!(is_fault(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    assert!(!is_fault(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
}
