//! Correct kernels give the right results in the simulator, with race checks and without.

mod common;

use common::{memory, run, run_checked, vector};
use cuda_std::atomic::{atomic_add_u32, atomic_inc_u32};
use cuda_std::host::{Configuration, Kernel};
use cuda_std::memory::Word;
use cuda_std::shared::dynamic_shared;
use cuda_std::sim::{self, FaultKind, Operation, Options, Order};
use cuda_std::warp::{self, FULL_MASK, WARP_SIZE};
use cuda_std::{GlobalLoad, GlobalStore, Real, Shared, kernel, pipeline, shared, thread};

/// y_i = a x_i + y_i
#[kernel(T = [f32, f64])]
unsafe fn axpy<T: Real>(n: u32, a: T, x: *const T, y: *mut T) {
    let mut i = thread::index_x();
    while i < n as usize {
        y.st_cs(i, x.ld_cs(i).mul_add(a, y.ld(i)));
        i += thread::stride();
    }
}

#[test]
fn axpy_with_grid_stride() {
    for (n, grid, block) in [(0, 1, 32), (1, 1, 1), (97, 3, 32), (1000, 7, 33), (513, 2, 1024)] {
        let x: Vec<f32> = (0..n).map(|i| i as f32 + 0.5).collect();
        let y = vector(vec![0.25f32; n as usize]);
        let memory = memory([&x as _, &y as _]);
        let launch = axpy { n, a: 2.0, x: x.as_ptr(), y: y.as_mut_ptr() };
        run(&launch, grid, block, &memory).unwrap();
        run_checked(&launch, grid, block, &memory).unwrap();
        assert_eq!(*y, x.iter().map(|v| 4.0 * v + 0.25).collect::<Vec<_>>());
    }
}

/// The sum over the warp's lanes, in lane 0.
unsafe fn warp_sum<T: Real>(mut value: T) -> T {
    let mut delta = WARP_SIZE / 2;
    while delta > 0 {
        // SAFETY: whole warps come here.
        value += unsafe { warp::warp_shuffle_down(FULL_MASK, value, delta, WARP_SIZE) };
        delta /= 2;
    }
    value
}

/// The sum over the block, in thread 0.
unsafe fn block_sum<T: Real>(value: T, partial: Shared<T>) -> T {
    // SAFETY: whole blocks come here; partial has an element for each warp.
    unsafe {
        let sum = warp_sum(value);
        thread::sync_threads();
        if warp::lane_id() == 0 {
            partial.set((thread::thread_idx_x() / WARP_SIZE) as usize, sum);
        }
        thread::sync_threads();
        let mine = thread::thread_idx_x() < thread::block_dim_x() / WARP_SIZE;
        let value = if mine { partial.get(thread::thread_idx_x() as usize) } else { T::ZERO };
        if thread::thread_idx_x() < WARP_SIZE { warp_sum(value) } else { value }
    }
}

/// out = sum_i x_i, added up by the block that is last.
#[kernel(T = [f32, f64])]
unsafe fn sum<T: Real>(n: u32, x: *const T, partials: *mut T, counter: *mut u32, out: *mut T) {
    let scratch = shared![T; 32];
    let flag = shared![u32; 1];
    let (block, grid) = (thread::block_idx_x(), thread::grid_dim_x());
    let i = thread::index_x();
    let value = if i < n as usize { x.ld_nc(i) } else { T::ZERO };
    let value = block_sum(value, scratch);
    if thread::thread_idx_x() == 0 {
        partials.st(block as usize, value);
        thread::device_fence();
        flag.set(0, atomic_inc_u32(counter, grid - 1));
    }
    thread::sync_threads();
    if flag.get(0) != grid - 1 {
        return;
    }
    let mut value = T::ZERO;
    let mut b = thread::thread_idx_x();
    while b < grid {
        value += partials.ld_volatile(b as usize);
        b += thread::block_dim_x();
    }
    let value = block_sum(value, scratch);
    if thread::thread_idx_x() == 0 {
        out.st(0, value);
    }
}

