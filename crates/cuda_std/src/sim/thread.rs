//! What a simulated thread can do: the host's side of `device.rs`.

pub use super::atomic::*;
use super::block::{self, Grid};
use super::exchange::Exchange;
use super::fault::{Access, FaultKind};
pub use super::io::{fail, print};
pub use super::shared::SharedBase;
use crate::caching::{Load, Store};
use crate::host::Dim3;
use crate::lanes::{Shuffle, WARP_SIZE, WarpReductionOp};
use crate::ordering::Scope;
use crate::space::AddressSpace;
use std::alloc::Layout;

/// The grid whose thread is running.
///
/// # Panics
/// Outside of a kernel.
pub(super) fn grid() -> &'static Grid<'static> {
    block::current().expect("thread indices, barriers and shared memory exist only in a kernel: use sim::run")
}

macro_rules! places {
    ($($name:ident: |$grid:ident| $place:expr;)*) => {$(
        pub fn $name() -> u32 {
            let $grid = grid();
            $place
        }
    )*};
}

places! {
    thread_idx_x: |grid| grid.thread_idx().x;
    thread_idx_y: |grid| grid.thread_idx().y;
    thread_idx_z: |grid| grid.thread_idx().z;
    block_idx_x: |grid| grid.block_idx().x;
    block_idx_y: |grid| grid.block_idx().y;
    block_idx_z: |grid| grid.block_idx().z;
    block_dim_x: |grid| grid.configuration().block.x;
    block_dim_y: |grid| grid.configuration().block.y;
    block_dim_z: |grid| grid.configuration().block.z;
    grid_dim_x: |grid| grid.configuration().grid.x;
    grid_dim_y: |grid| grid.configuration().grid.y;
    grid_dim_z: |grid| grid.configuration().grid.z;
}

pub fn cluster_block_rank() -> u32 {
    grid().cluster_rank()
}

pub fn cluster_num_blocks() -> u32 {
    grid().configuration().cluster.count() as u32
}

pub fn cluster_block_idx() -> [u32; 3] {
    let Dim3 { x, y, z } = grid().configuration().cluster.place(grid().cluster_rank());
    [x, y, z]
}

pub fn cluster_block_dim() -> [u32; 3] {
    let Dim3 { x, y, z } = grid().configuration().cluster;
    [x, y, z]
}

#[track_caller]
pub fn cluster_arrive() {
    grid().cluster_arrive();
}

#[track_caller]
pub fn cluster_wait() {
    grid().cluster_wait();
}

#[track_caller]
pub unsafe fn map_shared(base: SharedBase, rank: u32) -> SharedBase {
    grid().map_shared(base, rank)
}

// A base says whose memory it is.
pub use self::{
    atomic_add_shared as atomic_add_cluster, load_shared_8 as load_cluster_8,
    load_shared_16 as load_cluster_16, load_shared_32 as load_cluster_32, load_shared_64 as load_cluster_64,
    store_shared_8 as store_cluster_8, store_shared_16 as store_cluster_16,
    store_shared_32 as store_cluster_32, store_shared_64 as store_cluster_64,
};

pub fn lane_id() -> u32 {
    grid().thread() % WARP_SIZE
}

#[track_caller]
pub fn sync_threads() {
    grid().barrier(true);
}

#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    grid().barrier(predicate)
}

#[track_caller]
pub fn sync_threads_and(predicate: bool) -> bool {
    grid().barrier(!predicate) == 0
}

#[track_caller]
pub fn sync_threads_or(predicate: bool) -> bool {
    grid().barrier(predicate) != 0
}

#[track_caller]
pub unsafe fn sync_grid(_barrier: *mut u32) {
    grid().grid_barrier();
}

/// A barrier orders a block; a fence of it alone orders nothing that another block could see.
pub fn block_fence() {
    grid();
}

/// The threads of a grid run one by one, but another thread of the host may run another grid, for which this
/// one waits.
pub fn nanosleep(_nanoseconds: u32) {
    grid();
    std::thread::yield_now();
}

pub fn device_fence() {
    grid().fence()
}

pub fn system_fence() {
    grid().fence()
}

/// Grids run one by one; only that it is called is checked.
pub fn grid_dependency_wait() {
    // A kernel's function is also callable without a grid.
    if let Some(grid) = block::current() {
        grid.waited();
    }
}

/// Grids run one by one.
pub fn grid_dependency_launch() {}

#[track_caller]
pub unsafe fn shuffle_32(shuffle: Shuffle, mask: u32, value: u32, operand: u32, width: u32) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { shuffle_64(shuffle, mask, value.into(), operand, width) as u32 }
}

