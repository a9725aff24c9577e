//! Blocks at the same time, by turns: what they do to each other, and what nobody comes to do.

mod common;

use common::{memory, vector};
use cuda_std::atomic::{AtomicU32, BlockAtomicU32, Ordering};
use cuda_std::host::Configuration;
use cuda_std::sim::{self, FaultKind, Options, Order};
use cuda_std::{GlobalLoad, GlobalStore, cluster, kernel, shared, thread};

/// count += 1 in each block, by a load and a store.
#[kernel]
unsafe fn count_in_two_steps(count: *mut u32) {
    if thread::thread_idx_x() == 0 {
        count.st_volatile(0, count.ld_volatile(0) + 1);
    }
}

/// The same in one.
#[kernel]
unsafe fn count_in_one_step(count: *const AtomicU32) {
    if thread::thread_idx_x() == 0 {
        (*count).fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_kernel_that_is_wrong_when_blocks_interleave_fails() {
    let count = vector(vec![0_u32]);
    let memory = memory([&count as _]);
    let two_steps = count_in_two_steps { count: count.as_mut_ptr() };
    let one_step = count_in_one_step { count: count.as_ptr().cast() };
    let counted = |kernel: &dyn cuda_std::host::Kernel, options: &Options| {
        // SAFETY: no kernel runs.
        unsafe { *count.as_mut_ptr() = 0 };
        sim::run(kernel, 100, 33, &memory, options).unwrap();
        count[0]
    };
    for order in [Order::Ascending, Order::Descending, Order::Shuffled(1), Order::Shuffled(2)] {
        let options = Options { order, ..Options::DEFAULT };
        assert_eq!(counted(&two_steps, &options), 100);
        let options = Options { blocks_at_once: 4, ..options };
        let found = counted(&two_steps, &options);
        assert!(found < 100);
        assert_eq!(counted(&two_steps, &options), found, "the same in every run");
        assert_eq!(counted(&one_step, &options), 100);
    }
}

/// Each block turns its part of x round, with barriers and an atomic count of elements.
#[kernel]
unsafe fn turn(x: *mut f64, count: *const AtomicU32) {
    let (tile, t, i) = (shared![f64; 64], thread::thread_idx_x() as usize, thread::index_x());
    tile.set(t, x.ld(i));
    thread::sync_threads();
    x.st(i, tile.get(63 - t));
    (*count).fetch_add(1, Ordering::Relaxed);
}

#[test]
fn blocks_keep_their_own_barriers_and_shared_memory() {
    let numbers: Vec<f64> = (0..64 * 7).map(|i| f64::from(i) * 0.37).collect();
    for (blocks_at_once, races) in [(2, false), (3, true), (100, true)] {
        let (x, count) = (vector(numbers.clone()), vector(vec![0_u32]));
        let launch = turn { x: x.as_mut_ptr(), count: count.as_ptr().cast() };
        let options = Options { blocks_at_once, races, order: Order::Shuffled(5), ..Options::DEFAULT };
        let memory = memory([&x as _, &count as _]);
        let (result, report) = sim::explain(|| sim::run(&launch, 7, 64, &memory, &options));
        result.unwrap();
        assert_eq!(count[0], 64 * 7);
        let turned = numbers.chunks(64).flat_map(|part| part.iter().rev().copied());
        assert_eq!(*x, turned.collect::<Vec<_>>());
        let loads = report.kernels[0].total(|it| it == sim::Operation::GlobalLoad);
        assert_eq!((loads.requests, loads.threads), (14, 64 * 7));
    }
}

/// x_b = the rank of the other block of its cluster, by its shared memory.
#[kernel(needs = sm_90)]
unsafe fn neighbours(x: *mut u32) {
    let own = shared![u32; 1];
    own.set(0, cluster::block_rank());
    cluster::sync();
    let other = cluster::map_shared_rank(own, 1 - cluster::block_rank()).get(0);
    x.st(thread::block_idx_x() as usize, other);
    cluster::sync();
}

#[test]
fn clusters_interleave() {
    let x = vector(vec![7_u32; 8]);
    let configuration = Configuration { cluster: 2.into(), ..Configuration::new(8, 1) };
    let options = Options { blocks_at_once: 3, races: true, ..Options::DEFAULT };
    let launch = neighbours { x: x.as_mut_ptr() };
    sim::run_configured(&launch, configuration, &memory([&x as _]), &options).unwrap();
    assert_eq!(*x, [1, 0, 1, 0, 1, 0, 1, 0]);
}

/// Block 0 waits for block 1.
#[kernel]
unsafe fn wait_for_the_next(flag: *const AtomicU32) {
    match thread::block_idx_x() {
        0 => while (*flag).load(Ordering::Acquire) == 0 {},
        _ => (*flag).store(1, Ordering::Release),
    }
}

#[test]
fn a_thread_that_waits_for_ever_is_named() {
    let flag = vector(vec![0_u32]);
    let memory = memory([&flag as _]);
    let launch = wait_for_the_next { flag: flag.as_ptr().cast() };
    let options = Options { patience: 1000, ..Options::DEFAULT };
    let fault = sim::run(&launch, 2, 1, &memory, &options).unwrap_err();
    assert_eq!((fault.block, fault.thread), (0, 0));
    assert_eq!(fault.kind, FaultKind::Endless { accesses: 1000 });
    let text = fault.to_string();
    assert!(text.starts_with("kernel wait_for_the_next, block 0, thread 0: 1000 accesses"), "{text}");
    assert!(text.contains("interleaved.rs:"), "{text}");
    // It does not where both run.
    sim::run(&launch, 2, 1, &memory, &Options { blocks_at_once: 2, ..options }).unwrap();
}

/// Adds by an atomic operation for the block alone.
#[kernel]
unsafe fn add_for_the_block(sum: *const BlockAtomicU32) {
    (*sum).fetch_add(1, Ordering::Relaxed);
}

#[test]
fn the_scope_of_a_block_is_too_small_for_two() {
    let sum = vector(vec![0_u32]);
    let memory = memory([&sum as _]);
    let launch = add_for_the_block { sum: sum.as_ptr().cast() };
    let options = Options { races: true, ..Options::DEFAULT };
    sim::run(&launch, 1, 64, &memory, &options).unwrap();
    let fault = sim::run(&launch, 2, 64, &memory, &options).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::ScopeRace { other_block: 0, .. }), "{fault}");
    assert!(fault.to_string().contains("not atomic for others"), "{fault}");
    assert_eq!(fault.block, 1);
}

