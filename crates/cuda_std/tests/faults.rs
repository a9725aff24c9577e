//! Every kind of fault is noticed, where it is, and the next launch is none the worse.

mod common;

use common::{fault, memory, race, run, run_checked, vector};
use cuda_std::atomic::atomic_add_u32;
use cuda_std::sim::{Access, FaultKind, Memory, Place};
use cuda_std::warp::{self, FULL_MASK};
use cuda_std::{GlobalLoad, GlobalStore, kernel, shared, thread};

/// out_i = x_(i + shift)
#[kernel]
unsafe fn shifted(shift: isize, x: *const f64, out: *mut f64) {
    let i = thread::index_x();
    out.st(i, x.ld((i as isize + shift) as usize));
}

#[test]
fn out_of_bounds() {
    let (x, out) = (vec![1.5; 64], vector(vec![0.0; 64]));
    let memory = memory([&x as _, &out as _]);
    let launch = |shift| shifted { shift, x: x.as_ptr(), out: out.as_mut_ptr() };
    run(&launch(0), 2, 32, &memory).unwrap();
    let expected = |index| FaultKind::OutOfBounds {
        access: Access::Read,
        address: (x.as_ptr() as u64).wrapping_add_signed(8 * index),
        size: 8,
        buffer: x.as_ptr() as u64,
        bytes: 512,
        index,
        length: 64,
    };
    assert_eq!(fault(&launch(1), 2, 32, &memory), (1, 31, expected(64)));
    assert_eq!(fault(&launch(-3), 2, 32, &memory), (0, 0, expected(-3)));
    // Also where the address happens to be another buffer's.
    // SAFETY: only the distance of two addresses is computed.
    let apart = unsafe { out.as_ptr().byte_offset_from(x.as_ptr()) } / 8;
    assert_eq!(fault(&launch(apart), 2, 32, &memory), (0, 0, expected(apart as i64)));
    run(&launch(0), 2, 32, &memory).unwrap();

    let (_, thread, kind) = fault(&launch(0), 1, 65, &memory);
    assert_eq!(thread, 64);
    assert!(matches!(kind, FaultKind::OutOfBounds { access: Access::Read, index: 64, .. }), "{kind}");
}

#[test]
fn unregistered() {
    let (x, out) = (vector(vec![1.5; 8]), vector(vec![0.0; 8]));
    let launch = shifted { shift: 0, x: x.as_ptr(), out: out.as_mut_ptr() };
    let expected =
        |access, address: *const f64| FaultKind::Unregistered { access, address: address as u64, size: 8 };
    let only_out = memory([&out as _]);
    assert_eq!(fault(&launch, 1, 8, &only_out), (0, 0, expected(Access::Read, x.as_ptr())));
    let mut only_x = memory([&x as _]);
    assert_eq!(fault(&launch, 1, 8, &only_x), (0, 0, expected(Access::Write, out.as_ptr())));
    assert_eq!(only_x.unregister(x.as_ptr() as u64), Some(64));
    assert_eq!(only_x.unregister(x.as_ptr() as u64), None);
    assert_eq!(fault(&launch, 1, 8, &only_x), (0, 0, expected(Access::Read, x.as_ptr())));
    let null = shifted { shift: 0, x: std::ptr::null(), out: out.as_mut_ptr() };
    assert_eq!(fault(&null, 1, 8, &only_out), (0, 0, expected(Access::Read, std::ptr::null())));
}

#[test]
fn misaligned() {
    let (x, out) = (vector(vec![1.5; 8]), vector(vec![0.0; 8]));
    let memory = memory([&x as _, &out as _]);
    let launch = shifted { shift: 0, x: x.as_ptr().wrapping_byte_add(4), out: out.as_mut_ptr() };
    let (_, _, kind) = fault(&launch, 1, 4, &memory);
    assert!(matches!(kind, FaultKind::Misaligned { access: Access::Read, size: 8, .. }), "{kind}");
}

#[test]
fn unwritten_global() {
    let (x, out) = (vector(vec![1.5; 8]), vector(vec![0.0; 8]));
    let mut memory = Memory::tracking_writes();
    memory.register(x.as_ptr() as u64, 64);
    memory.register(out.as_ptr() as u64, 64);
    memory.mark_written(x.as_ptr() as u64, 40);
    let launch = shifted { shift: 0, x: x.as_ptr(), out: out.as_mut_ptr() };
    run(&launch, 1, 5, &memory).unwrap();
    let kind = FaultKind::UnwrittenGlobal { buffer: x.as_ptr() as u64, bytes: 64, index: 5 };
    assert_eq!(fault(&launch, 1, 6, &memory), (0, 5, kind));
    // What a kernel wrote, or a copy, is written.
    let again = shifted { shift: 0, x: out.as_ptr(), out: x.as_mut_ptr() };
    run(&again, 1, 5, &memory).unwrap();
    memory.mark_copied(out.as_ptr() as u64 + 16, x.as_ptr() as u64, 48);
    run(&again, 1, 7, &memory).unwrap();
    assert_eq!(fault(&again, 1, 8, &memory).1, 7);
}

