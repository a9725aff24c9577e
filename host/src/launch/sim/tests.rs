use super::*;
use crate::launch::Counts;
use cuda_std::{GlobalLoad, GlobalStore, kernel, thread};

/// y_i = x_i + y_i
#[kernel]
unsafe fn vadd(n: u32, x: *const f64, y: *mut f64) {
    let i = thread::index_x();
    if i < n as usize {
        y.st(i, x.ld(i) + y.ld(i));
    }
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|c| f64::from_ne_bytes(c.try_into().unwrap())).collect()
}

/// Runs vadd on `n` of 37 elements; returns y.
fn vadd_on(device: &Sim, n: u32) -> Result<Vec<f64>> {
    let x: Vec<f64> = (0..37).map(|i| f64::from(i) + 0.25).collect();
    let (a, b) = (device.alloc(37 * 8)?, device.alloc(37 * 8)?);
    // SAFETY: both have 37 elements, or the simulator says so.
    unsafe {
        device.upload(a, &bytes(&x))?;
        device.copy(b, a, 37 * 8)?;
        device.launch(2, 32, &vadd { n, x: a as *const f64, y: b as *mut f64 })?;
        device.synchronize()?;
        let mut y = vec![0; 37 * 8];
        device.download(&mut y, b)?;
        device.free(a);
        device.free(b);
        Ok(floats(&y))
    }
}

#[test]
fn runs_a_kernel_and_counts_exactly() {
    for device in [Sim::new(), Sim::checked(), Sim::strict()] {
        assert_eq!(
            vadd_on(&device, 37).unwrap(),
            (0..37).map(|i| 2.0 * f64::from(i) + 0.5).collect::<Vec<_>>()
        );
        let expected = Counts {
            launches: 1,
            graph_launches: 0,
            allocations: 2,
            allocated_bytes: 0,
            uploads: 1,
            uploaded_bytes: 296,
            downloads: 1,
            downloaded_bytes: 296,
            device_copies: 1,
        };
        assert_eq!(device.counters().snapshot(), expected);
        assert_eq!(device.memory().unwrap(), (1 << 30, 1 << 30));
    }
}

#[test]
fn names_kernel_block_and_thread_of_a_fault() {
    let error = vadd_on(&Sim::new(), 40).unwrap_err();
    let Error::Device { call, message } = &error else { panic!("{error}") };
    assert_eq!(call, "kernel vadd, block 1, thread 5");
    assert!(
        message.contains("read of 8 bytes") && message.contains("element 37 of a buffer of 37"),
        "{message}"
    );
}

#[test]
fn fresh_memory_is_poisoned_and_aligned() {
    let device = Sim::new();
    let address = device.alloc(24).unwrap();
    assert_eq!(address % 256, 0);
    let mut out = [0; 24];
    // SAFETY: 24 bytes are allocated.
    unsafe { device.download(&mut out, address) }.unwrap();
    assert!(floats(&out).iter().all(|v| v.is_nan()));
    // SAFETY: as above.
    unsafe { device.zero(address + 8, 16) }.unwrap();
    // SAFETY: as above.
    unsafe { device.download(&mut out, address) }.unwrap();
    assert!(floats(&out)[0].is_nan());
    assert_eq!(floats(&out)[1..], [0.0, 0.0]);
}

#[test]
fn strict_notices_reads_of_fresh_memory() {
    let device = Sim::strict();
    let (x, y) = (device.alloc(80).unwrap(), device.alloc(80).unwrap());
    // SAFETY: both have 10 elements.
    let error = unsafe {
        device.zero(x, 80).unwrap();
        device.zero(y, 64).unwrap();
        device.launch(1, 32, &vadd { n: 10, x: x as *const f64, y: y as *mut f64 }).unwrap_err()
    };
    assert!(
        error.to_string().contains("thread 8 failed: read of element 8, which was never written"),
        "{error}"
    );
}

#[test]
fn refuses_more_than_it_has() {
    let device = Sim::with_memory_limit(1000);
    let first = device.alloc(600).unwrap();
    assert_eq!(device.memory().unwrap(), (400, 1000));
    let error = device.alloc(401).unwrap_err();
    assert!(matches!(error, Error::DeviceMemory { needed: 401, free: 400, total: 1000, .. }), "{error}");
    let host = device.alloc_host_visible(5000).unwrap();
    assert_eq!(device.counters().snapshot().allocated_bytes, 600);
    // SAFETY: given back once.
    unsafe { (device.free(first), device.free(host)) };
    assert_eq!(device.memory().unwrap(), (1000, 1000));
    assert!(device.alloc(1000).is_ok());
}

#[test]
fn refuses_copies_beyond_an_allocation() {
    let device = Sim::new();
    let address = device.alloc(16).unwrap();
    // SAFETY: the simulator checks the range.
    let error = unsafe { device.upload(address + 8, &[0; 9]) }.unwrap_err();
    assert!(error.to_string().starts_with("upload failed: 9 bytes at"), "{error}");
    // SAFETY: as above.
    assert!(unsafe { device.zero(address + 1, 16) }.is_err());
    assert_eq!(device.counters().snapshot().uploads, 0);
}

#[test]
fn an_empty_grid_does_nothing() {
    let device = Sim::new();
    // SAFETY: no thread runs.
    unsafe { device.launch(0, 32, &vadd { n: 1, x: std::ptr::null(), y: std::ptr::null_mut() }) }.unwrap();
    assert_eq!(device.counters().snapshot(), Counts::default());
}

#[test]
fn events_measure_time() {
    let device = Sim::new();
    let (start, end) = (device.record().unwrap(), device.record().unwrap());
    assert!(device.elapsed(&start, &end).unwrap() >= 0.0);
    assert!(device.elapsed(&Event(Box::new(3)), &end).is_err());
}
