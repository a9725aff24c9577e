//! `launch::Driver` on machines without a GPU: against a driver made up in fake_driver/libcuda.rs.

use cuda_std::host::Kernel;
use cust::context::CurrentContext;
use cust::memory::DeviceBuffer;
use std::ffi::c_void;
use std::io::Write;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use warpsolve_host::Error;
use warpsolve_host::backend::Memory;
use warpsolve_host::backend::gpu::{DeviceVector, Gpu};
use warpsolve_host::launch::driver::{self, Driver, MachineCode, PDL_VARIABLE, PtxImage};
use warpsolve_host::launch::profile::Profiled;
use warpsolve_host::launch::{Counts, KernelAttributes, Launch};

/// Compiles and loads the fake, once for all tests. False, with a printed reason, where it cannot.
fn fake() -> bool {
    static LOADED: OnceLock<bool> = OnceLock::new();
    *LOADED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("libcuda.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake_driver/libcuda.rs");
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition=2024", "--crate-type=cdylib", "-O", "-o"]).arg(&library).arg(source);
        match rustc.output() {
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                // SAFETY: the fake has the driver's signatures for the functions it has.
                unsafe { cust::driver::load_from(&library) }.unwrap();
                true
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                println!("skipped: no rustc to compile the fake driver with: {error}");
                false
            }
            Err(error) => panic!("rustc does not run: {error}"),
        }
    })
}

fn image(target: (u32, u32), text: &'static str) -> PtxImage {
    PtxImage { target, text: text.into(), machine_code: Vec::new() }
}

/// Device 0 takes the second image, whose kernels wait for those in front of them; device 1 the first.
fn open(ordinal: u32) -> Driver {
    let plain = ".version 6.0 .visible .entry scale(...) { } .visible .entry fault(...) { }";
    let waiting = ".version 7.8\n.visible .entry scale(...)\n{ griddepcontrol.wait; }\n\
                   .visible .entry fault(...)\n{ griddepcontrol.wait; }\n";
    Driver::open(ordinal, &[image((7, 0), plain), image((9, 0), waiting)]).unwrap()
}

/// data[i] = factor * data[i] + shift
struct Scale {
    data: u64,
    n: u32,
    factor: f64,
    shift: f32,
}

impl Kernel for Scale {
    fn name(&self) -> &'static str {
        "scale"
    }
    fn arguments(&self, use_them: &mut dyn FnMut(&mut [*mut c_void])) {
        let Scale { data, n, factor, shift } = self;
        use_them(&mut [
            (&raw const *data).cast_mut().cast(),
            (&raw const *n).cast_mut().cast(),
            (&raw const *factor).cast_mut().cast(),
            (&raw const *shift).cast_mut().cast(),
        ]);
    }
    unsafe fn run(&self) {
        unreachable!("the driver runs PTX")
    }
}

/// A kernel without arguments.
struct Named(&'static str);

impl Kernel for Named {
    fn name(&self) -> &'static str {
        self.0
    }
    fn arguments(&self, use_them: &mut dyn FnMut(&mut [*mut c_void])) {
        use_them(&mut []);
    }
    unsafe fn run(&self) {
        unreachable!("the driver runs PTX")
    }
}

/// Bytes without a period that could hide a misplaced piece.
fn noise(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8).collect()
}

fn counts(driver: &Driver) -> Counts {
    driver.counters().snapshot()
}

#[test]
fn devices_are_described() {
    if !fake() {
        return;
    }
    let devices = driver::devices().unwrap();
    assert_eq!(devices.len(), 2);
    let second = &devices[1];
    assert_eq!((second.name.as_str(), second.ordinal), ("Fake GPU 71", 1));
    assert_eq!((second.compute_capability, second.multiprocessors), ((8, 0), 132));
    assert_eq!((second.total_memory, second.l2_bytes), (200 << 20, 50 << 20));
    assert_eq!((second.driver_version.as_str(), second.ptx_target.as_str()), ("12.8", ""));
    assert_eq!(driver::driver_version().unwrap(), "12.8");
    assert_eq!(open(0).info().ptx_target, "sm_90");
    assert_eq!(open(1).info().ptx_target, "sm_70");
    let error = Driver::open(2, &[]).err().unwrap().to_string();
    assert_eq!(error, "no GPU: there is no device cuda:2; this machine has 2, counted from cuda:0");
}

#[test]
fn a_bad_image_is_reported_with_the_translators_log() {
    if !fake() {
        return;
    }
    let refusal = |text| Driver::open(0, &[image((9, 0), text)]).err().unwrap().to_string();
    assert_eq!(
        refusal(".visible .entry broken() { }"),
        "cuModuleLoadDataEx(broken of the sm_90 image on Fake GPU 70) failed: \
         a PTX JIT compilation failed (CUDA_ERROR_INVALID_PTX)\n\
         ptxas application ptx input, line 3; error: what is this?"
    );
    let future = refusal(".version future\n.visible .entry scale() { }");
    assert!(future.contains("driver 12.8 is too old for this PTX: install a newer one"), "{future}");
    assert!(refusal(".visible .entry scale() { a\0b }").contains("the PTX is damaged"));
}