/// Writes `written` elements of a shared array, reads element `read`.
#[kernel]
unsafe fn shared_use(written: u32, read: u32, out: *mut f32) {
    let array = shared![f32; 8];
    let i = thread::thread_idx_x();
    if i < written {
        array.set(i as usize, i as f32);
    }
    thread::sync_threads();
    if i == 3 {
        out.st(thread::block_idx_x() as usize, array.get(read as usize));
    }
}

#[test]
fn shared_memory() {
    let out = vector(vec![0.0; 2]);
    let memory = memory([&out as _]);
    let launch = |written, read| shared_use { written, read, out: out.as_mut_ptr() };
    run(&launch(8, 7), 2, 16, &memory).unwrap();
    assert_eq!(*out, [7.0; 2]);
    let (block, thread, kind) = fault(&launch(7, 7), 2, 16, &memory);
    assert!(matches!(kind, FaultKind::UnwrittenShared { index: 7, .. }), "{kind}");
    assert_eq!((block, thread), (0, 3));
    let (_, thread, kind) = fault(&launch(8, 8), 1, 16, &memory);
    let beyond =
        matches!(kind, FaultKind::SharedOutOfBounds { access: Access::Read, index: 8, length: 8, .. });
    assert!(beyond && thread == 3, "{kind}");
    let (_, thread, kind) = fault(&launch(9, 0), 1, 16, &memory);
    let beyond =
        matches!(kind, FaultKind::SharedOutOfBounds { access: Access::Write, index: 8, length: 8, .. });
    assert!(beyond && thread == 8, "{kind}");
}

/// Only block 0 writes what all blocks read: shared memory does not outlive a block.
#[kernel]
unsafe fn shared_between_blocks() {
    let array = shared![u32; 1];
    if thread::index_x() == 0 {
        array.set(0, 1);
    }
    thread::sync_threads();
    array.get(0);
}

#[test]
fn shared_memory_ends_with_the_block() {
    let (block, thread, kind) = fault(&shared_between_blocks {}, 2, 4, &Memory::new());
    assert!(matches!(kind, FaultKind::UnwrittenShared { .. }), "{kind}");
    assert_eq!((block, thread), (1, 0));
}

/// Wrong in the way that `how` says.
#[kernel]
unsafe fn diverge(how: u32) {
    let i = thread::thread_idx_x();
    match how {
        // Threads leave before a barrier.
        0 if i >= 5 => return,
        // Threads wait at another barrier.
        1 if i >= 40 => thread::sync_threads(),
        // A lane shuffles while the others are at the barrier.
        2 if i == 7 => {
            warp::warp_shuffle_xor(FULL_MASK, i, 1, 32);
        }
        // Two lanes vote at different places.
        3 if i == 8 => {
            warp::warp_vote_any(0x300, true);
        }
        3 if i == 9 => {
            warp::warp_vote_any(0x300, true);
        }
        _ => {}
    }
    thread::sync_threads();
}

#[test]
fn divergent_barriers() {
    let memory = Memory::new();
    let divergence = |how, block| match fault(&diverge { how }, 3, block, &memory) {
        (0, thread, FaultKind::Divergence { waiting, exited }) => {
            let groups: Vec<_> = waiting.into_iter().map(|w| (w.call, w.threads)).collect();
            assert_eq!(thread, groups[0].1[0]);
            (groups, exited)
        }
        other => panic!("{other:?}"),
    };
    let expected = (vec![("sync_threads", (0..5).collect())], 11);
    assert_eq!(divergence(0, 16), expected);
    let expected = (vec![("sync_threads", (0..40).collect()), ("sync_threads", (40..64).collect())], 0);
    assert_eq!(divergence(1, 64), expected);
    let others = (0..32).filter(|i| *i != 7).collect();
    assert_eq!(divergence(2, 32), (vec![("sync_threads", others), ("warp_shuffle_xor", vec![7])], 0));
    let others = (0..32).filter(|i| ![8, 9].contains(i)).collect();
    let expected = (vec![("sync_threads", others), ("warp_vote", vec![8]), ("warp_vote", vec![9])], 0);
    assert_eq!(divergence(3, 32), expected);
    run(&diverge { how: 9 }, 3, 64, &memory).unwrap();

    let text = run(&diverge { how: 0 }, 1, 16, &memory).unwrap_err().to_string();
    assert!(text.starts_with("kernel diverge, block 0, thread 0: the threads of a block went"), "{text}");
    assert!(text.contains("5 wait in sync_threads at ") && text.ends_with("11 have exited"), "{text}");
}