#[track_caller]
pub unsafe fn shuffle_64(shuffle: Shuffle, mask: u32, value: u64, operand: u32, width: u32) -> u64 {
    if !width.is_power_of_two() || width > WARP_SIZE {
        grid().fault(FaultKind::ShuffleWidth { width });
    }
    grid().meet(mask, Exchange::Shuffle { shuffle, value, operand, width })
}

#[track_caller]
pub unsafe fn ballot(mask: u32, predicate: bool) -> u32 {
    grid().meet(mask, Exchange::Ballot(predicate)) as u32
}

#[track_caller]
pub unsafe fn sync_warp(mask: u32) {
    grid().meet(mask, Exchange::Sync);
}

#[track_caller]
pub unsafe fn match_any(mask: u32, value: u64) -> u32 {
    grid().meet(mask, Exchange::Match(value)) as u32
}

#[track_caller]
pub unsafe fn reduce(mask: u32, value: u32, op: WarpReductionOp, signed: bool) -> u32 {
    grid().meet(mask, Exchange::Reduce { op, value, signed }) as u32
}

#[cfg(feature = "half")]
pub(crate) use crate::mma::by_shuffles_bf16 as mma_bf16;
pub(crate) use crate::mma::by_shuffles_f64 as mma_f64;

pub fn active_mask() -> u32 {
    grid().active_lanes()
}

/// Reports an access that is not allowed. Outside of kernels nothing is checked: the caller has promised
/// that the pointer is valid.
#[track_caller]
fn check(access: Access, base: u64, address: u64, size: u64) {
    if let Some(grid) = block::current() {
        grid.check_global(access, Scope::Device, base, address, size);
    }
}

macro_rules! accesses {
    ($bits:ty, $load:ident, $load_x2:ident, $load_x4:ident, $store:ident) => {
        #[track_caller]
        pub unsafe fn $load(how: Load, base: *const $bits, i: usize) -> $bits {
            let address = base.wrapping_add(i);
            let access = match how {
                Load::Volatile | Load::Flag => Access::VolatileRead,
                Load::Plain | Load::Constant | Load::Streamed => Access::Read,
            };
            check(access, base as u64, address as u64, size_of::<$bits>() as u64);
            // SAFETY: the caller's promise, checked.
            unsafe { address.read_volatile() }
        }

        #[track_caller]
        pub unsafe fn $load_x2(base: *const $bits, i: usize) -> [$bits; 2] {
            let address = base.wrapping_add(i);
            check(Access::Read, base as u64, address as u64, size_of::<[$bits; 2]>() as u64);
            // SAFETY: the caller's promise, checked.
            unsafe { address.cast::<[$bits; 2]>().read_volatile() }
        }

        #[track_caller]
        pub unsafe fn $load_x4(base: *const $bits, i: usize) -> [$bits; 4] {
            let address = base.wrapping_add(i);
            let size = size_of::<[$bits; 4]>() as u64;
            for part in (0..size).step_by(16) {
                check(Access::Read, base as u64, address as u64 + part, size.min(16));
            }
            // SAFETY: the caller's promise, checked.
            unsafe { address.cast::<[$bits; 4]>().read_volatile() }
        }

        #[track_caller]
        pub unsafe fn $store(how: Store, base: *mut $bits, i: usize, value: $bits) {
            let address = base.wrapping_add(i);
            let access = if how == Store::Volatile { Access::VolatileWrite } else { Access::Write };
            check(access, base as u64, address as u64, size_of::<$bits>() as u64);
            // SAFETY: the caller's promise, checked.
            unsafe { address.write_volatile(value) }
        }
    };
}

accesses!(u8, load_8, load_x2_8, load_x4_8, store_8);
accesses!(u16, load_16, load_x2_16, load_x4_16, store_16);
accesses!(u32, load_32, load_x2_32, load_x4_32, store_32);
accesses!(u64, load_64, load_x2_64, load_x4_64, store_64);

/// With elements of `size` bytes.
pub fn shared(name: &'static str, length: usize, size: usize) -> SharedBase {
    grid().shared_array(name, length, size)
}

/// The same bytes, of which four are an element.
pub fn shared_words(base: SharedBase) -> SharedBase {
    SharedBase { length: 2 * base.length, ..base }
}

#[track_caller]
pub unsafe fn load_shared_volatile(base: SharedBase, i: usize) -> u32 {
    grid().load_shared_word(Access::VolatileRead, base, i)
}

