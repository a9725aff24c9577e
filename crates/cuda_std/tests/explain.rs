//! What the simulator counts of kernels whose counts are known.

mod common;

use common::{Vector, fault, memory, run, vector};
use cuda_std::atomic::atomic_add_u32;
use cuda_std::sim::{self, KernelReport, Limit, Line, Multiprocessor, Operation, Options, Order, Report};
use cuda_std::warp::{FULL_MASK, lane_id, warp_shuffle_xor};
use cuda_std::{GlobalLoad, GlobalStore, kernel, shared, thread};

/// The report of one kernel.
fn only(report: Report) -> KernelReport {
    let [kernel] = report.kernels.try_into().expect("one kernel ran");
    kernel
}

/// Lines with such an operation.
fn lines(kernel: &KernelReport, operation: Operation) -> Vec<&Line> {
    kernel.lines.iter().filter(|line| line.operation == operation).collect()
}

/// y_i = x_(s i) of elements of `T`
#[kernel(T = [f32, f64])]
unsafe fn gather<T: cuda_std::Real>(n: u32, stride: u32, x: *const T, y: *mut T) {
    let i = thread::index_x();
    if i < n as usize {
        y.st(i, x.ld_nc(stride as usize * i));
    }
}

/// Sectors moved, and the least, of loads and of stores of [`gather`] by two full warps.
fn gathered<T: cuda_std::Real>(stride: u32) -> [(u64, u64); 2] {
    let (x, y) = (aligned::<T>(64 * stride as usize + 1), aligned::<T>(64));
    let memory = memory([&x.0 as _, &y.0 as _]);
    let launch = gather { n: 64, stride, x: x.1, y: y.1 };
    let (result, report) = sim::explain(|| run(&launch, 1, 64, &memory));
    result.unwrap();
    let kernel = only(report);
    [Operation::GlobalLoad, Operation::GlobalStore].map(|operation| {
        let of = lines(&kernel, operation);
        assert_eq!((of.len(), of[0].requests, of[0].threads), (1, 2, 64));
        (of[0].moved, of[0].least)
    })
}

/// Elements, with the address of one at a multiple of 32 bytes.
fn aligned<T: cuda_std::Real>(n: usize) -> (Vector<T>, *mut T) {
    let elements = vector(vec![T::ZERO; n + 8]);
    let ahead = elements.as_ptr().align_offset(32);
    let first = elements.as_mut_ptr().wrapping_add(ahead);
    (elements, first)
}

#[test]
fn sectors_by_stride() {
    assert_eq!(gathered::<f32>(1), [(8, 8), (8, 8)]);
    assert_eq!(gathered::<f32>(2), [(16, 8), (8, 8)]);
    assert_eq!(gathered::<f32>(3), [(24, 8), (8, 8)]);
    assert_eq!(gathered::<f32>(8), [(64, 8), (8, 8)]);
    assert_eq!(gathered::<f32>(0), [(2, 2), (8, 8)]);
    assert_eq!(gathered::<f64>(1), [(16, 16), (16, 16)]);
    assert_eq!(gathered::<f64>(2), [(32, 16), (16, 16)]);
}

/// Moves particles of three coordinates: arrays of structures if `of_structures`, else structures of arrays.
#[kernel]
unsafe fn drift(n: u32, of_structures: u32, x: *mut f32) {
    let (i, n) = (thread::index_x(), n as usize);
    for k in 0..3 {
        let at = if of_structures == 1 { 3 * i + k } else { k * n + i };
        x.st(at, x.ld(at) + 1.0);
    }
}

#[test]
fn arrays_of_structures_take_three_times_the_sectors() {
    for (of_structures, times) in [(1, 3), (0, 1)] {
        let x = aligned::<f32>(3 * 64);
        let launch = drift { n: 64, of_structures, x: x.1 };
        let memory = memory([&x.0 as _]);
        let (result, report) = sim::explain(|| run(&launch, 2, 32, &memory));
        result.unwrap();
        let kernel = only(report);
        for operation in [Operation::GlobalLoad, Operation::GlobalStore] {
            // Two warps, three coordinates of 32 elements, which fill 4 sectors.
            let line = lines(&kernel, operation)[0];
            assert_eq!((line.requests, line.moved, line.least), (6, 6 * 4 * times, 6 * 4));
        }
    }
}

