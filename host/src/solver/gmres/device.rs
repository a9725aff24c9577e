//! The steps of GMRES on a device: orthogonalisation by as few passes over the basis as the registers allow.

use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::BLOCK;
use gpu_kernels::gram_schmidt::{gmres_rotate, gmres_solve, gmres_start, gram_schmidt};
use gpu_kernels::monitor::Guard;

use super::steps::{GmresSlots, GmresSteps, SIDE_BY_SIDE, check_basis, check_basis_lengths, check_scalars};
use crate::backend::gpu::{
    DeviceMonitor, DeviceScalars, DeviceVector, Gpu, MAX_SUM_BLOCKS, MAX_SUMS, UNGUARDED, Work, slot,
};
use crate::backend::{Memory, Slot, check_slots};
use crate::error::Result;

/// Basis vectors that one launch of the widest kernel handles.
const WIDTH: usize = SIDE_BY_SIDE;
// A launch makes a sum for each, and one more.
const _: () = assert!(WIDTH < MAX_SUMS as usize);

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

impl<T: Real> GmresSteps<T> for Gpu {
    fn gram_schmidt(
        &self,
        basis: &[DeviceVector<T>],
        w: &mut DeviceVector<T>,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        h: Slot,
    ) -> Result<()> {
        check_scalars(s, slots, 0)?;
        check_slots("GMRES", slots.count(), h, basis.len())?;
        check_basis(basis, w, slots)?;
        self.orthogonalise(basis, w, s, slots, h)
    }
    fn basis_products(
        &self,
        basis: &[DeviceVector<T>],
        w: &DeviceVector<T>,
        s: &DeviceScalars<T>,
        out: Slot,
    ) -> Result<()> {
        check_slots("GMRES", s.len(), out, basis.len())?;
        check_basis_lengths(basis, w)?;
        let (dots, nothing) = (slot(s, out), Pass::nothing(self.guard()));
        basis.chunks(WIDTH).enumerate().try_for_each(|(k, piece)| {
            let dots = dots.wrapping_add(k * WIDTH);
            self.pass(piece, w, Pass { dots, h: dots, ..nothing })
        })
    }
    fn subtract_combination(
        &self,
        basis: &[DeviceVector<T>],
        s: &DeviceScalars<T>,
        c: Slot,
        w: &mut DeviceVector<T>,
    ) -> Result<()> {
        check_slots("GMRES", s.len(), c, basis.len())?;
        check_basis_lengths(basis, w)?;
        let (update, nothing) = (slot(s, c), Pass::nothing(self.guard()));
        basis.chunks(WIDTH).enumerate().try_for_each(|(k, piece)| {
            self.pass(piece, w, Pass { update: update.wrapping_add(k * WIDTH), ..nothing })
        })
    }
    fn gmres_start(&self, s: &DeviceScalars<T>, slots: GmresSlots) -> Result<()> {
        check_scalars(s, slots, 0)?;
        // SAFETY: the lengths and slots are checked above.
        unsafe {
            self.launch_block(&gmres_start {
                norm2: slot(s, GmresSlots::NORM2),
                beta: slot(s, GmresSlots::BETA),
                g: slot(s, slots.g()),
                columns: slot(s, GmresSlots::COLUMNS),
                guard: self.guard(),
            })
        }
    }
    fn gmres_rotate(
        &self,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        j: usize,
        monitor: &DeviceMonitor,
    ) -> Result<()> {
        check_scalars(s, slots, j)?;
        // SAFETY: the lengths and slots are checked above.
        unsafe {
            self.launch_block(&gmres_rotate {
                j: j as u32,
                norm2: slot(s, GmresSlots::NORM2),
                h: slot(s, slots.column(j)),
                length: slot(s, GmresSlots::LENGTH),
                cs: slot(s, slots.cosines()),
                sn: slot(s, slots.sines()),
                g: slot(s, slots.g()),
                columns: slot(s, GmresSlots::COLUMNS),
                monitor: monitor.argument(),
            })
        }
    }
    fn gmres_solution(
        &self,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        basis: &[DeviceVector<T>],
        u: &mut DeviceVector<T>,
    ) -> Result<()> {
        check_scalars(s, slots, 0)?;
        check_basis(basis, u, slots)?;
        // SAFETY: the lengths and slots are checked above.
        unsafe {
            self.launch_block(&gmres_solve {
                columns: slot(s, GmresSlots::COLUMNS),
                r: slot(s, slots.column(0)),
                leading: slots.leading() as u32,
                g: slot(s, slots.g()),
                y: slot(s, slots.y()),
            })
        }?;
        self.combine(s, slots, basis, u)
    }
}

impl Gpu {
    /// See [`GmresSteps::gram_schmidt`]. Up to [`WIDTH`] vectors take three passes, the update of the first
    /// round and the dot products of the second sharing one; more vectors take four.
    fn orthogonalise<T: Real>(
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
    fn combine<T: Real>(
        &self,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        basis: &[DeviceVector<T>],
        u: &DeviceVector<T>,
    ) -> Result<()> {
        // SAFETY: `u` has this many elements.
        unsafe { self.device().zero(u.address(), u.len() * size_of::<T>())? };
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
        let work = Work::on::<T>(w.len(), basis.len() + 1 + usize::from(!pass.update.is_null()));
        let leading = DeviceVector::distance(basis)?;
        macro_rules! launch {
            ($width:literal) => {{
                let kernel = gram_schmidt::<T, $width> {
                    n: w.len() as u64,
                    basis: basis[0].ptr(),
                    leading: leading as u64,
                    count: basis.len() as u32,
                    update: pass.update,
                    w: w.address() as *mut T,
                    dots: pass.dots,
                    h: pass.h,
                    accumulate: pass.accumulate as u32,
                    norm2: pass.norm2,
                    partials: self.partials(),
                    counter: self.counter(),
                    guard: pass.guard,
                };
                let blocks = w.len().div_ceil(BLOCK as usize).max(1) as u32;
                let resident = self.device().resident_blocks(kernel.name(), BLOCK)?;
                // SAFETY: as in `Gpu::launch`.
                unsafe {
                    let blocks = blocks.min(resident).min(MAX_SUM_BLOCKS);
                    self.queue(work.bytes, [blocks, BLOCK], &kernel)
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
