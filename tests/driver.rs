//! The CUDA driver on a real GPU, with the embedded kernels. Skipped where there is none.
//!
//! host/tests/driver goes through the same calls and their failures on every machine.

mod gpu;

use gpu_kernels::blas1::{axpby, fill};
use gpu_kernels::coefficient::Coefficient;
use gpu_kernels::monitor::Guard;
use std::process::Command;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::Instant;
use warpsolve::backend::prelude::*;
use warpsolve::cust::context::CurrentContext;
use warpsolve::cust::memory::DeviceBuffer;
use warpsolve::precond::amg::DeviceCsr;
use warpsolve::ptx::PTX;
use warpsolve_host::backend::gpu::{Argument, DeviceVector, Gpu};
use warpsolve_host::launch::driver::{self, Driver, PtxImage};
use warpsolve_host::launch::{Address, Counts, Launch};
use warpsolve_host::matrix::{AnyMatrix, Format};
use warpsolve_host::precond::{Identity, Jacobi, Preconditioner};
use warpsolve_host::problem::generate;
use warpsolve_host::solver::{Bicgstab, Cg, IterativeSolver, JacobiIteration, Outcome, Stop, StopReason};
use warpsolve_host::{Error, Result};

#[allow(dead_code)]
#[path = "../examples/device_memory.rs"]
mod device_memory;
#[allow(dead_code)]
#[path = "../examples/native_cuda.rs"]
mod native_cuda;

/// Bytes without a period that could hide a misplaced piece.
fn noise(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8).collect()
}

fn constant(scale: f64) -> Coefficient<f64> {
    Coefficient { scale, num: [null(); 2], den: [null(); 2] }
}

const UNGUARDED: Guard = Guard { state: null_mut(), mirror: null_mut() };

/// z = a x + b y
fn axpby_of(n: usize, a: f64, x: Address, b: f64, y: Address, z: Address) -> axpby<f64> {
    axpby {
        n: n as u64,
        a: constant(a),
        x: x as *const f64,
        b: constant(b),
        y: y as *const f64,
        z: z as *mut f64,
        guard: UNGUARDED,
    }
}

fn upload(device: &Driver, values: &[f64]) -> Address {
    let address = device.alloc(size_of_val(values)).unwrap();
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    // SAFETY: the allocation is as long as the values.
    unsafe { device.upload(address, &bytes) }.unwrap();
    address
}