fn check_sum<T: Real>(grid: u32, block: u32)
where
    sum<T>: cuda_std::host::Kernel,
{
    let n = grid * block - 7;
    let x: Vec<T> = (0..n).map(|i| T::from_f64(f64::from(i % 64) * 0.25)).collect();
    let partials = vector(vec![T::from_f64(f64::NAN); grid as usize]);
    let (counter, out) = (vector(vec![0u32]), vector(vec![T::from_f64(f64::NAN)]));
    let memory = memory([&x as _, &partials as _, &counter as _, &out as _]);
    let launch = sum {
        n,
        x: x.as_ptr(),
        partials: partials.as_mut_ptr(),
        counter: counter.as_mut_ptr(),
        out: out.as_mut_ptr(),
    };
    let exact: f64 = x.iter().map(|v| v.to_f64()).sum();
    for _ in 0..2 {
        run(&launch, grid, block, &memory).unwrap();
        assert_eq!(out[0].to_f64(), exact);
        assert_eq!(counter[0], 0, "ready for the next launch");
        run_checked(&launch, grid, block, &memory).unwrap();
    }
}

#[test]
fn sum_by_the_last_block() {
    for (grid, block) in [(1, 32), (3, 64), (40, 256), (2, 1024)] {
        check_sum::<f64>(grid, block);
        check_sum::<f32>(grid, block);
    }
}

/// What every kind of exchange gives every lane.
#[kernel]
unsafe fn exchanges(down: *mut u32, xor: *mut f64, index: *mut i32, votes: *mut u32) {
    let (i, lane) = (thread::index_x(), warp::lane_id());
    down.st(i, warp::warp_shuffle_down(FULL_MASK, lane, 3, 8));
    xor.st(i, warp::warp_shuffle_xor(FULL_MASK, f64::from(lane) + 0.5, 5, 32));
    index.st(i, warp::warp_shuffle_idx(FULL_MASK, -(lane as i32), 9, 16));
    let votes = votes.wrapping_add(4 * i);
    votes.st(0, warp::warp_vote_ballot(FULL_MASK, lane % 3 == 0));
    votes.st(1, warp::warp_vote_any(FULL_MASK, lane == 31).into());
    votes.st(2, warp::warp_vote_all(FULL_MASK, lane != 31).into());
    // Each half of the warp on its own, at the same place.
    let half = if lane < 16 { 0x0000_ffff } else { 0xffff_0000 };
    votes.st(3, warp::warp_vote_ballot(half, true));
}

#[test]
fn exchanges_follow_the_ptx_manual() {
    let (down, xor) = (vector(vec![0u32; 64]), vector(vec![0f64; 64]));
    let (index, votes) = (vector(vec![0i32; 64]), vector(vec![0u32; 256]));
    let memory = memory([&down as _, &xor as _, &index as _, &votes as _]);
    let launch = exchanges {
        down: down.as_mut_ptr(),
        xor: xor.as_mut_ptr(),
        index: index.as_mut_ptr(),
        votes: votes.as_mut_ptr(),
    };
    run(&launch, 1, 64, &memory).unwrap();
    for i in 0..64 {
        let lane = i as u32 % 32;
        assert_eq!(down[i], if lane % 8 < 5 { lane + 3 } else { lane });
        assert_eq!(xor[i], f64::from(lane ^ 5) + 0.5);
        assert_eq!(index[i], -(lane as i32 / 16 * 16 + 9));
        let half = if lane < 16 { 0xffff } else { 0xffff_0000 };
        assert_eq!(votes[4 * i..4 * i + 4], [0x4924_9249, 1, 0, half]);
    }
}

/// Lanes that have exited are excused from votes; the others go on.
#[kernel]
unsafe fn vote_after_exit(out: *mut u32) {
    if warp::lane_id() < 5 {
        return;
    }
    out.st(thread::index_x(), warp::warp_vote_ballot(FULL_MASK, true));
}

#[test]
fn exited_lanes_do_not_vote() {
    let out = vector(vec![0u32; 40]);
    run(&vote_after_exit { out: out.as_mut_ptr() }, 1, 40, &memory([&out as _])).unwrap();
    assert_eq!(out[..5], [0; 5]);
    assert_eq!(out[5..32], [0xffff_ffe0; 27]);
    assert_eq!(out[32..], [0, 0, 0, 0, 0, 0xe0, 0xe0, 0xe0]);
}

/// Neighbours by vector loads, through a warp's shared row.
#[kernel]
unsafe fn pairs(x: *const f64, y: *const f32, out: *mut f64) {
    let row = shared![f64; 32];
    let i = thread::index_x();
    let [a, b] = x.ld_nc_x2(2 * i);
    let [p, q, r, s] = y.ld_nc_x4(4 * i);
    row.set(warp::lane_id() as usize, a - b + f64::from(p + 2.0 * q + 4.0 * r + 8.0 * s));
    warp::sync_warp(FULL_MASK);
    out.st(i, row.get(31 - warp::lane_id() as usize));
}

