//! Numbers of 1 and 2 bytes in checked memory.

mod common;

use common::{Vector, fault, memory, race, run, run_checked, vector};
use cuda_std::memory::Word;
use cuda_std::shared::dynamic_shared;
use cuda_std::sim::{self, FaultKind, Memory, Options};
use cuda_std::{GlobalLoad, GlobalStore, bf16, f16, kernel, pipeline, shared, thread};

/// Turns x round in place, by an array in shared memory.
#[kernel(T = [u8, i8, bool, u16, i16, f16, bf16])]
unsafe fn turn<T: Word>(n: u32, x: *mut T) {
    let (tile, t) = (shared![T; 64], thread::thread_idx_x() as usize);
    tile.set(t, x.ld(t));
    thread::sync_threads();
    x.st(t, tile.get(n as usize - 1 - t));
}

fn turns<T: Word + PartialEq + std::fmt::Debug>(number: impl Fn(u32) -> T) {
    let numbers: Vec<T> = (0..51).map(number).collect();
    let x = vector(numbers.clone());
    let launch = turn { n: 51, x: x.as_mut_ptr() };
    let memory = memory([&x as _]);
    let (result, report) = sim::explain(|| run_checked(&launch, 1, 51, &memory));
    result.unwrap();
    assert!(x.iter().eq(numbers.iter().rev()), "{x:?}");
    assert_eq!(report.kernels[0].shared_bytes as usize, 64 * size_of::<T>());
}

#[test]
fn every_type_goes_through_both_memories() {
    turns(|i| i as u8 * 5);
    turns(|i| i as i8 - 25);
    turns(|i| i % 3 == 0);
    turns(|i| i as u16 * 1000);
    turns(|i| (i as i16 - 25) * 1000);
    turns(|i| f16::from_f32(i as f32 * 0.37));
    turns(|i| bf16::from_f32(i as f32 * 0.37));
}

/// y = neighbours of x, by two and by four at once.
#[kernel]
unsafe fn by_several(x: *const u8, y: *mut u8, z: *mut u16) {
    let i = 4 * thread::index_x();
    let [a, b, c, d] = x.ld_nc_x4(i);
    let [e, f] = x.ld_nc_x2(i + 2);
    y.st(i, a + b + c + d);
    z.st_cs(thread::index_x(), u16::from(e) << 8 | u16::from(f));
}

#[repr(align(4))]
struct Aligned([u8; 8]);

#[test]
fn several_are_loaded_at_once() {
    let x = Aligned([1, 2, 3, 4, 5, 6, 7, 8]);
    let (y, z) = (vector(vec![0_u8; 8]), vector(vec![0_u16; 2]));
    let mut memory = memory([&y as _, &z as _]);
    memory.register(x.0.as_ptr() as u64, 8);
    let launch = by_several { x: x.0.as_ptr(), y: y.as_mut_ptr(), z: z.as_mut_ptr() };
    run_checked(&launch, 1, 2, &memory).unwrap();
    assert_eq!((y[0], y[4]), (10, 26));
    assert_eq!(*z, [0x0304, 0x0708]);
    let (_, _, kind) = fault(&launch, 1, 3, &memory);
    assert!(matches!(kind, FaultKind::OutOfBounds { index: 2, length: 2, .. }), "{kind}");
}

/// The bytes of a word by as many threads; then thread 0 reads `width` of them at once, behind a barrier or
/// not.
#[kernel]
unsafe fn bytes_of_a_word(width: u32, waits: bool, x: *mut u8, y: *mut u32) {
    let t = thread::thread_idx_x() as usize;
    x.st(t, t as u8 + 1);
    if waits {
        thread::sync_threads();
    }
    if t == 0 {
        y.st(
            0,
            match width {
                1 => x.ld(0).into(),
                2 => x.cast::<u16>().ld(0).into(),
                _ => x.cast::<u32>().ld(0),
            },
        );
    }
}

#[test]
fn neighbours_do_not_race_and_wider_accesses_do() {
    let (x, y) = (vector(vec![0_u32]), vector(vec![0_u32]));
    let memory = memory([&x as _, &y as _]);
    let launch = |width, waits| bytes_of_a_word { width, waits, x: x.as_mut_ptr().cast(), y: y.as_mut_ptr() };
    run_checked(&launch(4, true), 1, 4, &memory).unwrap();
    assert_eq!(y[0], 0x0403_0201);
    run_checked(&launch(1, false), 1, 4, &memory).unwrap();
    // Of the same warp they are one after the other, and thread 0 is first: what comes later races.
    for width in [2, 4] {
        race(&launch(width, false), 1, 4, &memory);
    }
}

/// y = x, one thread an element.
#[kernel]
unsafe fn copy(x: *const u8, y: *mut u8) {
    y.st(thread::index_x(), x.ld(thread::index_x()));
}

#[test]
fn bytes_that_nobody_wrote_are_told_from_their_neighbours() {
    let (x, y) = (vector(vec![7_u8; 8]), vector(vec![0_u8; 8]));
    let mut memory = Memory::tracking_writes();
    memory.register(x.as_ptr() as u64, 8);
    memory.register(y.as_ptr() as u64, 8);
    memory.mark_written(x.as_ptr() as u64, 5);
    let launch = copy { x: x.as_ptr(), y: y.as_mut_ptr() };
    run(&launch, 1, 5, &memory).unwrap();
    let (_, thread, kind) = fault(&launch, 1, 6, &memory);
    assert_eq!(
        (thread, kind),
        (5, FaultKind::UnwrittenGlobal { buffer: x.as_ptr() as u64, bytes: 8, index: 5 })
    );
}

/// Dynamic shared memory as bytes and as words, and a copy of four bytes.
#[kernel]
unsafe fn both_ways(x: *const u8, y: *mut u32) {
    let (bytes, words) = (dynamic_shared::<u8>(), dynamic_shared::<u32>());
    pipeline::copy_async::<u8, 4>(bytes, 0, x);
    pipeline::commit();
    pipeline::wait_prior::<0>();
    bytes.set(5, 9);
    y.st(0, words.get(0));
    y.st(1, u32::from(bytes.get(5)));
    y.st(2, words.get(1));
}

#[test]
fn dynamic_shared_memory_is_the_same_by_bytes_and_words() {
    let (x, y) = (Aligned([1, 2, 3, 4, 0, 0, 0, 0]), vector(vec![0_u32; 3]));
    let mut memory = memory([&y as _]);
    memory.register(x.0.as_ptr() as u64, 8);
    let launch = both_ways { x: x.0.as_ptr(), y: y.as_mut_ptr() };
    let configuration =
        cuda_std::host::Configuration { shared_bytes: 8, ..cuda_std::host::Configuration::new(1, 1) };
    let fault = sim::run_configured(&launch, configuration, &memory, &Options::DEFAULT).unwrap_err();
    // Of the second word one byte was written.
    assert!(matches!(fault.kind, FaultKind::UnwrittenShared { index: 1, .. }), "{fault}");
    let y: &Vector<u32> = &y;
    assert_eq!(y[..2], [0x0403_0201, 9]);
}
