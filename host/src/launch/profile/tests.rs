use super::*;
use crate::backend::Memory;
use crate::backend::Vectors;
use crate::backend::gpu::Gpu;
use crate::error::Error;
use crate::launch::sim::Sim;
use cuda_std::{GlobalLoad, GlobalStore, kernel, thread};

/// y_i = x_i + y_i
#[kernel]
unsafe fn add(n: u32, x: *const f64, y: *mut f64) {
    let i = thread::index_x();
    if i < n as usize {
        y.st(i, x.ld(i) + y.ld(i));
    }
}

/// x_i = 1
#[kernel]
unsafe fn ones(n: u32, x: *mut f64) {
    let i = thread::index_x();
    if i < n as usize {
        x.st(i, 1.0);
    }
}

fn watched() -> Profiled {
    Profiled::tracing(Arc::new(Sim::new()))
}

/// Two arrays of 100 numbers, of which each is filled, copied and added.
fn work(device: &Profiled) -> (Address, Address) {
    let (a, b) = (device.alloc(800).unwrap(), device.alloc(1000).unwrap());
    let (x, y) = (a as *mut f64, b as *mut f64);
    // SAFETY: both have 100 elements.
    unsafe {
        device.zero(a, 800).unwrap();
        device.zero(b, 0).unwrap();
        device.upload(b, &[0; 1000]).unwrap();
        device.launch_moving(Some(800), 4, 32, &ones { n: 100, x }).unwrap();
        for (bytes, grid, block) in [(Some(2400), 4, 32), (Some(2400), 2, 64), (Some(0), 1, 128)] {
            device.launch_moving(bytes, grid, block, &add { n: 100, x, y }).unwrap();
        }
        device.launch(0, 32, &add { n: 100, x, y }).unwrap();
        device.copy(a, b, 800).unwrap();
        device.download(&mut [0; 16], b).unwrap();
        device.download(&mut [0; 24], b).unwrap();
    }
    (a, b)
}

#[test]
fn everything_is_counted_once() {
    let device = watched();
    let (a, b) = work(&device);
    // SAFETY: given back once.
    unsafe { device.free(a) };
    let c = device.alloc(500).unwrap();
    // SAFETY: as above.
    unsafe { (device.free(b), device.free(c)) };
    let profile = device.profile().unwrap();

    let of = |copies: CopyProfile| (copies.count, copies.bytes);
    assert_eq!([of(profile.uploads), of(profile.downloads)], [(1, 1000), (2, 40)]);
    assert_eq!([of(profile.device_copies), of(profile.fills)], [(1, 800), (1, 800)]);
    assert_eq!((profile.allocations, profile.allocated_bytes, profile.peak_bytes), (3, 2300, 1800));
    assert_eq!((profile.launches(), profile.kernels.len(), profile.untimed), (4, 2, 0));
    let kernel = |name| profile.kernels.iter().find(|kernel| kernel.name == name).unwrap();
    let (add, ones) = (kernel("add"), kernel("ones"));
    assert_eq!((add.launches, add.grid, add.block, add.bytes), (3, (1, 4), (32, 128), Some(4800)));
    assert_eq!((ones.launches, ones.grid, ones.block, ones.bytes), (1, (4, 4), (32, 32), Some(800)));
    assert_eq!(add.attributes, None);

    let counts = device.counters().snapshot();
    assert_eq!((counts.launches, counts.uploads, counts.downloads), (4, 1, 2));
}

#[test]
fn times_add_up() {
    let device = watched();
    work(&device);
    let profile = device.profile().unwrap();
    for kernel in &profile.kernels {
        let KernelProfile { min_seconds: min, max_seconds: max, total_seconds: total, .. } = *kernel;
        assert!(0.0 < min && min <= kernel.mean_seconds() && kernel.mean_seconds() <= max, "{kernel:?}");
        assert!(total <= kernel.launches as f64 * max, "{kernel:?}");
        let bandwidth = kernel.bandwidth().unwrap();
        assert_eq!(bandwidth, kernel.bytes.unwrap() as f64 / total);
    }
    assert!(profile.kernels.is_sorted_by(|a, b| a.total_seconds >= b.total_seconds));
    let copies = [profile.uploads, profile.downloads, profile.device_copies, profile.fills];
    let sum = profile.kernels.iter().map(|k| k.total_seconds).sum::<f64>()
        + copies.iter().map(|c| c.seconds).sum::<f64>();
    // The simulator does one thing after the other.
    approx::assert_relative_eq!(profile.busy_seconds, sum, max_relative = 1e-9);
    assert!(profile.idle_seconds() > 0.0 && profile.span_seconds > sum, "{profile:?}");
}

