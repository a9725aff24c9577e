//! Buffers, copies, and the pool that memory comes from.

use super::*;

#[test]
fn buffers_of_the_program_are_vectors_and_come_back() {
    if !fake() {
        return;
    }
    let gpu = Gpu::new(Arc::new(open(1))).unwrap();
    let cuda = gpu.cuda().unwrap();
    CurrentContext::set_current(&cuda.context).unwrap();
    let values: Vec<f64> = (0..37).map(|i| 0.25 * f64::from(i) - 3.0).collect();
    let buffer = DeviceBuffer::from_slice(&values).unwrap();
    let address = buffer.as_device_ptr();
    let vector = gpu.adopt(buffer).unwrap();
    assert_eq!(vector.as_device_ptr(), address);
    assert_eq!(gpu.to_host(&vector).unwrap(), values);
    let buffer = vector.into_device_buffer().unwrap();
    assert_eq!((buffer.as_device_ptr(), buffer.len()), (address, 37));

    // SAFETY: the buffer has 37 elements, and is there until the end.
    let borrowed = unsafe { gpu.borrow(address, 36) };
    assert_eq!(gpu.to_host(&borrowed).unwrap(), values[..36]);
    drop(borrowed);
    assert_eq!(buffer.as_host_vec().unwrap(), values);

    // A vector of the library's own memory is copied.
    let own: DeviceVector<f64> = gpu.vector(&values).unwrap();
    let address = own.as_device_ptr();
    let copy = own.into_device_buffer().unwrap();
    assert_ne!(copy.as_device_ptr(), address);
    assert_eq!(copy.as_host_vec().unwrap(), values);

    let elsewhere = Gpu::new(Arc::new(open(0))).unwrap().adopt(copy).err().unwrap().to_string();
    assert!(elsewhere.contains("of another context than that of Fake GPU 70"), "{elsewhere}");
    let simulated = Gpu::simulated().unwrap().adopt(buffer).err().unwrap().to_string();
    assert!(simulated.contains("no CUDA device"), "{simulated}");
}

#[test]
fn a_driver_queues_on_the_stream_of_the_program() {
    if !fake() {
        return;
    }
    let cuda = open(1).cuda().unwrap();
    let text = ".version 6.0 .visible .entry scale(...) { }";
    let device = Driver::on(cuda.clone(), &[image((7, 0), text)]).unwrap();
    assert_eq!((device.info().ordinal, device.info().compute_capability), (1, (8, 0)));
    let stream = device.cuda().unwrap().stream;
    assert!(Arc::ptr_eq(&stream, &cuda.stream));
    let data = device.alloc(8).unwrap();
    // SAFETY: there are 8 bytes.
    unsafe { device.upload(data, &3.0_f64.to_ne_bytes()).unwrap() };
    // SAFETY: the kernel takes these arguments, and there is one element.
    unsafe { device.launch(1, 32, &Scale { data, n: 1, factor: 2.0, shift: 1.0 }).unwrap() };
    // Waiting for the stream is waiting for the kernel.
    cuda.stream.synchronize().unwrap();
    let mut value = [0_u8; 8];
    // SAFETY: there are 8 bytes, which are given back once.
    unsafe {
        device.download(&mut value, data).unwrap();
        device.free(data);
    }
    assert_eq!(f64::from_ne_bytes(value), 7.0);
}

#[test]
fn copies_arrive_in_order_and_are_counted() {
    if !fake() {
        return;
    }
    let device = open(0);
    // Through the waiting room, some pieces, exactly one staging buffer, the ring, and more with an odd rest.
    let lengths = [1, 4097, (1 << 20) - 1, (1 << 20) + 5, 4 << 20, 32 << 20, (50 << 20) + 13];
    for length in lengths {
        let before = counts(&device);
        let source = noise(length);
        let (a, b) = (device.alloc(length).unwrap(), device.alloc(length).unwrap());
        let mut found = vec![0xEE_u8; length];
        // SAFETY: both allocations have `length` bytes.
        unsafe {
            device.upload(a, &source).unwrap();
            device.copy(b, a, length).unwrap();
            // Queued behind the copy, so that b keeps the old bytes.
            device.zero(a, length).unwrap();
            device.download(&mut found, b).unwrap();
        }
        assert!(found == source, "{length} bytes changed on the way");
        // SAFETY: as above.
        unsafe { device.download(&mut found, a).unwrap() };
        assert!(found.iter().all(|&byte| byte == 0), "{length} bytes were not zeroed");
        let held = counts(&device);
        for address in [a, b] {
            // SAFETY: not used afterwards.
            unsafe { device.free(address) };
        }
        let length = length as u64;
        let expected = Counts {
            allocations: before.allocations + 2,
            allocated_bytes: 2 * length,
            uploads: before.uploads + 1,
            uploaded_bytes: before.uploaded_bytes + length,
            downloads: before.downloads + 2,
            downloaded_bytes: before.downloaded_bytes + 2 * length,
            device_copies: before.device_copies + 1,
            launches: 0,
            graph_launches: 0,
        };
        assert_eq!(held, expected);
        assert_eq!(counts(&device).allocated_bytes, 0);
    }
}

/// More small copies than have room while they wait for the device.
#[test]
fn what_was_copied_to_the_device_may_be_changed_at_once() {
    const LENGTHS: [usize; 6] = [1, 300, 70_000, (1 << 20) - 1, 256, 900_000];
    if !fake() {
        return;
    }
    let device = open(0);
    let lengths = LENGTHS.repeat(8);
    let source = noise(lengths.iter().sum());
    let there = device.alloc(source.len()).unwrap();
    let (mut first, mut rest) = (there, &source[..]);
    for length in lengths {
        let part;
        (part, rest) = rest.split_at(length);
        let mut part = part.to_vec();
        // SAFETY: within the allocation.
        unsafe { device.upload(first, &part).unwrap() };
        part.fill(0xEE);
        first += length as u64;
    }
    let mut found = vec![0; source.len()];
    // SAFETY: the allocation is as long, and is not used afterwards.
    unsafe {
        device.download(&mut found, there).unwrap();
        device.free(there);
    }
    assert!(found == source, "bytes changed on the way");
}

