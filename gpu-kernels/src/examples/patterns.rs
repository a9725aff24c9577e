//! Access patterns: which addresses the threads of a warp read at once, and which ways they go.

use arithmetic::patterns::{long_way, other_way, strange};
use cuda_std::{kernel, memory::*, thread};

use crate::unroll::unroll;

/// Elements that a thread has in flight: one f32 for each thread that fits a GPU does not fill its bus.
pub const IN_FLIGHT: usize = 4;

/// `y_i = read(i)` for i < n, neighbouring threads side by side in i.
#[inline(always)]
unsafe fn store_each(n: usize, y: *mut f32, read: impl Fn(usize) -> f32) {
    let stride = thread::stride();
    let mut first = thread::index_x();
    while first < n {
        let mut values = [0.0; IN_FLIGHT];
        unroll::<IN_FLIGHT>(|k| {
            let i = first + k * stride;
            if i < n {
                values[k] = read(i);
            }
        });
        unroll::<IN_FLIGHT>(|k| {
            let i = first + k * stride;
            if i < n {
                // SAFETY: the caller's y has n elements.
                unsafe { y.st_cs(i, values[k]) };
            }
        });
        first += IN_FLIGHT * stride;
    }
}

/// `y_i = x[stride i + offset]`
#[kernel]
pub unsafe fn read_strided(n: u64, stride: u64, offset: u64, x: *const f32, y: *mut f32) {
    // SAFETY: y has n elements, x has `stride (n - 1) + offset + 1`.
    unsafe { store_each(n as usize, y, |i| x.ld_nc(stride as usize * i + offset as usize)) };
}

/// `y_i = x[strange(i)]`: no two threads of a warp read side by side.
#[kernel]
pub unsafe fn read_strangely(n: u32, x: *const f32, y: *mut f32) {
    // SAFETY: x and y have n elements.
    unsafe { store_each(n as usize, y, |i| x.ld_nc(strange(i as u32, n) as usize)) };
}

/// `y_i = sum_k field k of point i` over the first `F` of its four fields; field k of point i is at
/// `i point + k field`.
///
/// `point = 4, field = 1` is an array of structures, `point = 1, field = n` a structure of arrays.
#[kernel(F = [1, 4])]
pub unsafe fn read_fields<const F: usize>(n: u64, point: u64, field: u64, x: *const f32, y: *mut f32) {
    let read = |i: usize| {
        let mut sum = 0.0;
        // SAFETY: x has four elements for each of y, in either order.
        unroll::<F>(|k| sum += unsafe { x.ld_nc(point as usize * i + field as usize * k) });
        sum
    };
    // SAFETY: y has n elements.
    unsafe { store_each(n as usize, y, read) };
}

/// `y_i = long_way(a_i, b_i)` where `a_i > b_i`, else `other_way(a_i, b_i)`.
///
/// `M = 0`: a branch. Where the lanes of a warp disagree it goes both ways, one after the other. `M = 1`:
/// both ways for every thread, and the result is selected.
#[kernel(M = [0, 1])]
pub unsafe fn branch<const M: usize>(n: u64, a: *const f32, b: *const f32, y: *mut f32) {
    let mut i = thread::index_x();
    while i < n as usize {
        // SAFETY: all have n elements.
        unsafe {
            let (a, b) = (a.ld_nc(i), b.ld_nc(i));
            let result = match (M, a > b) {
                (0, true) => long_way(a, b),
                (0, false) => other_way(a, b),
                (_, first) => {
                    let ways = [other_way(a, b), long_way(a, b)];
                    if first { ways[1] } else { ways[0] }
                }
            };
            y.st_cs(i, result);
        }
        i += thread::stride();
    }
}
