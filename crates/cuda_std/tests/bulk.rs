//! Bulk copies: what they bring, and what goes wrong.

mod common;

use common::{Vector, memory, run, run_checked, vector};
use cuda_std::bulk::Barrier;
use cuda_std::sim::{Fault, FaultKind};
use cuda_std::{GlobalStore, kernel, shared, thread};

#[repr(align(16))]
struct Aligned([f64; 512]);

/// Tiles of 128 elements, each the other way round; the next is copied while one is written.
#[kernel(needs = sm_90)]
unsafe fn turn_tiles(tiles: u32, x: *const f64, y: *mut f64) {
    let (buffer, barriers) =
        (shared![f64; 256], [Barrier::at(shared![u64; 1]), Barrier::at(shared![u64; 1])]);
    let (t, tiles) = (thread::thread_idx_x() as usize, tiles as usize);
    let ask = |tile: usize| {
        let barrier = barriers[tile % 2];
        // Two copies in a phase.
        for half in [0, 64] {
            barrier.copy(buffer, tile % 2 * 128 + half, x.add(128 * tile + half), 64);
        }
        barrier.commit();
    };
    if t == 0 {
        barriers[0].init();
        barriers[1].init();
        ask(0);
    }
    thread::sync_threads();
    for tile in 0..tiles {
        if t == 0 && tile + 1 < tiles {
            ask(tile + 1);
        }
        barriers[tile % 2].wait(tile as u32 / 2);
        for k in (t..128).step_by(thread::block_dim_x() as usize) {
            y.st(128 * tile + k, buffer.get(tile % 2 * 128 + 127 - k));
        }
        thread::sync_threads();
    }
}

#[test]
fn tiles_come_while_others_are_used() {
    let x = Aligned(std::array::from_fn(|i| (i as f64 * 0.37).fract()));
    for threads in [1, 40, 128] {
        let y = vector(vec![f64::NAN; 512]);
        let mut memory = memory([&y as _]);
        memory.register(x.0.as_ptr() as u64, 4096);
        let launch = turn_tiles { tiles: 4, x: x.0.as_ptr(), y: y.as_mut_ptr() };
        run_checked(&launch, 1, threads, &memory).unwrap();
        assert!((0..512).all(|i| y[i] == x.0[i / 128 * 128 + 127 - i % 128]), "{threads}");
    }
}

/// Does one thing wrong.
#[kernel(needs = sm_90)]
unsafe fn careless(mistake: u32, x: *const f64, y: *mut f64) {
    let (tile, barrier) = (shared![f64; 8], Barrier::at(shared![u64; 1]));
    let t = thread::thread_idx_x() as usize;
    tile.set(t, 1.0);
    if t == 0 && mistake != 1 {
        barrier.init();
    }
    if mistake != 2 {
        thread::sync_threads();
    }
    if t == 0 {
        let (i, count) = match mistake {
            3 => (1, 2),
            4 => (0, 3),
            5 => (6, 4),
            _ => (0, 4),
        };
        barrier.copy(tile, i, x, count);
        if mistake != 6 {
            barrier.commit();
        }
        if mistake == 7 {
            barrier.commit();
        }
    }
    if mistake != 8 {
        barrier.wait(0);
    }
    y.st(t, tile.get(t));
}

#[test]
fn mistakes_are_faults() {
    let x = Aligned([0.5; 512]);
    let y: Vector<f64> = vector(vec![f64::NAN; 2]);
    let result = |mistake| -> Result<(), Fault> {
        let mut memory = memory([&y as _]);
        memory.register(x.0.as_ptr() as u64, 4096);
        let launch = careless { mistake, x: x.0.as_ptr(), y: y.as_mut_ptr() };
        run(&launch, 1, 2, &memory)?;
        run_checked(&launch, 1, 2, &memory)
    };
    let fault = |mistake| {
        let fault: Fault = result(mistake).expect_err("the kernel is wrong");
        assert!(fault.to_string().contains("bulk.rs"), "{fault}");
        fault.kind
    };
    result(0).unwrap();
    assert_eq!(*y, [0.5; 2]);
    assert!(matches!(fault(1), FaultKind::UnwrittenShared { index: 0, .. }));
    assert!(matches!(fault(2), FaultKind::Race { .. } | FaultKind::UnwrittenShared { .. }));
    for mistake in [3, 4] {
        assert!(matches!(fault(mistake), FaultKind::Misaligned { size: 16, .. }), "{mistake}");
    }
    assert!(matches!(fault(5), FaultKind::SharedOutOfBounds { index: 9, length: 8, .. }));
    assert!(matches!(fault(6), FaultKind::Divergence { exited: 0, .. }));
    assert!(matches!(fault(7), FaultKind::PhaseNotWaitedFor { .. }));
    assert!(matches!(fault(8), FaultKind::UnwrittenShared { .. }));
}
