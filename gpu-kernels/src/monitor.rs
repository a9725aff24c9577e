//! The stopping decision, taken on the device.

use arithmetic::status;
use cuda_std::{Real, kernel, memory::*, thread};

/// The word that stops an iteration, and its copy for the host.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Guard {
    /// `[status, observed]` in device memory; null where nothing guards a launch.
    pub state: *mut u32,
    /// The same two words in page-locked host memory, which the host reads without a copy.
    pub mirror: *mut u32,
}

impl Guard {
    /// Whether the kernel must leave everything as it is.
    ///
    /// # Safety
    /// The pointers are null or valid.
    #[inline(always)]
    pub unsafe fn stopped(&self) -> bool {
        // SAFETY: the caller's promise.
        !self.state.is_null() && unsafe { self.state.ld_flag(0) } != status::RUNNING
    }

    /// Stops the iteration for the reason `status`. One thread calls it.
    ///
    /// # Safety
    /// The pointers are null or valid.
    #[inline(always)]
    pub unsafe fn raise(&self, status: u32) {
        if self.state.is_null() {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe {
            self.state.st_volatile(0, status);
            self.mirror.st(0, status);
        }
    }
}

/// Where the residual norms of an iteration go, and when it ends.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Monitor {
    /// The iteration's guard.
    pub guard: Guard,
    /// The norms in order, `limit + 1` of them at most, in page-locked host memory; null where a kernel has a
    /// part of the vectors, and its norms are not taken.
    pub history: *mut f64,
    /// Converged when the norm is at most this.
    pub threshold: f64,
    /// Iterations allowed.
    pub limit: u32,
}

// SAFETY: plain addresses; the kernels say who may use them when.
unsafe impl Send for Monitor {}
// SAFETY: as above.
unsafe impl Sync for Monitor {}

impl Monitor {
    /// Enters the next residual norm and decides whether to go on. One thread calls it.
    ///
    /// The first norm entered is that of the initial residual (iteration 0).
    ///
    /// # Safety
    /// The pointers are valid and no other thread uses them now.
    #[inline(always)]
    pub unsafe fn observe(&self, norm: f64) {
        if self.history.is_null() {
            return;
        }
        // SAFETY: the caller's promise; `history` has limit + 1 entries and observed <= limit while running.
        unsafe {
            let observed = self.guard.state.ld(1);
            self.history.st(observed as usize, norm);
            if !norm.is_finite() {
                self.guard.raise(status::NOT_FINITE);
            } else if norm <= self.threshold {
                self.guard.raise(status::CONVERGED);
            } else if observed >= self.limit {
                self.guard.raise(status::LIMIT);
            }
            self.guard.state.st(1, observed + 1);
            // In no particular order for the host: it acts on either word alone, and reads the history
            // when the kernel is long over. A fence would wait for the bus in every iteration.
            self.guard.mirror.st(1, observed + 1);
        }
    }
}

/// Enters `sqrt(*square)` as the next residual norm. One thread.
#[kernel(T = [f32, f64])]
pub unsafe fn observe<T: Real>(square: *const T, monitor: Monitor) {
    // SAFETY: one thread is launched; the launcher's arguments are valid.
    unsafe {
        if monitor.guard.stopped() || thread::index_x() != 0 {
            return;
        }
        monitor.observe(Real::sqrt(square.ld(0).to_f64()));
    }
}