/// Changes element `i` to `new` of it; returns what was there.
#[track_caller]
fn modify_shared(base: SharedBase, i: usize, new: impl Fn(u32) -> u32) -> u32 {
    let old = grid().load_shared_word(Access::Atomic, base, i);
    grid().set_shared_word(base, i, new(old));
    old
}

#[track_caller]
pub unsafe fn atomic_cas_shared(base: SharedBase, i: usize, expected: u32, new: u32) -> u32 {
    modify_shared(base, i, |old| if old == expected { new } else { old })
}

#[track_caller]
pub unsafe fn atomic_add_shared(base: SharedBase, i: usize, value: u32) -> u32 {
    modify_shared(base, i, |old| old.wrapping_add(value))
}

#[track_caller]
pub unsafe fn atomic_or_shared(base: SharedBase, i: usize, bits: u32) -> u32 {
    modify_shared(base, i, |old| old | bits)
}

macro_rules! shared_accesses {
    ($($bits:ty, $load:ident, $store:ident;)*) => {$(
        #[track_caller]
        pub unsafe fn $load(base: SharedBase, i: usize) -> $bits {
            <$bits>::from_le_bytes(grid().load_shared(base, i))
        }

        #[track_caller]
        pub unsafe fn $store(base: SharedBase, i: usize, value: $bits) {
            grid().store_shared(base, i, value.to_le_bytes());
        }
    )*};
}

shared_accesses! {
    u8, load_shared_8, store_shared_8;
    u16, load_shared_16, store_shared_16;
    u32, load_shared_32, store_shared_32;
    u64, load_shared_64, store_shared_64;
}

#[track_caller]
pub unsafe fn copy_async<T, const N: usize>(base: SharedBase, i: usize, from: *const T) {
    let bytes = N * size_of::<T>();
    check(Access::Read, from as u64, from as u64, bytes as u64);
    // SAFETY: the caller's promise, checked.
    let bytes = (0..bytes).map(|k| unsafe { from.cast::<u8>().add(k).read_volatile() }).collect();
    grid().copy_async::<N>(base, i, bytes);
}

pub fn commit_copies() {
    grid().commit_copies();
}

#[track_caller]
pub fn wait_for_copies<const N: usize>() {
    grid().wait_for_copies(N);
}

#[track_caller]
pub unsafe fn bulk_init(barrier: SharedBase) {
    grid().bulk_init(barrier);
}

#[track_caller]
pub unsafe fn bulk_copy<T>(barrier: SharedBase, to: SharedBase, i: usize, from: *const T, count: usize) {
    let bytes = count * size_of::<T>();
    for unit in (0..bytes as u64).step_by(16) {
        check(Access::Read, from as u64, from as u64 + unit, 16);
    }
    // SAFETY: the caller's promise, checked.
    let bytes = (0..bytes).map(|k| unsafe { from.cast::<u8>().add(k).read_volatile() }).collect();
    grid().bulk_copy(barrier, to, i, size_of::<T>(), bytes);
}

#[track_caller]
pub unsafe fn bulk_commit(barrier: SharedBase) {
    grid().bulk_commit(barrier);
}

#[track_caller]
pub unsafe fn bulk_wait(barrier: SharedBase, phase: u32) {
    grid().bulk_wait(barrier, phase);
}

pub fn variable(name: &'static str, layout: Layout) -> *mut u8 {
    grid().shared().variable(name, layout)
}

pub fn dynamic_shared() -> *mut u8 {
    grid().shared().dynamic()
}

/// With elements of so many bytes.
pub fn dynamic_shared_base(size: usize) -> SharedBase {
    grid().dynamic_array(size)
}

pub fn dynamic_shared_bytes() -> u32 {
    grid().shared().dynamic_bytes()
}

pub fn total_shared_bytes() -> u32 {
    grid().shared().total_bytes()
}

pub fn is_in_address_space(pointer: *const u8, space: AddressSpace) -> bool {
    let address = pointer as u64;
    let (shared, local) = (grid().shared().contains(address), grid().is_local(address));
    match space {
        AddressSpace::Shared => shared,
        AddressSpace::Local => local,
        AddressSpace::Global => !(shared || local),
        AddressSpace::Constant => false,
    }
}

pub fn generic_to_specific(pointer: *const u8, _space: AddressSpace) -> *const u8 {
    pointer
}

pub fn specific_to_generic(pointer: *const u8, _space: AddressSpace) -> *const u8 {
    pointer
}

pub fn breakpoint() {}

pub fn profiler_counter(_counter: u32) {}

pub fn clock() -> u64 {
    grid().tick()
}
