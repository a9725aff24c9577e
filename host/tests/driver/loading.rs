//! Devices, and the kernels that are loaded on them.

use super::*;

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
