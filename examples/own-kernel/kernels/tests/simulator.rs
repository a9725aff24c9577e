//! The kernel in the simulator, and what the simulator says of kernels that are wrong.

use cuda_std::host::Kernel;
use cuda_std::sim::{self, Fault, Memory, Options};
use cuda_std::{kernel, memory::*, shared, thread};
use own_kernels::{BLOCK, smooth};

/// Fractions without a pattern.
fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i as f64 * 0.7310585786).fract() - 0.25).collect()
}

// ANCHOR: run
/// Runs `kernel(n, x, y)` for `n` threads, races included among what is checked; returns y.
fn run<K: Kernel>(x: &[f64], kernel: impl Fn(u32, *const f64, *mut f64) -> K) -> Result<Vec<f64>, Fault> {
    let mut y = vec![f64::NAN; x.len()];
    let mut memory = Memory::new();
    memory.register(x.as_ptr() as u64, size_of_val(x) as u64);
    memory.register(y.as_ptr() as u64, size_of_val(x) as u64);
    let launch = kernel(x.len() as u32, x.as_ptr(), y.as_mut_ptr());
    let blocks = (x.len() as u32).div_ceil(BLOCK);
    sim::run(&launch, blocks, BLOCK, &memory, &Options { races: true, ..Options::default() })?;
    Ok(y)
}

#[test]
fn smooth_is_the_mean_of_neighbours() {
    for n in [1, 2, 127, 128, 129, 300] {
        let x = numbers(n);
        let y = run(&x, |n, x, y| smooth { n, x, y }).unwrap();
        let outside = |i: isize| x.get(i as usize).copied().unwrap_or(0.0);
        for i in 0..n as isize {
            let expected = (outside(i - 1) + 2.0 * outside(i) + outside(i + 1)) / 4.0;
            assert!((y[i as usize] - expected).abs() < 1e-15, "n = {n}, i = {i}");
        }
    }
}
// ANCHOR_END: run

// ANCHOR: out_of_bounds
/// The last block has threads beyond the end of x.
#[kernel]
unsafe fn unbounded(x: *const f64, y: *mut f64) {
    let i = thread::index_x();
    y.st(i, 0.5 * x.ld(i));
}
// ANCHOR_END: out_of_bounds

// ANCHOR: race
/// In place: a thread reads what its neighbour overwrites, before or after.
#[kernel]
unsafe fn in_place(n: u32, x: *mut f64) {
    let i = thread::index_x();
    if i > 0 && i < n as usize {
        x.st(i, 0.5 * (x.ld(i - 1) + x.ld(i)));
    }
}
// ANCHOR_END: race

// ANCHOR: no_barrier
/// Shared memory, and no barrier between what is written and what others read.
#[kernel]
unsafe fn hasty(n: u32, x: *const f64, y: *mut f64) {
    let (i, t) = (thread::index_x(), thread::thread_idx_x() as usize);
    let tile = shared![f64; 128];
    tile.set(t, if i < n as usize { x.ld(i) } else { 0.0 });
    if i < n as usize {
        y.st(i, tile.get(127 - t));
    }
}
// ANCHOR_END: no_barrier

// ANCHOR: missed_barrier
/// The threads beyond the end leave, and the others wait for them.
#[kernel]
unsafe fn early_exit(n: u32, x: *const f64, y: *mut f64) {
    let (i, t) = (thread::index_x(), thread::thread_idx_x() as usize);
    let tile = shared![f64; 128];
    if i >= n as usize {
        return;
    }
    tile.set(t, x.ld(i));
    thread::sync_threads();
    y.st(i, tile.get(t ^ 1));
}
// ANCHOR_END: missed_barrier

/// Addresses differ from run to run.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, part| text + "0x.." + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
}

#[test]
fn wrong_kernels_are_noticed() {
    let x = numbers(100);
    let faults = [
        run(&x, |_, x, y| unbounded { x, y }),
        run(&x, |n, _, y| in_place { n, x: y }),
        run(&x, |n, x, y| hasty { n, x, y }),
        run(&x, |n, x, y| early_exit { n, x, y }),
    ];
    let said: String = faults.map(|fault| without_addresses(&fault.unwrap_err().to_string()) + "\n").concat();
    assert_eq!(said, include_str!("messages.txt"));
}
