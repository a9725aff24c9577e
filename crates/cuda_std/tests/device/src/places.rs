//! Indices, kinds of memory, messages.

use cuda_std::prelude::*;
use cuda_std::ptr::{AddressSpace, convert_generic_to_specific_address_space, is_in_address_space};
use cuda_std::{address_space, cfg::ComputeCapability, mem, misc, shared_array};

#[kernel]
pub unsafe fn indices(out: *mut [u32; 8]) {
    let (flat, place) = (thread::index_2d(), thread::index_3d());
    *out = [thread::index(), thread::index_1d(), flat.x, flat.y, place.z, thread::first().into(),
            thread::warp_size(), thread::grid_dim().z];
}

#[kernel]
pub unsafe fn arrays(out: *mut u64) {
    #[address_space(shared)]
    static mut VALUE: u64 = 0;
    let array = shared_array![u32; 100];
    let dynamic = cuda_std::shared::dynamic_shared_mem::<u64>();
    let t = thread::thread_idx_x() as usize;
    *array.add(t) = t as u32;
    *dynamic.add(t) = 7;
    *VALUE = 3;
    thread::sync_threads();
    *out = u64::from(*array.add(t ^ 1)) + *dynamic.add(t ^ 1) + *VALUE;
    *out.add(1) = u64::from(mem::dynamic_smem_size()) + u64::from(mem::total_smem_size());
}

#[kernel]
pub unsafe fn words(out: *mut u32) {
    let (dynamic, t) = (cuda_std::shared::dynamic_shared::<u32>(), thread::thread_idx_x() as usize);
    dynamic.set(t, 0);
    thread::sync_threads();
    dynamic.add(t / 2, 3);
    thread::sync_threads();
    *out.add(t) = dynamic.get(t);
}

#[kernel]
pub unsafe fn spaces(p: *const u32, out: *mut bool) {
    *out = is_in_address_space(p, AddressSpace::Shared) || is_in_address_space(p, AddressSpace::Local);
    *out.add(1) = convert_generic_to_specific_address_space(p, AddressSpace::Global).is_null();
}

#[kernel]
pub unsafe fn grid_barrier(barrier: *mut u32) {
    thread::sync_grid(barrier);
}

#[kernel]
pub unsafe fn copies(x: *const u32) {
    let tile = cuda_std::shared![u32; 128];
    let t = thread::thread_idx_x() as usize;
    cuda_std::pipeline::copy_async::<u32, 4>(tile, 4 * t, x.add(4 * t));
    cuda_std::pipeline::commit();
    cuda_std::pipeline::wait_prior::<2>();
}

#[kernel]
pub unsafe fn clocks(out: *mut u64) {
    misc::profiler_counter(3);
    misc::breakpoint();
    *out = misc::clock();
    thread::nanosleep(20);
    *out.add(1) = misc::clock();
    *out.add(2) = u64::from(ComputeCapability::from_cuda_arch_env() >= ComputeCapability::Compute90);
}

#[kernel]
pub unsafe fn messages(n: u32) {
    print!("n is ");
    println!("{n}");
    cuda_std::assert!(n > 1, "n is only {n}");
    cuda_std::assert_eq!(n, 2);
    if n > 3 {
        cuda_std::panic!("too many: {n}");
    }
}

#[kernel]
pub unsafe fn allocations(n: u32, out: *mut u32) {
    let text: String = format!("{n}");
    let numbers: Vec<u32> = (0..n).collect();
    *out = Box::new(numbers.len() as u32 + text.len() as u32).to_owned().wrapping_add(1);
}

/// An array of the instance's type and length.
#[kernel(T = [f32, f64], N = [32, 64])]
pub unsafe fn array_of_instance<T: cuda_std::memory::Word, const N: usize>(x: *mut T) {
    let (array, t) = (cuda_std::shared![T; N], thread::thread_idx_x() as usize);
    array.set(t, *x.add(t));
    thread::sync_threads();
    *x.add(t) = array.get(N - 1 - t);
}

/// Loads and stores of small numbers.
#[kernel(T = [u8, bool, i16, cuda_std::bf16])]
pub unsafe fn small<T: cuda_std::memory::Word>(x: *const T, y: *mut T) {
    use cuda_std::memory::{GlobalLoad, GlobalStore};
    let (tile, t) = (cuda_std::shared![T; 64], thread::thread_idx_x() as usize);
    tile.set(t, x.ld(t));
    thread::sync_threads();
    y.st(t, tile.get(63 - t));
    let [a, b, c, d] = x.ld_nc_x4(4 * t);
    let [e, f] = x.ld_nc_x2(2 * t);
    for (k, value) in [a, b, c, d, e, f, x.ld_nc(t), x.ld_cs(t), x.ld_flag(t)].into_iter().enumerate() {
        y.st_cs(64 + 9 * t + k, value);
    }
    y.st_volatile(t, x.ld_volatile(t));
}
