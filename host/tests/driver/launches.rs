//! Launches, their errors, and how long they take.

use super::*;

#[test]
fn kernels_take_their_arguments_from_any_thread() {
    if !fake() {
        return;
    }
    let device = open(0);
    let data = [1.5_f64, -2.25, 3.0];
    let address = device.alloc(24).unwrap();
    let bytes = data.map(f64::to_le_bytes).concat();
    std::thread::scope(|scope| {
        // SAFETY: the allocation has three f64.
        let work = || unsafe {
            device.upload(address, &bytes).unwrap();
            device.launch(1, 128, &Scale { data: address, n: 3, factor: 2.0, shift: 0.5 }).unwrap();
            device.launch(1, 128, &Scale { data: address, n: 2, factor: -1.0, shift: 0.0 }).unwrap();
        };
        scope.spawn(work).join().unwrap();
    });
    let mut found = [0; 24];
    // SAFETY: as above; not used afterwards.
    unsafe {
        device.download(&mut found, address).unwrap();
        device.free(address);
    }
    assert_eq!(found, *[-3.5_f64, 4.0, 6.5].map(f64::to_le_bytes).concat());
    assert_eq!(counts(&device).launches, 2);

    let expected =
        KernelAttributes { registers: 1004, shared_bytes: 1001, local_bytes: 1003, max_threads: 1000 };
    assert_eq!(device.kernel_attributes("scale").unwrap(), Some(expected));
    assert_eq!(device.max_active_blocks("scale", 256).unwrap(), 8);
}

#[test]
fn several_launches_are_made_at_once() {
    if !fake() {
        return;
    }
    for ordinal in 0..2 {
        let device = open(ordinal);
        assert!(device.takes_batches());
        let address = device.alloc(24).unwrap();
        let scale = |k: u64| Scale { data: address + 8 * k, n: 1, factor: 1.0 + k as f64, shift: -0.5 };
        let mut batch = Batch::of(scale(0).batched().unwrap());
        assert!((1..3).all(|k| batch.takes(scale(k).batched().unwrap())));
        let mut found = [0; 24];
        // SAFETY: the allocation has three f64, one for each launch.
        unsafe {
            device.upload(address, &[1.5_f64; 3].map(f64::to_le_bytes).concat()).unwrap();
            device.launch_batch(None, 1, 64, &batch).unwrap();
            device.download(&mut found, address).unwrap();
            device.free(address);
        }
        assert_eq!(found, *[1.0_f64, 2.5, 4.0].map(f64::to_le_bytes).concat());
        assert_eq!(counts(&device).launches, 1);
    }
}