#[test]
fn a_kernel_is_loaded_when_it_is_first_used_and_alone() {
    if !fake() {
        return;
    }
    // The fake refuses modules with two kernels.
    let text = ".version 7.8\n.visible .entry fault() { }\n.visible .entry scale(.param .u64 p) { }\n\
                .visible .entry late() { this is broken }";
    let device = Driver::open(0, &[image((9, 0), text)]).unwrap();
    assert_eq!(device.max_active_blocks("scale", 128).unwrap(), 16);
    assert_eq!(device.max_active_blocks("scale", 256).unwrap(), 8);
    for _ in 0..2 {
        let error = device.kernel_attributes("late").unwrap_err().to_string();
        assert!(
            error.starts_with("cuModuleLoadDataEx(late of the sm_90 image on Fake GPU 70) failed"),
            "{error}"
        );
    }
}

#[test]
fn different_kernels_are_loaded_at_the_same_time() {
    if !fake() {
        return;
    }
    let text = ".version 7.8\n.visible .entry first() { patient }\n.visible .entry second() { patient }\n\
                .visible .entry scale() { }";
    let device = Driver::open(0, &[image((9, 0), text)]).unwrap();
    std::thread::scope(|scope| {
        for kernel in ["first", "second", "first"] {
            let device = &device;
            scope.spawn(move || device.max_active_blocks(kernel, 128).unwrap());
        }
    });
    let loading = device.loading_seconds();
    assert!(loading > 0.0);
    device.max_active_blocks("first", 64).unwrap();
    assert_eq!(device.loading_seconds(), loading, "it was loaded again");
    let error = device.max_active_blocks("missing", 128).unwrap_err().to_string();
    assert!(error.contains("has no such kernel"), "{error}");
}

/// What the fake takes for machine code, compressed: the header of a 64-bit ELF file without sections, and
/// text.
fn machine_code(device: (u32, u32), text: &str) -> MachineCode {
    let mut elf = vec![0; 64];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    elf.extend_from_slice(text.as_bytes());
    elf.push(0);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&elf).unwrap();
    MachineCode { device, gzip: gzip.finish().unwrap().into() }
}

#[test]
fn machine_code_is_taken_where_it_fits_and_ptx_where_not() {
    if !fake() {
        return;
    }
    let text = ".version 7.8\n.visible .entry scale() { }\n.visible .entry late() { this is broken }";
    let code = ".entry scale(.entry late(";
    let open = |ordinal, machine_code| {
        Driver::open(ordinal, &[PtxImage { machine_code, ..image((8, 0), text) }]).unwrap()
    };

    // Both kernels are in one piece of machine code, and the PTX, of which one is broken, is not translated.
    let device = open(0, vec![machine_code((8, 0), "broken"), machine_code((9, 0), code)]);
    assert!(device.info().machine_code);
    assert_eq!(device.info().ptx_target, "sm_80");
    for kernel in ["scale", "late"] {
        device.max_active_blocks(kernel, 128).unwrap();
    }
    assert!(device.max_active_blocks("missing", 128).is_err());
    // Device 1 has compute capability 8.0.
    assert!(open(1, vec![machine_code((8, 0), code)]).info().machine_code);

    let damaged = MachineCode { device: (9, 0), gzip: b"no gzip".as_slice().into() };
    for unfit in [machine_code((9, 0), "for another device"), damaged, machine_code((10, 0), code)] {
        let device = open(0, vec![unfit]);
        assert!(!device.info().machine_code);
        device.max_active_blocks("scale", 128).unwrap();
        assert!(device.max_active_blocks("late", 128).is_err());
    }
}

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
    // Through the driver alone, exactly one staging buffer, and several with an odd rest.
    let lengths = [1, 4097, (16 << 20) - 1, 16 << 20, (50 << 20) + 13];
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

/// Uploads `value`, does `work` with its address, and returns the bytes that are there then.
fn after(device: &Driver, value: f64, work: impl FnOnce(u64)) -> f64 {
    let address = device.alloc(8).unwrap();
    let mut found = [0; 8];
    // SAFETY: the allocation has one f64; not used afterwards.
    unsafe {
        device.upload(address, &value.to_le_bytes()).unwrap();
        work(address);
        device.download(&mut found, address).unwrap();
        device.free(address);
    }
    f64::from_le_bytes(found)
}

#[test]
fn a_recording_is_carried_out_at_every_replay_and_only_then() {
    if !fake() {
        return;
    }
    let device = open(0);
    let found = after(&device, 1.0, |data| {
        // SAFETY: the callers' memory has one f64, here and below.
        let scale =
            |block, factor, shift| unsafe { device.launch(1, block, &Scale { data, n: 1, factor, shift }) };
        let mut work = || {
            // What another thread queues is carried out now, x = x + 4.
            std::thread::scope(|scope| scope.spawn(|| scale(32, 1.0, 4.0)).join().unwrap())?;
            scale(32, 2.0, 1.0)?;
            scale(64, 3.0, 0.0)
        };
        let graph = device.record_graph(&mut work).unwrap().unwrap();
        assert_eq!((counts(&device).launches, counts(&device).graph_launches), (1, 0));
        // SAFETY: as above.
        let replay = || unsafe { device.replay(&graph) }.unwrap();
        replay();
        scale(32, 1.0, -1.0).unwrap();
        replay();
        // The driver keeps the work that is queued.
        drop(graph);
    });
    assert_eq!(found, (((1.0 + 4.0) * 2.0 + 1.0) * 3.0 - 1.0) * 6.0 + 3.0);
    assert_eq!((counts(&device).launches, counts(&device).graph_launches), (6, 2));
}