#[repr(align(16))]
#[derive(Clone, Copy)]
struct Aligned(#[allow(dead_code)] [f64; 2]);

#[test]
fn vector_loads_and_warp_barriers() {
    let x: Vec<Aligned> = (0..32).map(|i| Aligned([f64::from(i), 0.125])).collect();
    let y: Vec<Aligned> = x.iter().map(|_| Aligned([f64::from_bits(0x4000_0000_3f80_0000); 2])).collect();
    let out = vector(vec![0.0; 32]);
    let memory = memory([&x as _, &y as _, &out as _]);
    let launch = pairs { x: x.as_ptr().cast(), y: y.as_ptr().cast(), out: out.as_mut_ptr() };
    run_checked(&launch, 1, 32, &memory).unwrap();
    // The bits are those of 1, 2, 1, 2.
    let expected: Vec<f64> = (0..32).rev().map(|i| f64::from(i) - 0.125 + 1.0 + 4.0 + 4.0 + 16.0).collect();
    assert_eq!(*out, expected);
}

#[kernel]
unsafe fn count(total: *mut u32) {
    atomic_add_u32(total, thread::thread_idx_x());
}

#[test]
fn a_large_launch_is_quick() {
    let n = 100_000;
    let (x, y) = (vec![1.0f64; n], vector(vec![2.0f64; n]));
    let launch = axpy { n: n as u32, a: 3.0, x: x.as_ptr(), y: y.as_mut_ptr() };
    let vectors = memory([&x as _, &y as _]);
    let start = std::time::Instant::now();
    run(&launch, n.div_ceil(256) as u32, 256, &vectors).unwrap();
    let elapsed = start.elapsed();
    assert!(y.iter().all(|v| *v == 5.0));
    assert!(elapsed.as_secs_f64() < 1.0, "100 000 threads took {elapsed:?}");

    let total = vector(vec![0u32]);
    run_checked(&count { total: total.as_mut_ptr() }, 100, 50, &memory([&total as _])).unwrap();
    assert_eq!(total[0], 100 * 49 * 50 / 2);
}

/// The distinct ones among 32 numbers per warp, counted in a table of 64 slots that holds 0 where it is free,
/// and as bits of a word.
#[kernel]
unsafe fn distinct(numbers: *const u32, out: *mut u32) {
    let (table, bits) = (shared![u64; 32].words(), shared![u32; 1]);
    let (lane, number) = (warp::lane_id() as usize, numbers.ld_nc(thread::index_x()));
    table.set(lane, 0);
    table.set(lane + 32, 0);
    if lane == 0 {
        bits.set(0, 0);
    }
    warp::sync_warp(FULL_MASK);
    let (mut slot, mut new) = (number as usize % 64, false);
    while table.get_volatile(slot) != number {
        let before = table.compare_and_swap(slot, 0, number);
        new = before == 0;
        if new || before == number {
            break;
        }
        slot = (slot + 1) % 64;
    }
    bits.or(0, 1 << (number % 32));
    warp::sync_warp(FULL_MASK);
    out.st(2 * thread::index_x(), warp::warp_vote_ballot(FULL_MASK, new).count_ones());
    out.st(2 * thread::index_x() + 1, bits.get(0));
}

#[test]
fn shared_words_change_atomically() {
    let numbers: Vec<u32> = (0..32).map(|i| 7 + 64 * (i * i % 11)).collect();
    let out = vector(vec![0u32; 64]);
    let launch = distinct { numbers: numbers.as_ptr(), out: out.as_mut_ptr() };
    run_checked(&launch, 1, 32, &memory([&numbers as _, &out as _])).unwrap();
    let expected: std::collections::HashSet<u32> = numbers.iter().copied().collect();
    assert_eq!(*out, [expected.len() as u32, 1 << 7].repeat(32));
}

/// The numbers of a block the other way round, and how many there are.
#[kernel]
unsafe fn turned(x: *mut f64, count: *mut u32) {
    let (tile, arrived) = (dynamic_shared::<f64>(), shared![u32; 1]);
    let (t, last) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize - 1);
    tile.set(t, x.ld(t));
    if t == 0 {
        arrived.set(0, 0);
    }
    thread::sync_threads();
    arrived.add(0, 1);
    x.st(t, tile.get(last - t));
    thread::sync_threads();
    if t == 0 {
        count.st(0, arrived.get(0) + cuda_std::mem::total_smem_size());
    }
}

