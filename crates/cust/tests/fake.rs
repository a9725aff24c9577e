//! Before a driver is loaded, while it is loaded, and afterwards: arguments arrive as they were given.

mod common;

use cust::error::CudaError;
use cust::sys::{self, CUresult};
use std::ffi::c_void;

// One test: it begins in a process without a driver.
#[test]
fn arguments_pass_through_unharmed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = common::compile(&folder) else { return };

    // SAFETY: nothing is loaded yet, so that the function returns an error.
    assert_eq!(unsafe { sys::cuInit(0) }, CUresult::CUDA_ERROR_NOT_INITIALIZED);
    assert_eq!(cust::device::Device::num_devices(), Err(CudaError::NotInitialized));
    // SAFETY: the fake's functions have the driver's signatures.
    unsafe { cust::driver::load_from(&library) }.unwrap();

    let pointer = |number: usize| number as *mut c_void;
    let mut written = 0.0_f64;
    let mut arguments = [(&raw mut written).cast::<c_void>()];
    // SAFETY: the fake reads numbers only, and writes through the first argument, which is an f64.
    let status = unsafe {
        let arguments = arguments.as_mut_ptr();
        let (function, stream, extra) = (pointer(8).cast(), pointer(9).cast(), pointer(10).cast());
        sys::cuLaunchKernel(function, 1, 2, 3, 4, 5, 6, 7, stream, arguments, extra)
    };
    assert_eq!((status, written), (CUresult::CUDA_SUCCESS, 0.125));

    // SAFETY: the fake compares numbers. The second thread finds the driver loaded.
    std::thread::spawn(|| unsafe {
        let stream = std::ptr::without_provenance_mut(9);
        let status = sys::cuMemsetD16Async(0xFEDC_BA98_7654_3210, 0xABCD, usize::MAX - 1, stream);
        assert_eq!(status, CUresult::CUDA_SUCCESS);
    })
    .join()
    .unwrap();

    // SAFETY: the fake does not have it, so that the function returns an error.
    let missing = unsafe { sys::cuCtxSetSharedMemConfig(0) };
    assert_eq!(missing, CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);

    // SAFETY: the first is loaded already, the second refused.
    unsafe {
        cust::driver::load_from(&library).unwrap();
        let refused = cust::driver::load_from("libm.so.6").unwrap_err();
        assert!(refused.to_string().contains("fake.so is loaded already"), "{refused}");
    }
    cust::driver::load().expect("a driver is loaded");
    cust::init(cust::CudaFlags::empty()).unwrap();
    assert_eq!(cust::has_device(), Ok(true));
    // The fake answers with the flags.
    let answer = |status: CUresult| cust::init(cust::CudaFlags::from_bits_retain(status.0));
    assert_eq!(answer(CUresult::CUDA_ERROR_NO_DEVICE), Err(CudaError::NoDevice));
    assert_eq!(answer(CUresult::CUDA_ERROR_STUB_LIBRARY), Err(CudaError::StubLibrary));
    assert_eq!(CudaError::OutOfMemory.to_string(), "out of memory (CUDA_ERROR_OUT_OF_MEMORY)");
    assert_eq!(CudaError::InvalidPtx.to_string(), "CUDA error 218");
}