#[test]
fn a_trace_has_everything_in_its_order() {
    let device = watched();
    let (a, b) = work(&device);
    // SAFETY: given back once.
    unsafe { (device.free(a), device.free(b)) };
    device.profile().unwrap();
    let trace = device.trace();
    let kernel = |name, grid, block, bytes| Activity::Kernel { name, grid, block, bytes: Some(bytes) };
    let expected = [
        Activity::Fill(800),
        Activity::Upload(1000),
        kernel("ones", 4, 32, 800),
        kernel("add", 4, 32, 2400),
        kernel("add", 2, 64, 2400),
        kernel("add", 1, 128, 0),
        Activity::Copy(800),
        Activity::Download(16),
        Activity::Download(24),
    ];
    assert_eq!(trace.spans.iter().map(|span| span.activity).collect::<Vec<_>>(), expected);
    assert!(trace.spans.windows(2).all(|pair| pair[0].start + pair[0].seconds <= pair[1].start + 1e-9));
    assert_eq!(trace.memory.iter().map(|m| m.1).collect::<Vec<_>>(), [800, 1800, 1000, 0]);
    assert!(trace.memory.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    let (first, last) = (trace.memory[0].0, trace.memory[3].0);
    assert!(trace.spans.iter().all(|s| first <= s.start + 1e-6 && s.start + s.seconds <= last + 1e-6));
    assert_eq!(trace.left_out, 0);

    let device = Profiled::new(Arc::new(Sim::new()));
    work(&device);
    assert!(device.profile().unwrap().launches() == 4 && device.trace().spans.is_empty());
}

#[test]
fn bytes_that_are_not_known_of_one_launch_are_not_known() {
    let device = watched();
    let x = device.alloc(80).unwrap() as *mut f64;
    // SAFETY: there are 10 elements.
    unsafe {
        device.launch_moving(Some(80), 1, 32, &ones { n: 10, x }).unwrap();
        device.launch(1, 32, &ones { n: 10, x }).unwrap();
        device.launch_moving(Some(80), 1, 32, &ones { n: 10, x }).unwrap();
    }
    let kernel = &device.profile().unwrap().kernels[0];
    assert_eq!((kernel.launches, kernel.bytes, kernel.bandwidth()), (3, None, None));
}

#[test]
fn a_kernel_that_fails_is_none_that_ran() {
    let device = watched();
    let x = device.alloc(80).unwrap() as *mut f64;
    // SAFETY: the simulator checks the range.
    let error = unsafe {
        device.launch(1, 32, &ones { n: 10, x }).unwrap();
        device.launch(1, 32, &ones { n: 11, x }).unwrap_err()
    };
    assert!(error.to_string().contains("kernel ones, block 0, thread 10"), "{error}");
    assert!(matches!(device.alloc(1 << 40), Err(Error::DeviceMemory { .. })));
    // SAFETY: as above.
    assert!(unsafe { device.upload(x as Address + 8, &[0; 80]) }.is_err());
    let profile = device.profile().unwrap();
    assert_eq!((profile.launches(), profile.uploads.count, profile.allocations), (1, 0, 1));
}

/// More than are left for later: their times are asked for on the way.
#[test]
fn long_runs_are_summed_up_on_the_way() {
    let device = watched();
    let x = device.alloc(80).unwrap() as *mut f64;
    for _ in 0..1500 {
        // SAFETY: there are 10 elements.
        unsafe { device.launch(1, 32, &ones { n: 10, x }) }.unwrap();
    }
    let seen = device.seen();
    assert_eq!((seen.launches(), seen.untimed), (1500 - 1024, 1024));
    let profile = device.profile().unwrap();
    assert_eq!((profile.launches(), profile.untimed), (1500, 0));
    assert!(profile.busy_seconds >= seen.busy_seconds);
    assert_eq!(device.trace().spans.len(), 1500);
}

#[test]
fn there_are_no_graphs() {
    let device = watched();
    let recorded = device.record_graph(&mut || panic!("nothing is recorded")).unwrap();
    assert!(recorded.is_none());
    assert!(device.profile().unwrap().kernels.is_empty());
}

/// Watched twice, each sees the same.
#[test]
fn a_backend_runs_on_it() {
    let inner = Arc::new(watched());
    let outer = Arc::new(Profiled::new(inner.clone()));
    let gpu = Gpu::new(outer.clone()).unwrap();
    let x: Vec<f64> = (0..300).map(|i| f64::from(i) * 0.3).collect();
    let (a, mut b) = (gpu.vector(&x).unwrap(), gpu.zeros(300).unwrap());
    gpu.copy(&a, &mut b).unwrap();
    assert_eq!(gpu.to_host(&b).unwrap(), x);
    for profile in [inner.profile().unwrap(), outer.profile().unwrap()] {
        assert_eq!(profile.kernels.len(), 1);
        assert_eq!((profile.kernels[0].name.as_str(), profile.kernels[0].launches), ("axpby_f64", 1));
        assert_eq!((profile.uploads.bytes, profile.downloads.bytes), (2400, 2400));
    }
    assert_eq!(outer.profile().unwrap().kernels[0].bytes, Some(4800));
}