#[test]
fn recorded_memory_is_zeroed_at_every_replay() {
    if !fake() {
        return;
    }
    let device = open(0);
    let found = after(&device, 1.0, |data| {
        // SAFETY: the memory has one f64.
        let mut work = || unsafe {
            device.zero(data, 8)?;
            device.launch(1, 32, &Scale { data, n: 1, factor: 2.0, shift: 3.0 })
        };
        let graph = device.record_graph(&mut work).unwrap().unwrap();
        for _ in 0..2 {
            // SAFETY: as above.
            unsafe { device.replay(&graph) }.unwrap();
        }
    });
    assert_eq!(found, 3.0);
}

/// A call that cannot be recorded.
type Refused<'a> = &'a dyn Fn() -> Result<(), Error>;

#[test]
fn what_cannot_be_recorded_fails_and_leaves_no_recording() {
    if !fake() {
        return;
    }
    let device = open(0);
    let found = after(&device, 1.0, |data| {
        // SAFETY: the memory has one f64.
        let scale = || unsafe { device.launch(1, 32, &Scale { data, n: 1, factor: 2.0, shift: 3.0 }) };
        // SAFETY: as above; one byte of another is never reached.
        let refused: [(&str, Refused); 8] = unsafe {
            [
                ("cuMemAlloc(8 bytes)", &|| device.alloc(8).map(drop)),
                ("cuMemAllocHost(8 bytes of", &|| device.alloc_host_visible(8).map(drop)),
                ("cuMemcpyHtoDAsync(3 bytes to", &|| device.upload(data, &[1, 2, 3])),
                ("cuMemcpyDtoHAsync(4 bytes from", &|| device.download(&mut [0; 4], data)),
                ("cuMemcpyDtoDAsync(4 bytes from", &|| device.copy(data + 4, data, 4)),
                ("cuStreamSynchronize failed", &|| device.synchronize()),
                ("cuEventRecord failed", &|| device.record().map(drop)),
                ("cuStreamBeginCapture failed", &|| device.record_graph(&mut || Ok(())).map(drop)),
            ]
        };
        for (call, work) in refused {
            let graph = device.record_graph(&mut || {
                scale()?;
                let error = work().expect_err(call);
                let text = error.to_string();
                assert!(
                    text.starts_with(call) && text.contains("must not allocate, copy, or wait"),
                    "{text}"
                );
                Err(error)
            });
            assert!(graph.unwrap().is_none(), "{call}");
        }
        // SAFETY: not launched.
        let missing = &mut || unsafe { device.launch(1, 32, &Named("spmv_f16")) };
        let error = device.record_graph(missing).err().unwrap().to_string();
        assert!(error.starts_with("cuModuleGetFunction(spmv_f16) failed"), "{error}");
        // From here on work is queued again.
        scale().unwrap();
    });
    assert_eq!(found, 5.0);
    assert_eq!(counts(&device).launches, 1);
}

#[test]
fn old_drivers_record_without_overlap_or_not_at_all() {
    if !fake() {
        return;
    }
    let device = open(0);
    let recorded = |device: &Driver, block| {
        let mut calls = 0;
        let graph = device.record_graph(&mut || {
            calls += 1;
            // SAFETY: never carried out.
            unsafe { device.launch(1, block, &Scale { data: 0, n: 0, factor: 1.0, shift: 0.0 }) }
        });
        (graph.unwrap(), calls)
    };
    // The fake knows no overlap within graphs where blocks have 160 threads, and no graphs where they have
    // 224.
    for (block, some, calls) in [(32, true, 1), (160, true, 2), (224, false, 2)] {
        let found = recorded(&device, block);
        assert_eq!((found.0.is_some(), found.1), (some, calls), "blocks of {block}");
    }
    assert_eq!(counts(&device), Counts::default());

    let (graph, _) = recorded(&device, 32);
    let other = open(0).without_graphs();
    let (none, calls) = recorded(&other, 32);
    assert!(none.is_none() && calls == 0);
    // SAFETY: refused.
    let error = unsafe { other.replay(&graph.unwrap()) }.unwrap_err().to_string();
    assert_eq!(error, "cuGraphLaunch failed: the graph was recorded by another device");
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

/// In a process of its own, since the fake's memory is that of all tests.
#[test]
fn memory_that_is_given_back_is_free_and_is_used_again() {
    const TEST: &str = "memory_that_is_given_back_is_free_and_is_used_again";
    const CHILD: &str = "WARPSOLVE_TEST_POOL";
    if !fake() {
        return;
    }
    if std::env::var_os(CHILD).is_none() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", TEST]).env(CHILD, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
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