/// Writes and reads shared memory with a stride.
#[kernel]
unsafe fn stride_in_shared(stride: u32, y: *mut u32) {
    let numbers = shared![u32; 2112];
    let i = thread::thread_idx_x() as usize;
    numbers.set(i * stride as usize, i as u32);
    thread::sync_threads();
    y.st(i, numbers.get(i * stride as usize));
}

#[test]
fn bank_conflicts_by_stride() {
    for (stride, wavefronts) in [(1, 1), (2, 2), (3, 1), (8, 8), (32, 32), (33, 1)] {
        let y = vector(vec![0_u32; 32]);
        let launch = stride_in_shared { stride, y: y.as_mut_ptr() };
        let memory = memory([&y as _]);
        let (result, report) = sim::explain(|| run(&launch, 1, 32, &memory));
        result.unwrap();
        let kernel = only(report);
        // Every element has 4 bytes, as in PTX.
        assert_eq!(kernel.shared_bytes, 2112 * 4);
        for operation in [Operation::SharedLoad, Operation::SharedStore] {
            let line = lines(&kernel, operation)[0];
            assert_eq!((line.requests, line.moved, line.least), (1, wavefronts, 1), "stride {stride}");
        }
    }
}

/// y = x^T of 32 x 32, through a tile whose rows have `width` places.
#[kernel]
unsafe fn transpose(width: u32, x: *const f32, y: *mut f32) {
    let tile = shared![f32; 1056];
    let (i, j, width) = (thread::thread_idx_y() as usize, thread::thread_idx_x() as usize, width as usize);
    tile.set(i * width + j, x.ld_nc(i * 32 + j));
    thread::sync_threads();
    y.st(i * 32 + j, tile.get(j * width + i));
}

#[test]
fn a_padded_transpose_has_no_conflicts() {
    for (width, wavefronts) in [(32, 32 * 32), (33, 32)] {
        let (x, y) = (aligned::<f32>(1024), aligned::<f32>(1024));
        let launch = transpose { width, x: x.1, y: y.1 };
        let memory = memory([&x.0 as _, &y.0 as _]);
        let options = Options::default();
        let (result, report) = sim::explain(|| sim::run(&launch, 1, (32, 32), &memory, &options));
        result.unwrap();
        let kernel = only(report);
        assert_eq!(lines(&kernel, Operation::SharedLoad)[0].moved, wavefronts);
        assert_eq!(lines(&kernel, Operation::SharedStore)[0].moved, 32);
        let global = kernel.total(|operation| !operation.is_shared());
        assert_eq!((global.moved, global.least), (2 * 32 * 4, 2 * 32 * 4));
        assert_eq!(kernel.total(Operation::is_shared).least, 2 * 32);
    }
}

/// y_i = sum of row i, a thread a row
#[kernel]
unsafe fn sum_rows(n: u32, row_ptr: *const u32, values: *const f32, y: *mut f32) {
    let i = thread::index_x();
    if i < n as usize {
        let mut sum = 0.0;
        for k in row_ptr.ld_nc(i)..row_ptr.ld_nc(i + 1) {
            sum += values.ld_nc(k as usize);
        }
        y.st(i, sum);
    }
}

