//! Ranks: elements that others need, and entries in columns of others.

use cuda_std::atomic::{AtomicU32, Ordering};
use cuda_std::{Real, atomic, kernel, memory::*, shared, thread};

use crate::monitor::Guard;
use crate::ranks::{announce, await_arrival};
use crate::reduce::{Add, Reduction, grid_reduce};
use crate::spmv::rows::by_lanes;

/// `out_k = x[places_k]`.
#[kernel(T = [f32, f64])]
pub unsafe fn gather<T: Real>(n: u64, places: *const u32, x: *const T, out: *mut T, guard: Guard) {
    // SAFETY: the launcher's arguments are valid for n elements, and the places are those of elements of x.
    unsafe {
        if guard.stopped() {
            return;
        }
        let mut k = thread::index_x();
        while k < n as usize {
            out.st(k, x.ld(places.ld_nc(k) as usize));
            k += thread::stride();
        }
    }
}

/// Where the elements go that other ranks need, in memory of their devices.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Outbox {
    /// Ranks that get elements, one after the other.
    pub receivers: u32,
    /// How many elements go to each of them and those before it.
    pub ends: *const u64,
    /// The address of the first element of each in odd exchanges, then in even ones.
    pub targets: *const u64,
    /// Bytes from one element there to the next.
    pub slot: u32,
    /// Ranks that wait for this one.
    pub neighbours: u32,
    /// The address of the word of each that says how far this rank has come.
    pub arrivals: *const u64,
    /// Exchanges so far.
    pub epoch: *mut u32,
    /// Exchanges, and bytes sent in them.
    pub counts: *mut u64,
    /// Blocks done so far; 0 before and after.
    pub counter: *mut u32,
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl Send for Outbox {}
// SAFETY: as above.
unsafe impl Sync for Outbox {}

/// Puts `x[places_k]` where another rank needs it, and tells all neighbours when everything is there.
///
/// What was put before the last exchange is overwritten: whoever it was for has told in the last exchange
/// that it has come so far.
#[kernel(T = [f32, f64, u32])]
pub unsafe fn put<T: Word>(n: u64, places: *const u32, x: *const T, outbox: Outbox, guard: Guard) {
    let flag = shared![u32; 1];
    // SAFETY: the launcher's arguments are valid: places of x, and addresses of memory that waits for this.
    unsafe {
        if guard.stopped() {
            return;
        }
        let n = n as usize;
        let epoch = outbox.epoch.ld_volatile(0).wrapping_add(1);
        let targets = outbox.targets.wrapping_add((1 - epoch as usize % 2) * outbox.receivers as usize);
        let (mut k, mut receiver, mut first) = (thread::index_x(), 0, 0);
        while k < n {
            while k >= outbox.ends.ld_nc(receiver) as usize {
                first = outbox.ends.ld_nc(receiver) as usize;
                receiver += 1;
            }
            let target = targets.ld_nc(receiver) + (k - first) as u64 * outbox.slot as u64;
            (target as *mut T).st(0, x.ld(places.ld_nc(k) as usize));
            k += thread::stride();
        }
        thread::sync_threads();
        let grid = thread::grid_dim_x();
        if thread::thread_idx_x() == 0 {
            // The elements are out, for other devices too, before the block is counted.
            thread::system_fence();
            let done = atomic::atomic_inc_u32(outbox.counter, grid - 1);
            thread::system_fence();
            flag.set(0, (done == grid - 1) as u32);
        }
        thread::sync_threads();
        if flag.get(0) == 0 {
            return;
        }
        let mut j = thread::thread_idx_x();
        while j < outbox.neighbours {
            announce(outbox.arrivals.ld_nc(j as usize) as *mut u32, epoch);
            j += thread::block_dim_x();
        }
        if thread::thread_idx_x() == 0 {
            outbox.epoch.st_volatile(0, epoch);
            outbox.counts.st(0, outbox.counts.ld(0) + 1);
            outbox.counts.st(1, outbox.counts.ld(1) + (n * size_of::<T>()) as u64);
        }
    }
}