#[test]
fn dynamic_shared_memory_is_an_array_as_long_as_the_launch_says() {
    let (x, count) = (vector((0..100).map(f64::from).collect::<Vec<_>>()), vector(vec![0u32]));
    let launch = turned { x: x.as_mut_ptr(), count: count.as_mut_ptr() };
    let run = |shared_bytes| {
        let configuration = Configuration { shared_bytes, ..Configuration::new(1, 100) };
        let memory = memory([&x as _, &count as _]);
        sim::run_configured(&launch, configuration, &memory, &Options { races: true, ..Options::default() })
    };
    run(800).unwrap();
    assert!((0..100).all(|i| x[i] == 99.0 - i as f64));
    // A word is four bytes, as in PTX.
    assert_eq!(count[0], 100 + 800 + 4);
    let fault = run(792).unwrap_err().to_string();
    assert!(fault.contains("dynamic shared memory") && fault.contains("99"), "{fault}");
}

/// Steps of `x_i = (x_(i-1) + x_(i+1)) / 2` inside, all in one launch; a thread an element.
#[kernel]
unsafe fn relax(steps: u32, x: *mut f64, barrier: *mut u32) {
    let (i, last) = (thread::index_x(), thread::stride() - 1);
    for _ in 0..steps {
        let mean = if i == 0 || i == last { x.ld(i) } else { 0.5 * (x.ld(i - 1) + x.ld(i + 1)) };
        thread::sync_grid(barrier);
        x.st(i, mean);
        thread::sync_grid(barrier);
    }
}

#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() {
    for (blocks, threads, order) in
        [(1, 33, Order::Ascending), (5, 7, Order::Shuffled(3)), (4, 64, Order::Descending)]
    {
        let count = (blocks * threads) as usize;
        let mut expected: Vec<f64> = (0..count).map(|i| (i as f64 * 0.37).fract()).collect();
        let (x, barrier) = (vector(expected.clone()), vector(vec![0_u32]));
        for _ in 0..3 {
            let before = expected.clone();
            (1..count - 1).for_each(|i| expected[i] = 0.5 * (before[i - 1] + before[i + 1]));
        }
        let launch = relax { steps: 3, x: x.as_mut_ptr(), barrier: barrier.as_mut_ptr() };
        let configuration = Configuration { cooperative: true, ..Configuration::new(blocks, threads) };
        let options = Options { races: true, order, ..Options::DEFAULT };
        let memory = memory([&x as _, &barrier as _]);
        let run = || sim::run_configured(&launch, configuration, &memory, &options);
        let (result, report) = sim::explain(run);
        result.unwrap();
        assert_eq!(*x, expected);
        let warps = u64::from(blocks * threads.div_ceil(32));
        assert_eq!(report.kernels[0].total(|it| it == Operation::GlobalStore).requests, 3 * warps);

        let alone = sim::run(&launch, blocks, threads, &memory, &options).unwrap_err();
        assert_eq!(alone.kind, FaultKind::NotCooperative);
        assert!(alone.to_string().contains("kernels.rs"), "{alone}");
    }
}

/// Waits for the grid in all blocks but one, or forgets the second barrier.
#[kernel]
unsafe fn careless(leaves: u32, x: *mut u32, barrier: *mut u32) {
    if thread::block_idx_x() != leaves {
        thread::sync_grid(barrier);
        x.st(0, x.ld(0) + 1);
    }
}

#[test]
fn mistakes_with_barriers_of_the_grid_are_faults() {
    let (x, barrier) = (vector(vec![0_u32]), vector(vec![0_u32]));
    let memory = memory([&x as _, &barrier as _]);
    let configuration = Configuration { cooperative: true, ..Configuration::new(3, 1) };
    let run = |leaves, options: &Options| {
        let launch = careless { leaves, x: x.as_mut_ptr(), barrier: barrier.as_mut_ptr() };
        sim::run_configured(&launch, configuration, &memory, options).unwrap_err().kind
    };
    assert_eq!(run(1, &Options::default()), FaultKind::GridDivergence { waiting: 2, ended: 1 });
    let race = run(7, &Options { races: true, ..Options::default() });
    assert!(matches!(race, FaultKind::Race { .. }), "{race}");
}