#[test]
fn rounds_of_loops_are_taken_together() {
    // Rows of 0, 1, 2, 3, 0, 1, 2, 3, .. entries: three rounds with 24, 16 and 8 lanes.
    let row_ptr: Vec<u32> = (0..=32).map(|i| i / 4 * 6 + [0, 0, 1, 3][i as usize % 4]).collect();
    let (values, y) = (vec![1.0_f32; 48], vector(vec![0.0_f32; 32]));
    let launch = sum_rows { n: 32, row_ptr: row_ptr.as_ptr(), values: values.as_ptr(), y: y.as_mut_ptr() };
    let memory = memory([&row_ptr as _, &values as _, &y as _]);
    let (result, report) = sim::explain(|| run(&launch, 1, 32, &memory));
    result.unwrap();
    let kernel = only(report);
    let loads = lines(&kernel, Operation::GlobalLoad);
    let counts: Vec<(u64, u64)> = loads.iter().map(|line| (line.requests, line.threads)).collect();
    assert_eq!(counts, [(1, 32), (1, 32), (3, 48)]);
    // Empty rows part from the others at the second load, shorter ones after each round but the last.
    let partings: Vec<u64> = loads.iter().map(|line| line.partings).collect();
    assert_eq!(partings, [0, 1, 2]);
    assert_eq!(lines(&kernel, Operation::GlobalStore)[0].requests, 1);
}

/// Odd lanes write, and then all of them add up.
#[kernel]
unsafe fn halves(y: *mut u32) {
    let lane = lane_id();
    if lane % 2 == 1 {
        y.st(lane as usize, lane);
    }
    let other = warp_shuffle_xor(FULL_MASK, lane, 1, 32);
    y.st(32 + lane as usize, other);
}

#[test]
fn branches_part_a_warp() {
    let y = vector(vec![0_u32; 64]);
    let memory = memory([&y as _]);
    let (result, report) = sim::explain(|| run(&halves { y: y.as_mut_ptr() }, 3, 32, &memory));
    result.unwrap();
    let kernel = only(report);
    // At the start of each of the three blocks.
    assert_eq!(lines(&kernel, Operation::Start)[0].partings, 3);
    assert_eq!(kernel.total(|_| true).partings, 3);
    let stores = lines(&kernel, Operation::GlobalStore);
    assert_eq!((stores[0].requests, stores[0].threads), (3, 48));
    assert_eq!((stores[1].requests, stores[1].threads), (3, 96));
}

/// Counts numbers by their remainder.
#[kernel]
unsafe fn count(modulus: u32, own: u32, counts: *mut u32) {
    let shared = shared![u32; 32];
    let i = thread::thread_idx_x();
    shared.set(i as usize, 0);
    thread::sync_threads();
    if own == 1 {
        shared.add((i % modulus) as usize, 1);
    } else {
        atomic_add_u32(counts.add((i % modulus) as usize), 1);
    }
}

#[test]
fn atomic_operations_collide() {
    for (modulus, collisions) in [(1, 31), (2, 30), (16, 16), (32, 0)] {
        let counts = vector(vec![0_u32; 32]);
        let memory = memory([&counts as _]);
        for (own, operation) in [(0, Operation::GlobalAtomic), (1, Operation::SharedAtomic)] {
            let launch = count { modulus, own, counts: counts.as_mut_ptr() };
            let (result, report) = sim::explain(|| run(&launch, 1, 32, &memory));
            result.unwrap();
            let kernel = only(report);
            let line = lines(&kernel, operation)[0];
            assert_eq!((line.requests, line.collisions), (1, collisions));
            if own == 1 {
                assert_eq!((line.moved, line.least), (32 / u64::from(modulus), 1));
            }
        }
    }
}

#[test]
fn launches_add_up_and_places_are_lines_of_this_file() {
    let y = vector(vec![0_u32; 64]);
    let memory = memory([&y as _]);
    let launch = halves { y: y.as_mut_ptr() };
    let (_, report) = sim::explain(|| {
        run(&launch, 1, 32, &memory).unwrap();
        run(&launch, 2, 32, &memory).unwrap();
    });
    let kernel = only(report);
    assert_eq!((kernel.name, kernel.launches), ("halves", 2));
    let text = include_str!("explain.rs");
    for (line, code) in lines(&kernel, Operation::GlobalStore).into_iter().zip(["y.st(lane", "y.st(32"]) {
        let place = line.place.unwrap();
        assert!(place.file().ends_with("explain.rs"));
        assert!(text.lines().nth(place.line() as usize - 1).unwrap().contains(code));
    }
    // Nothing is counted when nobody asks.
    run(&launch, 1, 32, &memory).unwrap();
    assert_eq!(sim::explain(|| ()).1, Report::default());
}