/// How far other ranks have come.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Arrivals {
    /// Exchanges so far.
    pub epoch: *const u32,
    /// Ranks to wait for.
    pub neighbours: u32,
    /// Which.
    pub ranks: *const u32,
    /// How far each rank has come.
    pub arrived: *const u32,
    /// Not 0 where a rank has failed.
    pub failed: *const u32,
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl Send for Arrivals {}
// SAFETY: as above.
unsafe impl Sync for Arrivals {}

/// Waits until the elements of the last exchange are there; after a failure whatever is.
///
/// One block does: each that looks at the words of other devices takes time, and hundreds of them hold each
/// other up.
#[kernel]
pub unsafe fn receive(arrivals: Arrivals, guard: Guard) {
    // SAFETY: the launcher's arguments are valid.
    unsafe {
        if guard.stopped() {
            return;
        }
        let Arrivals { epoch, neighbours, ranks, arrived, failed } = arrivals;
        let mut j = thread::index_x();
        while j < neighbours as usize {
            await_arrival(arrived.wrapping_add(ranks.ld_nc(j) as usize), epoch.ld_volatile(0), failed);
            j += thread::stride();
        }
    }
}

/// Where elements of other ranks are.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Inbox<T> {
    /// The elements. Where they come from other devices: of odd exchanges, `stride` elements on those of even
    /// ones.
    pub received: *const T,
    /// See `received`.
    pub stride: u64,
    /// Exchanges so far; null where they come by way of the host.
    pub epoch: *const u32,
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl<T: Word> Send for Inbox<T> {}
// SAFETY: as above.
unsafe impl<T: Word> Sync for Inbox<T> {}

impl<T: Word> Inbox<T> {
    /// The elements of the last exchange.
    #[inline(always)]
    unsafe fn elements(&self) -> *const T {
        if self.epoch.is_null() {
            return self.received;
        }
        // SAFETY: the launcher's arguments are valid.
        let epoch = unsafe { self.epoch.ld(0) };
        self.received.wrapping_add((1 - epoch as usize % 2) * self.stride as usize)
    }
}

/// Entries in columns of other ranks: n rows, row k of which is `i = rows[k]`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Border<T> {
    /// Rows.
    pub n: u64,
    /// Which.
    pub rows: *const u32,
    /// Where the entries of each begin.
    pub row_ptr: *const u32,
    /// Columns: which of the elements received.
    pub columns: *const u32,
    /// Values.
    pub values: *const T,
    /// Logarithm of the number of lanes that share a row.
    pub log2_lanes: u32,
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl<T: Real> Send for Border<T> {}
// SAFETY: as above.
unsafe impl<T: Real> Sync for Border<T> {}

impl<T: Real> Border<T> {
    /// `row(i, inputs(i), sum_k e_k x_k)` for each row i, and the sums of what it returns.
    ///
    /// # Safety
    /// The columns are those of x, and the lanes of a warp call it together.
    #[inline(always)]
    unsafe fn for_each_row<I>(
        &self,
        x: *const T,
        inputs: impl Fn(usize) -> I,
        row: impl Fn(usize, I, T) -> [T; 2],
    ) -> [T; 2] {
        // SAFETY: the launcher's arguments are valid.
        unsafe {
            by_lanes(
                self.n,
                self.log2_lanes,
                |k| {
                    let i = self.rows.ld_nc(k) as usize;
                    (i, inputs(i))
                },
                |k, lane, lanes| {
                    let mut sum = T::ZERO;
                    let mut e = self.row_ptr.ld_nc(k) as usize + lane;
                    let end = self.row_ptr.ld_nc(k + 1) as usize;
                    while e < end {
                        sum = self.values.ld_nc(e).mul_add(x.ld(self.columns.ld_nc(e) as usize), sum);
                        e += lanes;
                    }
                    [sum]
                },
                |_, (i, inputs), [product]| row(i, inputs, product),
            )
        }
    }
}