/// The fake stops the process where a kernel is launched in another way than its PTX allows.
#[test]
fn kernels_that_wait_may_overlap_with_those_in_front_where_the_driver_can() {
    const CHILD: &str = "kernels_that_wait_may_overlap_with_those_in_front_where_the_driver_can";
    if !fake() {
        return;
    }
    for ordinal in 0..2 {
        let device = open(ordinal);
        let address = device.alloc(8).unwrap();
        let mut found = [0; 8];
        // SAFETY: the allocation has one f64.
        unsafe {
            device.upload(address, &1.5_f64.to_le_bytes()).unwrap();
            // For blocks of 96 threads the fake is an old driver, from the first such launch on.
            for block in [32, 96, 64, 96] {
                device.launch(2, block, &Scale { data: address, n: 1, factor: 2.0, shift: 0.25 }).unwrap();
            }
            device.download(&mut found, address).unwrap();
            device.free(address);
        }
        assert_eq!(f64::from_le_bytes(found), 1.5 * 16.0 + 0.25 * 15.0);
        assert_eq!(counts(&device).launches, 4);
    }
    if std::env::var_os(PDL_VARIABLE).is_none() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", CHILD]).env(PDL_VARIABLE, "0").output().unwrap();
        assert!(output.status.success(), "switched off: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn launch_errors_name_the_kernel_and_its_grid() {
    if !fake() {
        return;
    }
    let device = open(0);
    // SAFETY: neither is launched.
    let (missing, too_large) =
        unsafe { (device.launch(3, 64, &Named("spmv_f16")), device.launch(3, 2048, &Named("fault"))) };
    assert_eq!(
        missing.unwrap_err().to_string(),
        "cuModuleGetFunction(spmv_f16) failed: \
         the sm_90 image has no such kernel; compile the kernels again"
    );
    assert_eq!(
        too_large.unwrap_err().to_string(),
        "cuLaunchKernel(fault, 3 blocks of 2048 threads) failed: \
         invalid argument (CUDA_ERROR_INVALID_VALUE)"
    );
    assert_eq!(counts(&device).launches, 0);
    device.synchronize().unwrap();
}

#[test]
fn faults_name_the_kernels_launched_last() {
    if !fake() {
        return;
    }
    let device = open(0);
    let address = device.alloc(20 << 20).unwrap();
    for n in [0, 1, 0, 1] {
        // SAFETY: the allocation has one f64.
        unsafe { device.launch(7, 32, &Scale { data: address, n, factor: 1.0, shift: 0.0 }) }.unwrap();
    }
    // SAFETY: the fault is the fake's.
    unsafe { device.launch(5, 64, &Named("fault")) }.unwrap();
    let expected = "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS); launched last, \
                    newest at the end: scale (7 blocks of 32), scale (7 blocks of 32), \
                    scale (7 blocks of 32), fault (5 blocks of 64)";
    for fault in [
        device.synchronize(),
        // SAFETY: the allocation has 20 MiB, here and below.
        unsafe { device.download(&mut [0; 8], address) },
        // SAFETY: as above. This copy is staged.
        unsafe { device.upload(address, &vec![1; 20 << 20]) },
    ] {
        let error = fault.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // SAFETY: not used afterwards.
    unsafe { device.free(address) };
}

#[test]
fn events_measure_what_lies_between_them() {
    if !fake() {
        return;
    }
    let device = open(0);
    let address = device.alloc(8).unwrap();
    let start = device.record().unwrap();
    // SAFETY: the allocation has 8 bytes.
    unsafe { device.zero(address, 8).unwrap() };
    let end = device.record().unwrap();
    // The fake's clock: 1 ms for everything carried out, and 1 ms for the event itself.
    assert_eq!(device.elapsed(&start, &end).unwrap(), f64::from(2.0_f32) * 1e-3);
    // SAFETY: not used afterwards.
    unsafe { device.free(address) };
    // Events outlive their device.
    drop(device);
    drop((start, end));
}

/// What runs on a watched device takes 2 ms of the fake's clock: 1 for itself and 1 for the event behind it.
#[test]
fn a_watched_device_tells_what_ran_and_when() {
    if !fake() {
        return;
    }
    let device = Profiled::tracing(Arc::new(open(0)));
    let address = device.alloc(24).unwrap();
    let scale = Scale { data: address, n: 3, factor: 2.0, shift: 0.5 };
    let mut found = [0; 24];
    // SAFETY: the allocation has three f64.
    unsafe {
        device.zero(address, 24).unwrap();
        device.launch_moving(Some(48), 1, 128, &scale).unwrap();
        device.launch_moving(Some(48), 2, 128, &scale).unwrap();
        device.download(&mut found, address).unwrap();
    }
    assert_eq!(found, *[1.5_f64; 3].map(f64::to_le_bytes).concat());
    assert!(device.record_graph(&mut || panic!("nothing is recorded")).unwrap().is_none());
    let profile = device.profile().unwrap();
    let each = f64::from(2.0_f32) * 1e-3;
    let kernel = &profile.kernels[0];
    assert_eq!((kernel.name.as_str(), kernel.launches, kernel.bytes), ("scale", 2, Some(96)));
    assert_eq!((kernel.min_seconds, kernel.max_seconds, kernel.total_seconds), (each, each, 2.0 * each));
    assert_eq!(kernel.attributes.map(|taken| taken.registers), Some(1004));
    assert_eq!((profile.fills.seconds, profile.downloads.seconds), (each, each));
    // Between two pieces of work the fake takes 1 ms for the event in front of the second.
    assert!((profile.busy_seconds - 4.0 * each).abs() < 1e-9, "{profile:?}");
    assert!((profile.idle_seconds() - 3.0e-3).abs() < 1e-9, "{profile:?}");
    let starts: Vec<f64> = device.trace().spans.iter().map(|span| span.start).collect();
    assert!(starts.windows(2).all(|pair| (pair[1] - pair[0] - 3e-3).abs() < 1e-9), "{starts:?}");

    // What ran before a fault is not forgotten.
    // SAFETY: the fake has such a kernel.
    unsafe { device.launch(1, 32, &Named("fault")).unwrap() };
    let error = device.profile().unwrap_err().to_string();
    assert!(error.contains("CUDA_ERROR_ILLEGAL_ADDRESS") && error.contains("fault"), "{error}");
    let seen = device.seen();
    assert_eq!((seen.launches(), seen.untimed, seen.fills.count), (2, 1, 1));
}