/// Needs 400 KiB of stack.
#[kernel]
unsafe fn large_array(sum: *mut u32) {
    let numbers = std::hint::black_box([1_u32; 100_000]);
    sum.st(0, numbers.iter().sum());
}

#[test]
fn stacks_can_be_larger() {
    let sum = vector(vec![0_u32]);
    let options = Options { stack_bytes: 1 << 20, ..Options::DEFAULT };
    let launch = large_array { sum: sum.as_mut_ptr() };
    sim::run(&launch, 2, 3, &memory([&sum as _]), &options).unwrap();
    assert_eq!(sum[0], 100_000);
    // Other launches on this thread have stacks of their own size again.
    let count = vector(vec![0_u32]);
    let launch = count_in_one_step { count: count.as_ptr().cast() };
    sim::run(&launch, 2, 3, &memory([&count as _]), &Options::DEFAULT).unwrap();
}

/// What the test below runs in a process of its own.
#[test]
#[ignore = "ends the process"]
fn a_stack_that_is_too_small() {
    let sum = vector(vec![0_u32]);
    let launch = large_array { sum: sum.as_mut_ptr() };
    let _ = sim::run(&launch, 2, 3, &memory([&sum as _]), &Options::DEFAULT);
}

#[cfg(unix)]
#[test]
fn who_needs_a_larger_stack_is_named() {
    let arguments = ["--exact", "a_stack_that_is_too_small", "--ignored", "--nocapture"];
    let output =
        std::process::Command::new(std::env::current_exe().unwrap()).args(arguments).output().unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("kernel large_array, block 0, thread 0: the stack of 131072 bytes is too small"),
        "{text}"
    );
}