/// `y_i += a d_i sum_k e_k x_k` over the border's entries, when x is there; d may be null, which means 1.
#[kernel(T = [f32, f64])]
pub unsafe fn add_border<T: Real>(
    border: Border<T>,
    inbox: Inbox<T>,
    a: T,
    d: *const T,
    y: *mut T,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid: rows of y, columns of what is received.
    unsafe {
        if guard.stopped() {
            return;
        }
        let x = inbox.elements();
        let inputs = |i: usize| (y.ld(i), if d.is_null() { a } else { a * d.ld(i) });
        border.for_each_row(x, inputs, |i, (before, weight), product| {
            y.st(i, before + weight * product);
            [T::ZERO; 2]
        });
    }
}

/// [`add_border`](fn@add_border) with `a = 1`, after which the dot products `dots = [(w, y), (y, y)]` of
/// before are those of now. w is not y.
#[kernel(T = [f32, f64])]
pub unsafe fn add_border_dot<T: Real>(
    border: Border<T>,
    inbox: Inbox<T>,
    w: *const T,
    y: *mut T,
    dots: *mut T,
    reduction: Reduction<T>,
    guard: Guard,
) {
    // SAFETY: as above.
    unsafe {
        if guard.stopped() {
            return;
        }
        let x = inbox.elements();
        let inputs = |i: usize| (y.ld(i), w.ld(i));
        let sums = border.for_each_row(x, inputs, |i, (before, weight), more| {
            y.st(i, before + more);
            [weight * more, more * (before + (before + more))]
        });
        grid_reduce::<T, Add, 2>(sums, reduction, |[product, square]| {
            dots.st(0, dots.ld(0) + product);
            dots.st(1, dots.ld(1) + square);
        });
    }
}

/// `x[places_k]` = the k-th element received, each of which is in a slot of 8 bytes.
#[kernel(T = [f32, f64, u32])]
pub unsafe fn take_received<T: Word>(n: u64, places: *const u32, inbox: Inbox<u64>, x: *mut T) {
    let mut k = thread::index_x();
    // SAFETY: the launcher's arguments are valid for n elements, which are for different places of x.
    unsafe {
        let received = inbox.elements();
        while k < n as usize {
            x.st(places.ld_nc(k) as usize, (received.wrapping_add(k) as *const T).ld(0));
            k += thread::stride();
        }
    }
}

/// `numbers[places_k] = 0` where the k-th number received is 0. Several may be for one place.
#[kernel]
pub unsafe fn take_zeros(n: u64, places: *const u32, inbox: Inbox<u64>, numbers: *mut u32) {
    let mut k = thread::index_x();
    // SAFETY: the launcher's arguments are valid for n elements, which are for places of the numbers.
    unsafe {
        let received = inbox.elements();
        while k < n as usize {
            if (received.wrapping_add(k) as *const u32).ld(0) == 0 {
                let number = numbers.wrapping_add(places.ld_nc(k) as usize);
                (*number.cast::<AtomicU32>()).store(0, Ordering::Relaxed);
            }
            k += thread::stride();
        }
    }
}

/// `y_k = x[source_k]`; what is counted on behind the `n_own` elements of x are those that came from others.
#[kernel(T = [f32, f64])]
pub unsafe fn arrange<T: Real>(
    n: u64,
    source: *const u32,
    n_own: u64,
    x: *const T,
    inbox: Inbox<T>,
    y: *mut T,
    guard: Guard,
) {
    // SAFETY: the launcher's arguments are valid for n elements, and there is what each source says.
    unsafe {
        if guard.stopped() {
            return;
        }
        let (received, n_own) = (inbox.elements(), n_own as usize);
        let mut k = thread::index_x();
        while k < n as usize {
            let source = source.ld_nc(k) as usize;
            y.st(k, if source < n_own { x.ld(source) } else { received.ld(source - n_own) });
            k += thread::stride();
        }
    }
}
