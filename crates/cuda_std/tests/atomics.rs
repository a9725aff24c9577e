//! Atomic operations do in the simulator what `core`'s do.
#![allow(missing_docs)]

use cuda_std::atomic::*;
use cuda_std::prelude::*;
use cuda_std::ptr::{AddressSpace, is_in_address_space};
use cuda_std::sim::{Memory, Options, launch};

/// Threads add, and note the largest and smallest.
#[kernel]
pub unsafe fn gather(
    sum: &AtomicU32,
    wide: &AtomicI64,
    single: &AtomicF32,
    double: &SystemAtomicF64,
    least: &AtomicI32,
    most: &SystemAtomicU64,
) {
    let i = thread::index_1d();
    sum.fetch_add(i, Ordering::Relaxed);
    wide.fetch_sub(i64::from(i) << 33, Ordering::AcqRel);
    single.fetch_add(0.5, Ordering::Acquire);
    double.fetch_sub(0.25, Ordering::SeqCst);
    least.fetch_min(-(i as i32), Ordering::Release);
    most.fetch_max(u64::from(i) << 40, Ordering::Relaxed);
}

#[test]
fn threads_add_up() {
    let (sum, wide, single) = (AtomicU32::new(7), AtomicI64::new(0), AtomicF32::new(1.0));
    let (double, least, most) = (SystemAtomicF64::new(1.0), AtomicI32::new(5), SystemAtomicU64::new(3));
    // SAFETY: all are alive.
    unsafe { launch!(gather<<<3, 32>>>(&sum, &wide, &single, &double, &least, &most)) }.unwrap();
    assert_eq!(sum.into_inner(), 7 + 95 * 96 / 2);
    assert_eq!(wide.into_inner(), -(95 * 96 / 2) << 33);
    assert_eq!(single.into_inner(), 49.0);
    assert_eq!(double.into_inner(), 1.0 - 24.0);
    assert_eq!(least.into_inner(), -95);
    assert_eq!(most.into_inner(), 95 << 40);
}

#[test]
fn operations_return_what_was_there() {
    // On the host the types work too.
    let a = AtomicU32::new(0b1100);
    assert_eq!(a.fetch_and(0b0110, Ordering::Relaxed), 0b1100);
    assert_eq!(a.fetch_or(0b0011, Ordering::Relaxed), 0b0100);
    assert_eq!(a.fetch_xor(0b0101, Ordering::Relaxed), 0b0111);
    assert_eq!(a.swap(9, Ordering::AcqRel), 0b0010);
    assert_eq!(a.compare_exchange(8, 1, Ordering::AcqRel, Ordering::Relaxed), Err(9));
    assert_eq!(a.compare_exchange(9, 1, Ordering::AcqRel, Ordering::Acquire), Ok(9));
    a.store(u32::MAX, Ordering::Release);
    assert_eq!(a.fetch_add(2, Ordering::Relaxed), u32::MAX);
    assert_eq!(a.load(Ordering::Acquire), 1);
    let b = AtomicF64::new(-0.0);
    assert_eq!(b.fetch_or(1.5, Ordering::Relaxed).to_bits(), (-0.0_f64).to_bits());
    assert_eq!(b.load(Ordering::SeqCst), -1.5);
    let c = AtomicU64::new(u64::MAX);
    // The published crate's exchange of 64 bits compared 32.
    assert_eq!(
        c.compare_exchange(u64::from(u32::MAX), 1, Ordering::Relaxed, Ordering::Relaxed),
        Err(u64::MAX)
    );
    let d = AtomicI64::new(-3);
    assert_eq!(d.fetch_max(2, Ordering::Relaxed), -3);
    assert_eq!(d.fetch_min(-7, Ordering::Relaxed), 2);
    assert_eq!(d.into_inner(), -7);
}

#[test]
#[should_panic(expected = "a load releases nothing")]
fn a_load_does_not_release() {
    AtomicU32::new(0).load(Ordering::Release);
}

/// A histogram in shared memory, and where things are.
#[kernel]
pub unsafe fn histogram(data: &[u8], out: *mut u32) {
    let bins = cuda_std::shared_array![BlockAtomicU32; 8];
    let t = thread::thread_idx_x() as usize;
    let local = t;
    cuda_std::assert!(is_in_address_space(bins, AddressSpace::Shared));
    cuda_std::assert!(!is_in_address_space(bins, AddressSpace::Global));
    cuda_std::assert!(is_in_address_space(out, AddressSpace::Global));
    cuda_std::assert!(is_in_address_space(&local, AddressSpace::Local));
    if t < 8 {
        (*bins.add(t)).store(0, Ordering::Relaxed);
    }
    thread::sync_threads();
    for i in (t..data.len()).step_by(thread::block_dim_x() as usize) {
        (*bins.add(data[i] as usize % 8)).fetch_add(1, Ordering::Relaxed);
    }
    thread::sync_threads();
    if t < 8 {
        *out.add(t) = (*bins.add(t)).load(Ordering::Relaxed);
    }
}

#[test]
fn shared_memory_has_atomics_too() {
    let data: Vec<u8> = (0..1000_u32).map(|i| (i * i / 7) as u8).collect();
    let mut out = [0; 8];
    // SAFETY: out has 8 elements.
    unsafe { launch!(histogram<<<1, 64>>>(&data, out.as_mut_ptr())) }.unwrap();
    for (bin, &count) in out.iter().enumerate() {
        assert_eq!(count as usize, data.iter().filter(|&&value| value as usize % 8 == bin).count());
    }
}

/// Block 0 leaves a message, and says so; the last block reads it.
#[kernel]
pub unsafe fn message(text: *mut u32, ready: *const AtomicU32, order: bool) {
    use cuda_std::{GlobalLoad, GlobalStore};
    let (release, acquire) =
        if order { (Ordering::Release, Ordering::Acquire) } else { (Ordering::Relaxed, Ordering::Relaxed) };
    if thread::block_idx_x() == 0 {
        text.st(0, 42);
        (*ready).store(1, release);
    } else if (*ready).load(acquire) == 1 {
        text.st(1, text.ld(0));
    }
}

#[test]
fn release_and_acquire_order_accesses_and_relaxed_ones_do_not() {
    for order in [true, false] {
        let (mut text, ready) = ([0; 2], AtomicU32::new(0));
        let mut memory = Memory::new();
        memory.register(text.as_ptr() as u64, 8);
        memory.register(ready.as_ptr() as u64, 4);
        let launch = message { text: text.as_mut_ptr(), ready: &ready, order };
        let result =
            cuda_std::sim::run(&launch, 2, 1, &memory, &Options { races: true, ..Options::default() });
        assert_eq!(result.is_ok(), order, "{result:?}");
        if order {
            assert_eq!(text[1], 42);
        }
    }
}