/// y_i = x_i + x_(i + 1) within tiles of 128, two in turns: the next is copied while one is added up.
#[kernel]
unsafe fn neighbours(tiles: u32, x: *const f32, y: *mut f32) {
    let buffer = shared![f32; 256];
    let t = thread::thread_idx_x() as usize;
    pipeline::copy_async::<f32, 4>(buffer, 4 * t, x.add(4 * t));
    pipeline::commit();
    for tile in 0..tiles as usize {
        if tile + 1 < tiles as usize {
            let next = 128 * (tile + 1) + 4 * t;
            pipeline::copy_async::<f32, 4>(buffer, next % 256, x.add(next));
        }
        pipeline::commit();
        pipeline::wait_prior::<1>();
        thread::sync_threads();
        for k in (t..127).step_by(32) {
            let at = 128 * (tile % 2) + k;
            y.st(128 * tile + k, buffer.get(at) + buffer.get(at + 1));
        }
        thread::sync_threads();
    }
}

#[test]
fn copies_go_on_while_threads_compute() {
    let x: Vec<f32> = (0..640).map(|i| (i as f32 * 0.37).fract()).collect();
    let y = vector(vec![0.0_f32; 640]);
    let launch = neighbours { tiles: 5, x: x.as_ptr(), y: y.as_mut_ptr() };
    let memory = memory([&x as _, &y as _]);
    run_checked(&launch, 1, 32, &memory).unwrap();
    assert!((0..640).filter(|i| i % 128 < 127).all(|i| y[i] == x[i] + x[i + 1]));
}

/// Reads what it has copied, having waited for all groups but so many.
#[kernel]
unsafe fn impatient(all: u32, place: u32, x: *const u64, y: *mut u64) {
    let buffer = shared![u64; 8];
    pipeline::copy_async::<u64, 2>(buffer, place as usize, x);
    pipeline::commit();
    if all == 1 {
        pipeline::wait_prior::<0>();
    } else {
        pipeline::wait_prior::<1>();
    }
    y.st(0, buffer.get(place as usize) + buffer.get(place as usize + 1));
}

#[test]
fn what_is_copied_is_there_after_the_wait_alone() {
    let (x, y) = (Pair([3, 4]), vector(vec![0_u64]));
    let mut memory = memory([&y as _]);
    memory.register(x.0.as_ptr() as u64, 16);
    let run = |all, place| {
        let launch = impatient { all, place, x: x.0.as_ptr(), y: y.as_mut_ptr() };
        run_checked(&launch, 1, 1, &memory).map_err(|fault| fault.kind)
    };
    run(1, 6).unwrap();
    assert_eq!(y[0], 7);
    assert!(matches!(run(0, 0), Err(FaultKind::UnwrittenShared { index: 0, .. })));
    assert!(matches!(run(1, 7), Err(FaultKind::SharedOutOfBounds { index: 8, length: 8, .. })));
    assert!(matches!(run(1, 1), Err(FaultKind::Misaligned { size: 16, .. })));
}

#[repr(align(16))]
struct Pair([u64; 2]);

/// Turns x round, by an array of its type and length.
#[kernel(T = [f32, f64], N = [3, 64])]
unsafe fn turn_instance<T: Word, const N: usize>(x: *mut T) {
    let (array, t) = (shared![T; N], thread::thread_idx_x() as usize);
    array.set(t, x.ld(t));
    thread::sync_threads();
    x.st(t, array.get(N - 1 - t));
}

/// Two instances in one kernel.
#[kernel]
unsafe fn turn_both(x: *mut f32, y: *mut f64) {
    turn_instance::<f32, 64>(x);
    turn_instance::<f64, 64>(y);
}

#[test]
fn shared_arrays_have_the_size_of_their_instance() {
    let singles = vector(Vec::from_iter((0..64).map(|i| i as f32)));
    let doubles = vector(Vec::from_iter((0..64).map(f64::from)));
    let memory = memory([&singles as _, &doubles as _]);
    let bytes = |launch: &dyn Kernel, block: u32| {
        let (result, report) = sim::explain(|| run(launch, 1, block, &memory));
        result.unwrap();
        report.kernels[0].shared_bytes
    };
    assert_eq!(bytes(&turn_instance::<f32, 64> { x: singles.as_mut_ptr() }, 64), 256);
    assert_eq!(singles[0], 63.0);
    assert_eq!(bytes(&turn_instance::<f64, 3> { x: doubles.as_mut_ptr() }, 3), 24);
    assert_eq!(doubles[..4], [2.0, 1.0, 0.0, 3.0]);
    assert_eq!(bytes(&turn_both { x: singles.as_mut_ptr(), y: doubles.as_mut_ptr() }, 64), 256 + 512);
    assert_eq!((singles[0], doubles[63]), (0.0, 2.0));
}