#[test]
fn a_report_is_a_table() {
    let y = vector(vec![0_u32; 32]);
    let memory = memory([&y as _]);
    let launch = stride_in_shared { stride: 2, y: y.as_mut_ptr() };
    let (_, report) = sim::explain(|| run(&launch, 1, 32, &memory).unwrap());
    let text = report.to_string();
    let head = "stride_in_shared: 1 launch, blocks of 32 threads, 8448 bytes of shared memory";
    assert!(text.starts_with(head), "{text}");
    let words = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
    let load = text.lines().find(|line| line.contains("shared load")).unwrap();
    assert_eq!(words(load)[1..], ["shared", "load", "1", "32.0", "2", "1", "2.00", "times", "the", "least"]);
}

#[test]
fn occupancy_of_a_kernel() {
    let y = vector(vec![0_u32; 32]);
    let memory = memory([&y as _]);
    let launch = stride_in_shared { stride: 1, y: y.as_mut_ptr() };
    let (_, report) = sim::explain(|| run(&launch, 1, 32, &memory).unwrap());
    let occupancy = only(report).occupancy(40, &Multiprocessor::of((9, 0)).unwrap());
    assert_eq!((occupancy.blocks, occupancy.warps, occupancy.most_warps), (24, 24, 64));
    assert_eq!(occupancy.limit, Limit::SharedMemory);
}

/// Each block takes the sum so far from the block before it: wrong, and right if blocks go in order.
#[kernel]
unsafe fn in_order(sums: *mut u32) {
    let block = thread::block_idx_x() as usize;
    let before = if block == 0 { 0 } else { sums.ld(block - 1) };
    sums.st(block, before + 1);
}

#[test]
fn a_shuffled_order_finds_what_relies_on_one() {
    let sums = |order| {
        let sums = vector(vec![0_u32; 16]);
        let memory = memory([&sums as _]);
        let options = Options { order, ..Options::default() };
        sim::run(&in_order { sums: sums.as_mut_ptr() }, 16, 1, &memory, &options).unwrap();
        sums.to_vec()
    };
    let ascending: Vec<u32> = (1..=16).collect();
    assert_eq!(sums(Order::Ascending), ascending);
    assert_ne!(sums(Order::Shuffled(1)), ascending);
    assert_eq!(sums(Order::Shuffled(1)), sums(Order::Shuffled(1)));
    assert_eq!(sums(Order::Descending), [1; 16]);
}

#[test]
fn a_fault_ends_a_launch_that_is_explained() {
    let y = vector(vec![0_u32; 3]);
    let memory = memory([&y as _]);
    let ((block, thread, _), report) = sim::explain(|| fault(&halves { y: y.as_mut_ptr() }, 1, 32, &memory));
    assert_eq!((block, thread), (0, 3));
    assert_eq!(only(report).launches, 1);
}

/// y_i = x_i for odd i, 0 otherwise: the value of a store is loaded by some lanes alone.
#[kernel]
unsafe fn odd(x: *const f32, y: *mut f32) {
    let i = thread::index_x();
    y.st(i, if i % 2 == 1 { x.ld(i) } else { 0.0 });
}

#[test]
fn lanes_meet_again_at_the_store_of_a_line() {
    let (x, y) = (aligned::<f32>(64), aligned::<f32>(64));
    let memory = memory([&x.0 as _, &y.0 as _]);
    let (result, report) = sim::explain(|| run(&odd { x: x.1, y: y.1 }, 1, 64, &memory));
    result.unwrap();
    let kernel = only(report);
    let [load, store] = [Operation::GlobalLoad, Operation::GlobalStore].map(|it| lines(&kernel, it)[0]);
    assert_eq!((load.requests, load.threads, store.requests, store.threads), (2, 32, 2, 64));
}