fn download(device: &Driver, n: usize, address: Address) -> Vec<f64> {
    let mut bytes = vec![0xEE; 8 * n];
    // SAFETY: the callers' allocations have n values.
    unsafe { device.download(&mut bytes, address) }.unwrap();
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

#[cfg(feature = "cli")]
#[test]
fn the_program_starts_without_a_driver() {
    // What ldd does: the dynamic linker lists what the program needs to start, and runs nothing.
    let mut program = Command::new(env!("CARGO_BIN_EXE_warpsolve"));
    let output = program.env("LD_TRACE_LOADED_OBJECTS", "1").output().unwrap();
    let needed = String::from_utf8_lossy(&output.stdout);
    assert!(needed.contains("libc.so"), "{needed}");
    assert!(!needed.contains("libcuda"), "{needed}");
}

#[test]
fn the_device_is_described() {
    let Some(device) = gpu::driver() else { return };
    let info = device.info();
    println!("{info:?}");
    assert!(!info.name.is_empty() && info.total_memory > 1 << 30 && info.multiprocessors > 0);
    assert!(info.compute_capability >= (7, 0) && info.l2_bytes > 0);
    assert!(PTX.iter().any(|p| format!("sm_{}{}", p.target.0, p.target.1) == info.ptx_target));
    assert_eq!(driver::driver_version().unwrap(), info.driver_version);
    let listed = &driver::devices().unwrap()[0];
    assert_eq!((&listed.name, listed.total_memory), (&info.name, info.total_memory));
    let (free, total) = device.memory().unwrap();
    assert!(0 < free && free <= total && total <= info.total_memory, "{free} of {total}");
}

#[test]
fn copies_arrive_in_order_and_are_counted() {
    let Some(device) = gpu::driver() else { return };
    // Through the driver alone, one staging buffer exactly, and several with an odd rest.
    let lengths = [1, 4097, (16 << 20) - 1, 16 << 20, (100 << 20) + 13];
    for length in lengths {
        let before = device.counters().snapshot();
        let source = noise(length);
        let mut found = vec![0xEE_u8; length];
        let (a, b) = (device.alloc(length).unwrap(), device.alloc(length).unwrap());
        assert_eq!((a % 256, b % 256), (0, 0));
        // SAFETY: both allocations have `length` bytes.
        unsafe {
            device.upload(a, &source).unwrap();
            device.copy(b, a, length).unwrap();
            device.zero(a, length).unwrap();
            device.download(&mut found, b).unwrap();
        }
        assert!(found == source, "{length} bytes changed on the way");
        // SAFETY: as above.
        unsafe { device.download(&mut found, a) }.unwrap();
        assert!(found.iter().all(|&byte| byte == 0), "{length} bytes were not zeroed");
        let held = device.counters().snapshot();
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
        assert_eq!(device.counters().snapshot().allocated_bytes, 0);
    }
}

#[test]
fn a_kernel_computes_what_its_source_says() {
    let Some(device) = gpu::driver() else { return };
    let n = 100_003;
    let x: Vec<f64> = (0..n).map(|i| 0.25 * i as f64 - 1000.5).collect();
    let y: Vec<f64> = (0..n).map(|i| 3.0 / (i as f64 + 1.0)).collect();
    let (x_device, y_device) = (upload(&device, &x), upload(&device, &y));
    let z_device = upload(&device, &vec![f64::NAN; n]);
    let kernel = axpby_of(n, 1.5, x_device, -2.0, y_device, z_device);
    // Launched from another thread, on fewer threads than there are elements.
    std::thread::scope(|scope| {
        // SAFETY: the three vectors have n elements.
        scope.spawn(|| unsafe { device.launch(13, 256, &kernel).unwrap() });
    });
    let z = download(&device, n, z_device);
    for i in 0..n {
        // One fused multiply-add of the rounded product.
        assert_eq!(z[i], (-2.0_f64).mul_add(y[i], 1.5 * x[i]), "element {i}");
    }
    assert_eq!(device.counters().snapshot().launches, 1);
    for address in [x_device, y_device, z_device] {
        // SAFETY: not used afterwards.
        unsafe { device.free(address) };
    }
}

#[test]
fn every_kernel_takes_a_block_without_spilling() {
    let Some(device) = gpu::driver() else { return };
    let entries = PTX[0].text.lines().filter_map(|line| {
        let name = line.split(".entry ").nth(1)?;
        Some(name.trim_end_matches('('))
    });
    let mut count = 0;
    for name in entries {
        let taken = device.kernel_attributes(name).unwrap().unwrap();
        let blocks = device.max_active_blocks(name, gpu_kernels::BLOCK).unwrap();
        println!("{name}: {taken:?}, {blocks} blocks of {} a multiprocessor", gpu_kernels::BLOCK);
        assert!(taken.registers > 0 && taken.max_threads >= gpu_kernels::BLOCK && blocks > 0, "{name}");
        assert_eq!(taken.local_bytes, 0, "{name} spills");
        count += 1;
    }
    assert!(count > 1, "no entries found");
}

#[test]
fn the_host_reads_what_a_kernel_writes_to_host_visible_memory() {
    let Some(device) = gpu::driver() else { return };
    let n = 37;
    let address = device.alloc_host_visible(8 * n).unwrap();
    let values = address as *mut f64;
    // SAFETY: the allocation has n elements; the host reads after waiting for the kernel.
    unsafe {
        for i in 0..n {
            values.add(i).write(f64::NAN);
        }
        let x = values;
        device.launch(1, 64, &fill::<f64> { n: n as u64, value: -0.375, x, guard: UNGUARDED }).unwrap();
        device.synchronize().unwrap();
        for i in 0..n {
            assert_eq!(values.add(i).read_volatile(), -0.375, "element {i}");
        }
        device.free(address);
    }
}

#[test]
fn events_measure_the_device_and_copies_use_the_bus() {
    let Some(device) = gpu::driver() else { return };
    let length = 256 << 20;
    let source = noise(length);
    let mut found = vec![1_u8; length];
    let address = device.alloc(length).unwrap();
    let gigabytes = |seconds: f64| length as f64 / seconds * 1e-9;
    // The first round also pays for the staging buffers.
    for round in 0..2 {
        let clock = Instant::now();
        let start = device.record().unwrap();
        // SAFETY: the allocation has `length` bytes.
        unsafe { device.upload(address, &source) }.unwrap();
        let end = device.record().unwrap();
        let seconds = device.elapsed(&start, &end).unwrap();
        let wall = clock.elapsed().as_secs_f64();
        assert!(0.0 < seconds && seconds <= wall, "{seconds} s on the device, {wall} s on the host");
        let clock = Instant::now();
        // SAFETY: as above.
        unsafe { device.download(&mut found, address) }.unwrap();
        let back = clock.elapsed().as_secs_f64();
        println!("round {round}: {:.1} GB/s up, {:.1} GB/s down", gigabytes(seconds), gigabytes(back));
    }
    assert!(found == source);
    // SAFETY: not used afterwards.
    unsafe { device.free(address) };
}

#[test]
fn memory_that_does_not_fit_is_refused_with_figures() {
    let Some(device) = gpu::driver() else { return };
    let (_, total) = device.memory().unwrap();
    let error = device.alloc(total as usize + (1 << 20)).unwrap_err();
    let Error::DeviceMemory { needed, free, .. } = &error else { panic!("{error}") };
    assert!(*needed == total + (1 << 20) && *free <= total, "{error}");
    // The device goes on.
    let address = device.alloc(13).unwrap();
    // SAFETY: not used afterwards.
    unsafe { device.free(address) };
}

#[test]
fn memory_is_given_back_without_waiting_and_used_again() {
    let Some(device) = gpu::driver() else { return };
    let (free, total) = device.memory().unwrap();
    let bytes = free as usize / 4;
    // More than there is, were nothing given back.
    for _ in 0..100 {
        let address = device.alloc(bytes).unwrap();
        // SAFETY: within the allocation; not used afterwards.
        unsafe {
            device.zero(address, 1 << 20).unwrap();
            device.free(address);
        }
    }
    let (now, _) = device.memory().unwrap();
    println!("{free} bytes free before and {now} afterwards, of {total}");
    assert!(now <= total && now > free - free / 8, "{free} before, {now} afterwards");
    // Neither of them fits into the piece that was given back, and both do only where that is returned.
    for share in [2, 3] {
        let address = device.alloc(free as usize / 4 * share).unwrap();
        // SAFETY: not used afterwards.
        unsafe { device.free(address) };
    }
}

/// The inverse diagonal, without telling solvers that it is one.
struct Opaque(Jacobi<DeviceVector<f64>>);

impl Preconditioner<f64, Gpu> for Opaque {
    fn apply(&mut self, g: &Gpu, r: &DeviceVector<f64>, z: &mut DeviceVector<f64>) -> Result<()> {
        self.0.apply(g, r, z)
    }
}

/// Outcome, x and graphs launched of at most this many iterations with a matrix of 13824 rows.
fn solved(device: Driver, method: &str, max_iterations: u32) -> (Outcome, Vec<f64>, u64) {
    let gpu = Gpu::new(Arc::new(device)).unwrap();
    let a = Arc::new(generate(&"poisson3d:24".parse().unwrap(), 0).unwrap());
    let n = a.n_rows();
    let matrix = gpu.matrix(&Arc::new(AnyMatrix::from_csr(&a, Format::Sell, 1).unwrap())).unwrap();
    let jacobi = Jacobi::setup(&gpu, &a).unwrap();
    let mut m: Box<dyn Preconditioner<f64, Gpu>> = match method {
        "cg" => Box::new(Identity),
        "cg with a preconditioner" | "bicgstab" => Box::new(Opaque(jacobi)),
        _ => Box::new(jacobi),
    };
    let mut solver: Box<dyn IterativeSolver<f64, Gpu>> = match method {
        "bicgstab" => Box::new(Bicgstab::new(&gpu, n).unwrap()),
        "jacobi" => Box::new(JacobiIteration::new(&gpu, &a, 0.8).unwrap()),
        _ => Box::new(Cg::new(&gpu, n, &*m).unwrap()),
    };
    let b: Vec<f64> = (0..n).map(|i| 1.0 + 0.125 * (i % 7) as f64).collect();
    let (b, mut x) = (gpu.vector(&b).unwrap(), gpu.zeros(n).unwrap());
    let stop = Stop { max_iterations, rtol: 1e-3, atol: 0.0 };
    let outcome = solver.solve(&gpu, &matrix, &mut *m, &b, &mut x, &stop, &mut |_, _| ()).unwrap();
    let graphs = gpu.device().counters().snapshot().graph_launches;
    (outcome, gpu.to_host(&x).unwrap(), graphs)
}

#[test]
fn recorded_iterations_have_the_same_bits_and_stop_at_the_same_one() {
    for method in ["cg", "cg with the diagonal", "cg with a preconditioner", "bicgstab", "jacobi"] {
        for max_iterations in [0, 1, 2, 3, 4, 5, 8, 5000] {
            let (Some(recording), Some(queueing)) = (gpu::driver(), gpu::driver()) else { return };
            let (outcome, x, graphs) = solved(recording, method, max_iterations);
            let (expected, expected_x, none) = solved(queueing.without_graphs(), method, max_iterations);
            assert_eq!(outcome, expected, "{method}, {max_iterations} iterations");
            assert!(x == expected_x, "{method}, {max_iterations} iterations: x differs");
            assert_eq!(none, 0);
            if max_iterations == 5000 {
                println!("{method}: {} iterations, {graphs} graphs", outcome.iterations);
                assert_eq!(outcome.reason, StopReason::Converged, "{method}");
                assert!(graphs > 0, "{method} recorded nothing");
            }
        }
    }
}

#[test]
fn a_kernel_in_cuda_takes_turns_with_those_in_rust() {
    let Some(device) = gpu::driver() else { return };
    // Every launch is counted where none is recorded.
    let gpu = Gpu::new(Arc::new(device.without_graphs())).unwrap();
    let a = generate(&"tet:11".parse().unwrap(), 3).unwrap();
    let b: Vec<f64> = (0..a.n_rows()).map(|i| (0.37 * i as f64).sin() + 0.5).collect();
    let launches = gpu.device().counters().snapshot().launches;
    let [(native, k), (rust, l)] = native_cuda::compare(&gpu, &a, &b).unwrap();
    // A product, an update and a direction at least, of both runs.
    let launches = gpu.device().counters().snapshot().launches - launches;
    assert!(launches > u64::from(3 * (k + l)), "{launches} launches for {k} and {l} iterations");
    assert!(k.abs_diff(l) <= 1, "{k} and {l} iterations");
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    for x in [native, rust] {
        let r: Vec<f64> = a.mul_vec(&x).iter().zip(&b).map(|(y, b)| b - y).collect();
        assert!(norm(&r) < 2e-8 * norm(&b), "{}", norm(&r) / norm(&b));
    }
    // What is no module, no kernel, or no launch is an error.
    assert!(gpu.attach(&[0xFF, 0xFE, 0x00]).is_err());
    assert!(gpu.attach(b"no ptx").is_err());
    let module = gpu.attach(include_bytes!("../examples/native_cuda/linear_operator.ptx")).unwrap();
    // The driver reads them before it looks at the block.
    let arguments = [[Argument::U32(0); 3].as_slice(), &[Argument::Pointer(0); 4]].concat();
    // SAFETY: there is no such kernel, and no such block: nothing runs.
    let refused = unsafe {
        [
            module.launch("nothing", [1; 3], [1; 3], 0, &[]).err(),
            module.launch("linear_operator_sr", [1; 3], [4096, 1, 1], 0, &arguments).err(),
        ]
    };
    assert!(refused.iter().all(Option::is_some), "{refused:?}");
}

#[test]
fn a_system_in_device_memory_is_solved_there() {
    let Some(device) = gpu::driver() else { return };
    let gpu = Gpu::new(Arc::new(device)).unwrap();
    let before = gpu.device().counters().snapshot();
    let outcome = device_memory::check(&gpu).unwrap();
    let counts = gpu.device().counters().snapshot().since(&before);
    println!("{} iterations, {} bytes downloaded", outcome.iterations, counts.downloaded_bytes);
    assert_eq!(outcome.reason, StopReason::Converged);
    // The coarsest matrix and scalars of the set-up; a vector has 720,000 bytes.
    assert!(counts.downloaded_bytes < 100_000 && counts.uploaded_bytes < 100_000, "{counts:?}");

    CurrentContext::set_current(&gpu.cuda().unwrap().context).unwrap();
    let buffer = |values: &[u32]| DeviceBuffer::from_slice(values).unwrap();
    let values = DeviceBuffer::from_slice(&[1.0; 3]).unwrap();
    let wrong = DeviceCsr::adopt(&gpu, 2, buffer(&[0, 2, 3]), buffer(&[0, 1, 7]), values);
    let error = wrong.err().unwrap().to_string();
    assert!(error.contains("row 2: column 8 of 2"), "{error}");
}

/// As machine code where there is some for the device, and as PTX.
#[test]
fn every_kernel_loads() {
    let Some(device) = gpu::driver() else { return };
    let target = PTX.iter().find(|p| format!("sm_{}{}", p.target.0, p.target.1) == device.info().ptx_target);
    let ptx_alone = PtxImage { machine_code: Vec::new(), ..target.unwrap().image() };
    let from_ptx = Driver::open(0, &[ptx_alone]).unwrap();
    assert!(!from_ptx.info().machine_code);
    for device in [device, from_ptx] {
        let how = if device.info().machine_code { "machine code" } else { "PTX" };
        let names = gpu_kernels::entries();
        for &name in &names {
            let attributes = device.kernel_attributes(name).unwrap().unwrap();
            assert_eq!(attributes.local_bytes, 0, "{name}");
        }
        let seconds = device.loading_seconds();
        println!("{} kernels loaded from {how} in {seconds:.3} s", names.len());
        for &name in &names {
            device.kernel_attributes(name).unwrap();
        }
        assert_eq!(device.loading_seconds(), seconds, "a kernel was loaded again");
    }
}

/// A fault ends the use of its process's device, so that it gets a process of its own.
#[test]
fn a_fault_names_the_kernel() {
    const CHILD: &str = "WARPSOLVE_TEST_FAULT";
    let Some(device) = gpu::driver() else { return };
    if std::env::var_os(CHILD).is_some() {
        // SAFETY: none. Nothing is at address 8, which the device must report.
        unsafe { device.launch(3, 64, &axpby_of(192, 1.0, 8, 1.0, 8, 8)).unwrap() };
        println!("reported: {}", device.synchronize().unwrap_err());
        return;
    }
    drop(device);
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "a_fault_names_the_kernel", "--nocapture"]).env(CHILD, "1");
    let output = child.output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout);
    let report = output.lines().find(|line| line.contains("reported: ")).expect(&output);
    for part in ["CUDA_ERROR_ILLEGAL_ADDRESS", "axpby", "(3 blocks of 64)"] {
        assert!(report.contains(part), "{part:?} is not in {report:?}");
    }
}