/// Lanes from `exit` on leave; the others read the lane `delta` above with `mask`.
#[kernel]
unsafe fn shuffle_down(exit: u32, mask: u32, delta: u32, width: u32) {
    if warp::lane_id() < exit {
        warp::warp_shuffle_down(mask, 1.5f64, delta, width);
    }
}

#[test]
fn inactive_lanes() {
    let memory = Memory::new();
    let launch = |exit, mask, delta, width| shuffle_down { exit, mask, delta, width };
    run(&launch(20, FULL_MASK, 4, 4), 1, 32, &memory).unwrap(); // everybody's own value
    let reads = |launch: shuffle_down, block| match fault(&launch, 1, block, &memory) {
        (0, thread, FaultKind::InactiveLane { lane, source_lane, reason, .. }) => {
            (thread, lane, source_lane, reason)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(reads(launch(20, FULL_MASK, 4, 32), 32), (16, 16, 20, "has exited"));
    assert_eq!(reads(launch(32, FULL_MASK, 4, 32), 40), (36, 4, 8, "is beyond the end of the block"));
    assert_eq!(reads(launch(8, 0xff, 1, 32), 32), (7, 7, 8, "is not in the mask"));
    let (_, thread, kind) = fault(&launch(32, 0xffff, 0, 32), 1, 32, &memory);
    assert!(matches!(kind, FaultKind::NotInMask { lane: 16, mask: 0xffff, .. }) && thread == 16, "{kind}");
    let (_, _, kind) = fault(&launch(32, FULL_MASK, 1, 24), 1, 32, &memory);
    assert_eq!(kind, FaultKind::ShuffleWidth { width: 24 });
}

#[kernel]
unsafe fn panics(at: u32) {
    let table = [1, 2, 3];
    let i = thread::index_x();
    let guard = Dropped; // what is alive in the other threads is dropped all the same
    thread::sync_threads();
    if i as u32 == at {
        assert!(table[i % 3] == 9, "no nine at {i}");
    }
    thread::sync_threads();
    drop(guard);
}

struct Dropped;

static DROPS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

impl Drop for Dropped {
    fn drop(&mut self) {
        DROPS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn panics_are_faults_and_everything_is_dropped() {
    let (block, thread, kind) = fault(&panics { at: 19 }, 4, 8, &Memory::new());
    assert_eq!((block, thread), (2, 3));
    let FaultKind::Panic { message, place } = kind else { panic!("{kind}") };
    assert_eq!(message, "no nine at 19");
    assert!(place.starts_with(file!()) || place.contains("faults.rs:"), "{place}");
    assert_eq!(DROPS.load(std::sync::atomic::Ordering::Relaxed), 24);
}

#[test]
fn configurations() {
    for (grid, block) in [(1, 0), (1, 1025), (1 << 31, 32)] {
        assert_eq!(
            fault(&panics { at: 0 }, grid, block, &Memory::new()).2,
            FaultKind::Configuration { grid: grid.into(), block: block.into(), shared_bytes: 0 }
        );
    }
    run(&panics { at: 0 }, 0, 32, &Memory::new()).unwrap();
}

/// Every thread reads what its neighbour writes, with a barrier between in so many cases.
#[kernel]
unsafe fn neighbours(how: u32, x: *mut u32) {
    let array = shared![u32; 64];
    let i = thread::thread_idx_x() as usize;
    let j = i ^ 1;
    match how {
        0 => {
            array.set(i, 1);
            if i % 2 == 1 {
                array.get(j); // written: even threads come first here, but not on a device
            }
        }
        1 => {
            array.set(i, 1);
            warp::sync_warp(FULL_MASK);
            array.get(j);
        }
        2 => {
            array.set(i, 1);
            thread::sync_threads();
            array.get(63 - i);
            array.set(i, 2); // others have yet to read
        }
        3 => x.st(0, 1),
        4 => {
            atomic_add_u32(x, 1);
        }
        5 => {
            atomic_add_u32(x, 1);
            x.ld(0);
        }
        6 => {
            atomic_add_u32(x, 1);
            x.ld_volatile(0);
            x.st_volatile(0, 3);
        }
        _ => {
            x.ld(thread::index_x());
        }
    }
}

#[test]
fn races_within_a_block() {
    let x = vector(vec![0u32; 64]);
    let memory = memory([&x as _]);
    let launch = |how| neighbours { how, x: x.as_mut_ptr() };
    for how in [1, 4, 6, 7] {
        run_checked(&launch(how), 1, 64, &memory).unwrap();
    }
    let found = |how| {
        let fault = race(&launch(how), 1, 64, &memory);
        let FaultKind::Race { access, other_access, other_block, other_thread, place } = fault.kind else {
            unreachable!()
        };
        assert_eq!((fault.block, other_block), (0, 0));
        (fault.thread, access, other_thread, other_access, place)
    };
    let (thread, access, other, other_access, place) = found(0);
    assert_eq!((thread, access, other, other_access), (1, Access::Read, 0, Access::Write));
    assert!(matches!(place, Place::Shared { offset: 0, .. }), "{place}");
    let (thread, access, other, other_access, place) = found(2);
    assert_eq!((thread, access, other, other_access), (32, Access::Read, 31, Access::Write));
    assert!(matches!(place, Place::Shared { offset: 124, .. }), "{place}");
    let global = Place::Global { buffer: x.as_ptr() as u64, bytes: 256, offset: 0 };
    assert_eq!(found(3), (1, Access::Write, 0, Access::Write, global.clone()));
    assert_eq!(found(5), (1, Access::Atomic, 0, Access::Read, global));
}

/// Block b writes x_b and, if it is last by the counter, reads all of x.
#[kernel]
unsafe fn handshake(fence: bool, x: *mut f64, counter: *mut u32) {
    if thread::thread_idx_x() == 0 {
        x.st(thread::block_idx_x() as usize, 1.0);
        if fence {
            thread::device_fence();
        }
        if atomic_add_u32(counter, 1) == thread::grid_dim_x() - 1 {
            for b in 0..thread::grid_dim_x() as usize {
                x.ld(b);
            }
        }
    }
}

/// x_i = x_i + x_(i + 1), in place.
#[kernel]
unsafe fn in_place(x: *mut f64) {
    let i = thread::index_x();
    let sum = x.ld(i) + x.ld(i + 1);
    thread::sync_threads();
    x.st(i, sum);
}

#[test]
fn races_between_blocks() {
    let (x, counter) = (vector(vec![0.0f64; 65]), vector(vec![0u32]));
    let memory = memory([&x as _, &counter as _]);
    let launch = |fence| handshake { fence, x: x.as_mut_ptr(), counter: counter.as_mut_ptr() };
    run_checked(&launch(true), 4, 32, &memory).unwrap();
    assert_eq!(*counter, [4]);
    // SAFETY: nothing else looks at it now.
    let reset = || unsafe { counter.as_mut_ptr().write_volatile(0) };
    reset();
    let fault = run_checked(&launch(false), 4, 32, &memory).unwrap_err();
    let place = Place::Global { buffer: x.as_ptr() as u64, bytes: 520, offset: 0 };
    let expected = FaultKind::Race {
        access: Access::Read,
        other_access: Access::Write,
        other_block: 0,
        other_thread: 0,
        place,
    };
    assert_eq!((fault.block, fault.thread, fault.kind), (3, 0, expected));

    let launch = in_place { x: x.as_mut_ptr() };
    run_checked(&launch, 1, 64, &memory).unwrap();
    let fault = race(&launch, 2, 32, &memory);
    let text = fault.to_string();
    assert!(
        text.starts_with(
            "kernel in_place, block 1, thread 0: write races with the read by block 0, thread 31"
        ),
        "{text}"
    );
}

/// out_i = x_i for i < n, where every thread below `waiting` waits, and stores early where `early`.
#[kernel(waits)]
unsafe fn copy_late(n: u32, waiting: u32, early: bool, x: *const f64, out: *mut f64) {
    let i = thread::index_x();
    // Nothing writes x.
    let value = if i < n as usize { x.ld_nc(i) } else { 0.0 };
    if early {
        out.st(i, value);
    }
    if i < waiting as usize {
        thread::grid_dependency_wait();
    }
    if i < n as usize {
        out.st(i, value);
    }
}

#[test]
fn a_kernel_that_promises_to_wait_does_so_in_every_thread_and_before_it_writes() {
    let (x, out) = (vec![1.5; 40], vector(vec![0.0; 40]));
    let memory = memory([&x as _, &out as _]);
    let launch = |waiting, early| copy_late { n: 40, waiting, early, x: x.as_ptr(), out: out.as_mut_ptr() };
    run(&launch(64, false), 2, 32, &memory).unwrap();
    assert_eq!(*out, [1.5; 40]);
    assert_eq!(fault(&launch(63, false), 2, 32, &memory), (1, 31, FaultKind::NoWait));
    let too_early = || FaultKind::AccessBeforeWait { access: Access::Write };
    assert_eq!(fault(&launch(64, true), 2, 32, &memory), (0, 0, too_early()));
    assert_eq!(fault(&launch(35, false), 2, 32, &memory), (1, 3, too_early()));
    run(&launch(64, false), 2, 32, &memory).unwrap();
}
