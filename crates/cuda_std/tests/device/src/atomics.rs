//! Atomic operations: scopes, orderings, widths.

use cuda_std::atomic::*;
use cuda_std::kernel;

#[kernel]
pub unsafe fn atomic_block(cell: &BlockAtomicF32, v: f32) {
    cell.fetch_add(v, Ordering::Relaxed);
}

#[kernel]
pub unsafe fn atomic_device(cell: &AtomicF64, v: f64) {
    cell.fetch_add(v, Ordering::AcqRel);
}

#[kernel]
pub unsafe fn atomic_system(cell: &SystemAtomicF32, v: f32) {
    cell.fetch_sub(v, Ordering::Acquire);
}

#[kernel]
pub unsafe fn atomic_consistent(cell: &AtomicU32, out: *mut u32) {
    *out = cell.load(Ordering::SeqCst);
    cell.store(3, Ordering::SeqCst);
    cell.fetch_or(4, Ordering::SeqCst);
}

#[kernel]
pub unsafe fn atomic_cells(cell: &SystemAtomicU64, out: *mut u64) {
    *out = cell.load(Ordering::Acquire);
    cell.store(3, Ordering::Release);
    cell.swap(4, Ordering::Release);
}

#[kernel]
pub unsafe fn atomic_exchange(wide: &AtomicI64, narrow: &AtomicU32, out: *mut bool) {
    *out = wide.compare_exchange(1, 2, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        && narrow.compare_exchange(1, 2, Ordering::Relaxed, Ordering::Relaxed).is_ok();
}

#[kernel]
pub unsafe fn atomic_integers(signed: &AtomicI32, wide: &AtomicU64, v: u32) {
    signed.fetch_min(v as i32, Ordering::Relaxed);
    signed.fetch_max(v as i32, Ordering::Relaxed);
    signed.fetch_sub(v as i32, Ordering::Relaxed);
    wide.fetch_min(v.into(), Ordering::Relaxed);
    wide.fetch_max(v.into(), Ordering::Relaxed);
    wide.fetch_xor(v.into(), Ordering::Relaxed);
    wide.fetch_and(v.into(), Ordering::Release);
}
