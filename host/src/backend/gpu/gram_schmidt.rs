//! Orthogonalisation by as few passes over the basis as the registers allow.

use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::BLOCK;
use gpu_kernels::gram_schmidt::gram_schmidt;
use gpu_kernels::monitor::Guard;

use super::memory::DeviceVector;
use super::{DeviceScalars, Gpu, UNGUARDED, Work, slot};
use crate::backend::{Backend, GmresSlots, Slot};
use crate::error::Result;

/// Basis vectors that one launch of the widest kernel handles.
pub(super) const WIDTH: usize = 32;
/// Blocks of a launch at most; scratch memory is sized by it.
pub(super) const MAX_BLOCKS: u32 = 1024;

/// The parts of a pass that vary; null pointers leave a part out.
#[derive(Clone, Copy)]
struct Pass<T> {
    update: *const T,
    dots: *mut T,
    h: *mut T,
    accumulate: bool,
    norm2: *mut T,
    guard: Guard,
}

impl<T> Pass<T> {
    fn nothing(guard: Guard) -> Self {
        let null = std::ptr::null_mut();
        Pass { update: null, dots: null, h: null, accumulate: false, norm2: null, guard }
    }
}

impl Gpu {
    /// See [`Backend::gram_schmidt`]. Up to [`WIDTH`] vectors take three passes, the update of the first
    /// round and the dot products of the second sharing one; more vectors take four.
    pub(super) fn orthogonalise<T: Real>(
        &self,
        basis: &[DeviceVector<T>],
        w: &DeviceVector<T>,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        h: Slot,
    ) -> Result<()> {
        let (dots, h, norm2) = (slot(s, slots.dots()), slot(s, h), slot(s, GmresSlots::NORM2));
        let nothing = Pass::nothing(self.guard());
        let pieces = basis.chunks(WIDTH).enumerate().map(|(k, piece)| (piece, k * WIDTH));
        let dots_of = |first: usize| (dots.wrapping_add(first), h.wrapping_add(first));
        for (piece, first) in pieces.clone() {
            let (dots, h) = dots_of(first);
            self.pass(piece, w, Pass { dots, h, ..nothing })?;
        }
        if basis.len() <= WIDTH {
            self.pass(basis, w, Pass { update: dots, dots, h, accumulate: true, ..nothing })?;
        } else {
            for (piece, first) in pieces.clone() {
                self.pass(piece, w, Pass { update: dots_of(first).0, ..nothing })?;
            }
            for (piece, first) in pieces.clone() {
                let (dots, h) = dots_of(first);
                self.pass(piece, w, Pass { dots, h, accumulate: true, ..nothing })?;
            }
        }
        for (piece, first) in pieces {
            let is_last = first + piece.len() == basis.len();
            let norm2 = if is_last { norm2 } else { std::ptr::null_mut() };
            self.pass(piece, w, Pass { update: dots_of(first).0, norm2, ..nothing })?;
        }
        Ok(())
    }

    /// `u = V y` for the columns done, with the negated `y` among the scalars. Not guarded.
    pub(super) fn combine<T: Real>(
        &self,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        basis: &[DeviceVector<T>],
        u: &DeviceVector<T>,
    ) -> Result<()> {
        // SAFETY: `u` has this many elements.
        unsafe { self.device.zero(u.address(), u.len * size_of::<T>())? };
        // Vectors beyond the columns done may hold NaN, so that a factor 0 would not do.
        let columns = self.read(s, GmresSlots::COLUMNS)?.to_f64() as usize;
        for (k, piece) in basis[..columns].chunks(WIDTH).enumerate() {
            let update = slot(s, slots.y()).wrapping_add(k * WIDTH);
            self.pass(piece, u, Pass { update, ..Pass::nothing(UNGUARDED) })?;
        }
        Ok(())
    }

    /// One launch over at most [`WIDTH`] vectors.
    fn pass<T: Real>(&self, basis: &[DeviceVector<T>], w: &DeviceVector<T>, pass: Pass<T>) -> Result<()> {
        // The basis, and w, which an update also writes.
        let work = Work::on::<T>(w.len, basis.len() + 1 + usize::from(!pass.update.is_null()));
        let leading = if basis.len() > 1 { basis[1].offset - basis[0].offset } else { 0 };
        macro_rules! launch {
            ($width:literal) => {{
                let kernel = gram_schmidt::<T, $width> {
                    n: w.len as u64,
                    basis: basis[0].ptr(),
                    leading: leading as u64,
                    count: basis.len() as u32,
                    update: pass.update,
                    w: w.address() as *mut T,
                    dots: pass.dots,
                    h: pass.h,
                    accumulate: pass.accumulate as u32,
                    norm2: pass.norm2,
                    partials: self.partials.address as *mut T,
                    counter: self.counter.address as *mut u32,
                    guard: pass.guard,
                };
                let blocks = w.len.div_ceil(BLOCK as usize).max(1) as u32;
                let resident = self.device.resident_blocks(kernel.name(), BLOCK)?;
                // SAFETY: as in `Gpu::launch`.
                unsafe {
                    self.device.launch_moving(
                        work.bytes,
                        blocks.min(resident).min(MAX_BLOCKS),
                        BLOCK,
                        &kernel,
                    )
                }
            }};
        }
        match basis.len() {
            0..=8 => launch!(8),
            9..=16 => launch!(16),
            _ => launch!(32),
        }
    }
}