/// Whether this process runs nothing but a test that needs much memory: the fake's is that of all tests.
/// Otherwise it starts one that does.
fn is_alone(test: &str) -> bool {
    const CHILD: &str = "WARPSOLVE_TEST_ALONE";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", test]).env(CHILD, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

/// Threads of one pool help both, however few they are.
#[test]
fn devices_are_copied_to_and_from_at_the_same_time() {
    if !fake() || !is_alone("memory::devices_are_copied_to_and_from_at_the_same_time") {
        return;
    }
    let copy = |ordinal: u32| {
        let device = open(ordinal);
        for length in [(1 << 20) + 5, (9 << 20) + 13] {
            let source = noise(length);
            let there = device.alloc(length).unwrap();
            let mut found = vec![0xEE_u8; length];
            // SAFETY: the allocation has `length` bytes, and is not used afterwards.
            unsafe {
                device.upload(there, &source).unwrap();
                device.download(&mut found, there).unwrap();
                device.free(there);
            }
            assert!(found == source, "{length} bytes of device {ordinal} changed on the way");
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| copy(0));
        copy(1);
    });
    for threads in 1..4 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rayon::join(|| copy(0), || copy(1)));
    }
}

#[test]
fn empty_copies_do_nothing_and_empty_allocations_have_addresses() {
    if !fake() {
        return;
    }
    let device = open(0);
    let (a, b) = (device.alloc(0).unwrap(), device.alloc_host_visible(0).unwrap());
    assert!(a != 0 && b != 0 && a != b);
    let before = counts(&device);
    // SAFETY: 0 bytes are touched.
    unsafe {
        device.upload(a, &[]).unwrap();
        device.download(&mut [], a).unwrap();
        device.copy(a, a, 0).unwrap();
        device.zero(a, 0).unwrap();
        device.launch(0, 256, &Named("no such kernel")).unwrap();
    }
    // Counted all the same, as the simulator does.
    let expected = Counts {
        uploads: before.uploads + 1,
        downloads: before.downloads + 1,
        device_copies: before.device_copies + 1,
        ..before
    };
    assert_eq!(counts(&device), expected);
    for address in [a, b] {
        // SAFETY: not used afterwards.
        unsafe { device.free(address) };
    }
}

#[test]
fn memory_that_does_not_fit_is_refused_with_figures() {
    if !fake() {
        return;
    }
    let device = open(0);
    let error = device.alloc(300 << 20).unwrap_err();
    let Error::DeviceMemory { device: name, needed, free, total, .. } = &error else { panic!("{error:?}") };
    assert_eq!((name.as_str(), *needed, *total), ("Fake GPU 70", 300 << 20, 200 << 20));
    assert!(free <= total);
    assert_eq!(counts(&device), Counts::default());
    assert_eq!(device.memory().unwrap().1, 200 << 20);
}

#[test]
fn memory_that_is_given_back_is_free_and_is_used_again() {
    if !fake() || !is_alone("memory::memory_that_is_given_back_is_free_and_is_used_again") {
        return;
    }
    // With a pool and without.
    for ordinal in 0..2 {
        let device = open(ordinal);
        let free = || device.memory().unwrap().0 >> 20;
        let take = |mebibytes: usize| device.alloc(mebibytes << 20).unwrap();
        // SAFETY: not used afterwards.
        let give_back = |address| unsafe { device.free(address) };
        assert_eq!(free(), 200);
        let a = take(150);
        assert_eq!(free(), 50);
        give_back(a);
        assert_eq!(free(), 200);
        // From the piece of 150; but neither what is left of it nor the rest of the device has 70.
        let a = take(120);
        assert_eq!(free(), 80);
        let b = take(70);
        assert_eq!(free(), 10);
        let error = device.alloc(11 << 20).unwrap_err();
        assert!(matches!(error, Error::DeviceMemory { free, .. } if free == 10 << 20), "{error}");
        give_back(a);
        give_back(b);
        assert_eq!(free(), 200);
        assert_eq!(counts(&device).allocations, 3);
        // What is there is enough, and what the device does not have is not asked for.
        for bytes in [1 << 20, 10 << 30] {
            device.reserve(bytes);
            assert_eq!((free(), counts(&device).allocations), (200, 3));
        }
        give_back(take(200));
        assert_eq!(free(), 200);
    }
}

#[test]
fn host_visible_memory_has_one_address_or_none() {
    if !fake() {
        return;
    }
    let device = open(0);
    let address = device.alloc_host_visible(24).unwrap();
    let data = address as *mut [f64; 3];
    // SAFETY: the allocation has three f64, and the host reads them after waiting for the kernel.
    unsafe {
        data.write([1.0, 2.0, 3.0]);
        device.launch(1, 32, &Scale { data: address, n: 3, factor: 0.5, shift: 0.25 }).unwrap();
        device.synchronize().unwrap();
        assert_eq!(data.read_volatile(), [0.75, 1.25, 1.75]);
        device.free(address);
    }
    let launched = Counts { launches: 1, ..Counts::default() };
    assert_eq!(counts(&device), launched, "host memory is no device allocation");

    let error = open(1).alloc_host_visible(24).unwrap_err().to_string();
    assert!(error.contains("Fake GPU 71 sees host memory at another address"), "{error}");
}
