//! GPUs, and the simulator: the only caller of the kernels.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_std::Real;
use gpu_kernels::coefficient::Coefficient;
use gpu_kernels::gram_schmidt::{gmres_rotate, gmres_solve, gmres_start, gram_schmidt};
use gpu_kernels::monitor::Guard;
use gpu_kernels::reduce::Reduction;
use gpu_kernels::{BLOCK, MAX_REDUCTION_BLOCKS, blas1, epilogue, krylov, monitor, reduce};

use super::{Backend, Coef, GmresSlots, Progress, Slot};
use crate::error::Result;
use crate::launch::{Launch, sim::Sim};
use crate::matrix::AnyMatrix;

mod matrix;
mod memory;

pub use matrix::DeviceMatrix;
pub use memory::{DeviceVector, check_memory};
use memory::Buffer;

/// Basis vectors that one launch of the widest Gram-Schmidt kernel handles.
const GRAM_SCHMIDT_WIDTH: usize = 32;
/// Blocks of a Gram-Schmidt launch at most; scratch memory is sized by it.
const GRAM_SCHMIDT_BLOCKS: u32 = 1024;
/// Without any progress for this long, faults are looked for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A backend that launches kernels on one device.
#[derive(Clone)]
pub struct Gpu {
    device: Arc<dyn Launch>,
    partials: Arc<Buffer>,
    counter: Arc<Buffer>,
    guard: Option<DeviceMonitor>,
}

/// The state of an iteration on the device; see [`gpu_kernels::monitor::Monitor`].
#[derive(Clone)]
pub struct DeviceMonitor {
    state: Arc<Buffer>,
    mirror: Arc<Buffer>,
    threshold: f64,
    limit: u32,
}

/// Bytes of the mirrored state before the history.
const MIRROR_BYTES: u64 = 8;

impl DeviceMonitor {
    fn guard(&self) -> Guard {
        Guard { state: self.state.address as *mut u32, mirror: self.mirror.address as *mut u32 }
    }

    fn argument(&self) -> monitor::Monitor {
        monitor::Monitor {
            guard: self.guard(),
            history: (self.mirror.address + MIRROR_BYTES) as *mut f64,
            threshold: self.threshold,
            limit: self.limit,
        }
    }

    fn progress(&self) -> Progress {
        let mirror = self.mirror.address as *const u32;
        let history = (self.mirror.address + MIRROR_BYTES) as *const f64;
        // SAFETY: host-visible memory, which the device writes at any time; so many norms are there.
        unsafe {
            let observed = mirror.add(1).read_volatile();
            let norm = match observed {
                0 => f64::NAN,
                _ => history.add(observed as usize - 1).read_volatile(),
            };
            Progress { status: mirror.read_volatile(), observed, norm }
        }
    }
}

/// Scalars in device memory.
pub type DeviceScalars<T> = DeviceVector<T>;

impl Gpu {
    /// A backend on `device`. Takes a little device memory for reductions.
    pub fn new(device: Arc<dyn Launch>) -> Result<Self> {
        let partials = (2 * MAX_REDUCTION_BLOCKS)
            .max((GRAM_SCHMIDT_WIDTH as u32 + 1) * GRAM_SCHMIDT_BLOCKS) as usize;
        let partials = Buffer::new(&device, partials * size_of::<f64>())?;
        let counter = Buffer::zeroed(&device, size_of::<u32>())?;
        Ok(Gpu { device, partials, counter, guard: None })
    }

    /// A backend on the simulator.
    pub fn simulated() -> Result<Self> {
        Gpu::new(Arc::new(Sim::new()))
    }

    /// The device.
    pub fn device(&self) -> &Arc<dyn Launch> {
        &self.device
    }

    /// Launches with one thread an element, as many blocks as that takes.
    fn launch(&self, threads: usize, kernel: &dyn cuda_std::host::Kernel) -> Result<()> {
        let blocks = threads.div_ceil(BLOCK as usize) as u32;
        // SAFETY: the arguments come from vectors and matrices of matching sizes, which live until this
        // device has done what is queued: freeing waits for it.
        unsafe { self.device.launch(blocks, BLOCK, kernel) }
    }

    /// Launches a kernel with a reduction: at least one block, so that the result is written even for
    /// empty vectors, and no more than are resident at once, because every block costs a partial sum.
    fn launch_reduction(&self, threads: usize, kernel: &dyn cuda_std::host::Kernel) -> Result<()> {
        let resident = self.device.resident_blocks(kernel.name(), BLOCK)?;
        let most = resident.min(MAX_REDUCTION_BLOCKS) as usize;
        let blocks = threads.div_ceil(BLOCK as usize).clamp(1, most);
        // SAFETY: as in `launch`.
        unsafe { self.device.launch(blocks as u32, BLOCK, kernel) }
    }

    /// Launches one block.
    fn launch_block(&self, kernel: &dyn cuda_std::host::Kernel) -> Result<()> {
        // SAFETY: as in `launch`.
        unsafe { self.device.launch(1, BLOCK, kernel) }
    }

    fn guard(&self) -> Guard {
        let unguarded = Guard { state: std::ptr::null_mut(), mirror: std::ptr::null_mut() };
        self.guard.as_ref().map_or(unguarded, DeviceMonitor::guard)
    }

    fn reduction<T: Real>(&self, s: &DeviceScalars<T>, out: Slot) -> Reduction<T> {
        Reduction {
            partials: self.partials.address as *mut T,
            counter: self.counter.address as *mut u32,
            out: slot(s, out),
        }
    }

    fn allocate<T: Real>(&self, len: usize) -> Result<DeviceVector<T>> {
        let buffer = Buffer::zeroed(&self.device, len * size_of::<T>())?;
        Ok(DeviceVector { buffer, offset: 0, len, element: PhantomData })
    }

    /// One Gram-Schmidt launch over at most [`GRAM_SCHMIDT_WIDTH`] vectors from `first` on.
    fn gram_schmidt_pass<T: Real>(&self, basis: &[DeviceVector<T>], w: &DeviceVector<T>, pass: Pass<T>) -> Result<()> {
        let leading = if basis.len() > 1 { basis[1].offset - basis[0].offset } else { 0 };
        macro_rules! kernel {
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
                let resident = self.device.resident_blocks(cuda_std::host::Kernel::name(&kernel), BLOCK)?;
                // SAFETY: as in `launch`.
                unsafe { self.device.launch(blocks.min(resident).min(GRAM_SCHMIDT_BLOCKS), BLOCK, &kernel) }
            }};
        }
        match basis.len() {
            0..=8 => kernel!(8),
            9..=16 => kernel!(16),
            _ => kernel!(32),
        }
    }
}

/// The parts of a Gram-Schmidt pass that vary; null pointers leave a part out.
#[derive(Clone, Copy)]
struct Pass<T> {
    update: *const T,
    dots: *mut T,
    h: *mut T,
    accumulate: bool,
    norm2: *mut T,
    guard: Guard,
}

/// The address of a scalar.
fn slot<T: Real>(s: &DeviceScalars<T>, slot: Slot) -> *mut T {
    debug_assert!(slot.0 < s.len);
    (s.address() as *mut T).wrapping_add(slot.0)
}

fn coefficient<T: Real>(s: &DeviceScalars<T>, coef: Coef) -> Coefficient<T> {
    let pointer = |slot_or_one: Option<Slot>| slot_or_one.map_or(std::ptr::null(), |i| slot(s, i).cast_const());
    Coefficient {
        scale: T::from_f64(coef.scale),
        num: coef.num.map(pointer),
        den: coef.den.map(pointer),
    }
}

fn pointer_or_null<T: Real>(d: Option<&DeviceVector<T>>) -> *const T {
    d.map_or(std::ptr::null(), |d| d.ptr())
}

impl<T: Real> Backend<T> for Gpu {
    type Vector = DeviceVector<T>;
    type Matrix = DeviceMatrix<T>;
    type Scalars = DeviceScalars<T>;
    type Monitor = DeviceMonitor;

    fn zeros(&self, n: usize) -> Result<DeviceVector<T>> {
        self.allocate(n)
    }
    fn vector(&self, values: &[T]) -> Result<DeviceVector<T>> {
        let buffer = Buffer::from_slice(&self.device, values)?;
        Ok(DeviceVector { buffer, offset: 0, len: values.len(), element: PhantomData })
    }
    fn vectors(&self, n: usize, count: usize) -> Result<Vec<DeviceVector<T>>> {
        // Each vector starts at a whole number of cache lines.
        let leading = n.next_multiple_of(32);
        let all: DeviceVector<T> = self.allocate(leading * count)?;
        let column = |j| DeviceVector { buffer: all.buffer.clone(), offset: j * leading, len: n, element: PhantomData };
        Ok((0..count).map(column).collect())
    }
    fn to_host(&self, x: &DeviceVector<T>) -> Result<Vec<T>> {
        x.to_host()
    }
    fn scalars(&self, n: usize) -> Result<DeviceScalars<T>> {
        self.allocate(n)
    }
    fn read(&self, scalars: &DeviceScalars<T>, slot: Slot) -> Result<T> {
        let one = DeviceVector { buffer: scalars.buffer.clone(), offset: slot.0, len: 1, element: PhantomData };
        Ok(one.to_host()?[0])
    }
    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<DeviceMatrix<T>> {
        DeviceMatrix::upload(&self.device, matrix)
    }
    fn synchronize(&self) -> Result<()> {
        self.device.synchronize()
    }

    fn monitor(&self, limit: u32, threshold: f64) -> Result<DeviceMonitor> {
        let state = Buffer::zeroed(&self.device, 8)?;
        let mirror_bytes = MIRROR_BYTES as usize + (limit as usize + 1) * size_of::<f64>();
        let mirror = Buffer::host_visible(&self.device, mirror_bytes)?;
        // SAFETY: host-visible memory of this size, which no kernel uses yet.
        unsafe { std::ptr::write_bytes(mirror.address as *mut u8, 0, mirror_bytes) };
        Ok(DeviceMonitor { state, mirror, threshold, limit })
    }
    fn guarded(&self, monitor: &DeviceMonitor) -> Self {
        Gpu { guard: Some(monitor.clone()), ..self.clone() }
    }
    fn wait(&self, monitor: &DeviceMonitor, observed: u32) -> Result<Progress> {
        let mut last = (monitor.progress(), Instant::now());
        loop {
            let progress = monitor.progress();
            if !progress.running() || progress.observed >= observed {
                return Ok(progress);
            }
            if progress.observed != last.0.observed {
                last = (progress, Instant::now());
            } else if last.1.elapsed() > PATIENCE {
                // Either the device is slow, or a fault has stopped it: the latter is reported here.
                self.device.synchronize()?;
                return Ok(monitor.progress());
            }
            std::hint::spin_loop();
        }
    }
    fn history(&self, monitor: &DeviceMonitor) -> Result<Vec<f64>> {
        self.device.synchronize()?;
        let observed = monitor.progress().observed as usize;
        let history = (monitor.mirror.address + MIRROR_BYTES) as *const f64;
        // SAFETY: so many norms were stored, and the device is idle.
        Ok(unsafe { std::slice::from_raw_parts(history, observed) }.to_vec())
    }
    fn observe(&self, s: &DeviceScalars<T>, square: Slot, monitor: &DeviceMonitor) -> Result<()> {
        self.launch_block(&monitor::observe::<T> { square: slot(s, square), monitor: monitor.argument() })
    }

    fn copy(&self, x: &DeviceVector<T>, y: &mut DeviceVector<T>) -> Result<()> {
        let (one, zero) = (constant(1.0), constant(0.0));
        let guard = self.guard();
        let (x, z) = (x.ptr(), y.ptr_mut());
        self.launch(y.len, &blas1::axpby { n: y.len as u64, a: one, x, b: zero, y: z, z, guard })
    }
    fn fill(&self, value: T, x: &mut DeviceVector<T>) -> Result<()> {
        self.launch(x.len, &blas1::fill { n: x.len as u64, value, x: x.ptr_mut(), guard: self.guard() })
    }
    fn scale(&self, s: &DeviceScalars<T>, a: Coef, x: &mut DeviceVector<T>) -> Result<()> {
        let (a, zero, guard) = (coefficient(s, a), constant(0.0), self.guard());
        let z = x.ptr_mut();
        self.launch(x.len, &blas1::axpby { n: x.len as u64, a, x: z, b: zero, y: z, z, guard })
    }
    fn axpby(
        &self,
        s: &DeviceScalars<T>,
        a: Coef,
        x: &DeviceVector<T>,
        b: Coef,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        let z = y.ptr_mut();
        let (a, b) = (coefficient(s, a), coefficient(s, b));
        let guard = self.guard();
        self.launch(y.len, &blas1::axpby { n: y.len as u64, a, x: x.ptr(), b, y: z, z, guard })
    }
    fn axpbypcz(
        &self,
        s: &DeviceScalars<T>,
        a: Coef,
        x: &DeviceVector<T>,
        b: Coef,
        y: &DeviceVector<T>,
        c: Coef,
        z: &mut DeviceVector<T>,
    ) -> Result<()> {
        let kernel = blas1::axpbypcz {
            n: z.len as u64,
            a: coefficient(s, a),
            x: x.ptr(),
            b: coefficient(s, b),
            y: y.ptr(),
            c: coefficient(s, c),
            z: z.ptr_mut(),
            guard: self.guard(),
        };
        self.launch(z.len, &kernel)
    }
    fn scale_rows(
        &self,
        a: T,
        d: &DeviceVector<T>,
        x: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        let (d, x, guard) = (d.ptr(), x.ptr(), self.guard());
        self.launch(y.len, &blas1::scale_rows { n: y.len as u64, a, d, x, y: y.ptr_mut(), guard })
    }

    fn dot(&self, x: &DeviceVector<T>, y: &DeviceVector<T>, s: &DeviceScalars<T>, out: Slot) -> Result<()> {
        let (reduction, guard) = (self.reduction(s, out), self.guard());
        let kernel = reduce::dot { n: x.len as u64, x: x.ptr(), y: y.ptr(), reduction, guard };
        self.launch_reduction(x.len, &kernel)
    }
    fn sum(&self, x: &DeviceVector<T>, s: &DeviceScalars<T>, out: Slot) -> Result<()> {
        let (reduction, guard) = (self.reduction(s, out), self.guard());
        self.launch_reduction(x.len, &reduce::sum { n: x.len as u64, x: x.ptr(), reduction, guard })
    }
    fn norm_max(&self, x: &DeviceVector<T>, s: &DeviceScalars<T>, out: Slot) -> Result<()> {
        let (reduction, guard) = (self.reduction(s, out), self.guard());
        self.launch_reduction(x.len, &reduce::norm_max { n: x.len as u64, x: x.ptr(), reduction, guard })
    }

    fn spmv(&self, a: &DeviceMatrix<T>, x: &DeviceVector<T>, y: &mut DeviceVector<T>) -> Result<()> {
        self.multiply(a, x, epilogue::Product { y: y.ptr_mut() })
    }
    fn residual(
        &self,
        a: &DeviceMatrix<T>,
        x: &DeviceVector<T>,
        b: &DeviceVector<T>,
        r: &mut DeviceVector<T>,
    ) -> Result<()> {
        self.multiply(a, x, epilogue::Residual { b: b.ptr(), r: r.ptr_mut() })
    }
    fn sweep(
        &self,
        a: &DeviceMatrix<T>,
        omega: T,
        d: &DeviceVector<T>,
        b: &DeviceVector<T>,
        x: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        let sweep = epilogue::Sweep { omega, d: d.ptr(), b: b.ptr(), x: x.ptr(), y: y.ptr_mut() };
        self.multiply(a, x, sweep)
    }
    fn sweep_norm(
        &self,
        a: &DeviceMatrix<T>,
        omega: T,
        d: &DeviceVector<T>,
        b: &DeviceVector<T>,
        x: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
        s: &DeviceScalars<T>,
        out: Slot,
        monitor: &DeviceMonitor,
    ) -> Result<()> {
        let sweep = epilogue::Sweep { omega, d: d.ptr(), b: b.ptr(), x: x.ptr(), y: y.ptr_mut() };
        let reduction = self.reduction(s, out);
        self.multiply(a, x, epilogue::SweepNorm { sweep, reduction, monitor: monitor.argument() })
    }
    fn spmv_dot(
        &self,
        a: &DeviceMatrix<T>,
        x: &DeviceVector<T>,
        w: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
        s: &DeviceScalars<T>,
        out: Slot,
    ) -> Result<()> {
        let reduction = self.reduction(s, out);
        self.multiply(a, x, epilogue::ProductDot { y: y.ptr_mut(), w: w.ptr(), reduction })
    }

    fn cg_step(
        &self,
        s: &DeviceScalars<T>,
        rho: Slot,
        p_ap: Slot,
        p: &DeviceVector<T>,
        ap: &DeviceVector<T>,
        d: Option<&DeviceVector<T>>,
        x: &mut DeviceVector<T>,
        r: &mut DeviceVector<T>,
        out: Slot,
        monitor: &DeviceMonitor,
    ) -> Result<()> {
        let kernel = krylov::cg_step {
            n: x.len as u64,
            rho: slot(s, rho),
            p_ap: slot(s, p_ap),
            p: p.ptr(),
            ap: ap.ptr(),
            d: pointer_or_null(d),
            x: x.ptr_mut(),
            r: r.ptr_mut(),
            reduction: self.reduction(s, out),
            monitor: monitor.argument(),
        };
        self.launch_reduction(x.len, &kernel)
    }
    fn direction(
        &self,
        s: &DeviceScalars<T>,
        d: Option<&DeviceVector<T>>,
        z: &DeviceVector<T>,
        beta: Coef,
        p: &mut DeviceVector<T>,
    ) -> Result<()> {
        let (d, beta, guard) = (pointer_or_null(d), coefficient(s, beta), self.guard());
        let kernel = krylov::direction { n: p.len as u64, d, z: z.ptr(), beta, p: p.ptr_mut(), guard };
        self.launch(p.len, &kernel)
    }

    fn gram_schmidt(
        &self,
        basis: &[DeviceVector<T>],
        w: &mut DeviceVector<T>,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        h: Slot,
    ) -> Result<()> {
        let null = std::ptr::null_mut();
        let (dots, h, norm2) = (slot(s, slots.dots()), slot(s, h), slot(s, GmresSlots::NORM2));
        let nothing =
            Pass { update: null, dots: null, h: null, accumulate: false, norm2: null, guard: self.guard() };
        let pieces = basis.chunks(GRAM_SCHMIDT_WIDTH).enumerate();
        let pieces = pieces.map(|(k, piece)| (piece, k * GRAM_SCHMIDT_WIDTH));
        let dots_of = |first: usize| (dots.wrapping_add(first), h.wrapping_add(first));
        for (piece, first) in pieces.clone() {
            let (dots, h) = dots_of(first);
            self.gram_schmidt_pass(piece, w, Pass { dots, h, ..nothing })?;
        }
        if basis.len() <= GRAM_SCHMIDT_WIDTH {
            self.gram_schmidt_pass(basis, w, Pass { update: dots, dots, h, accumulate: true, ..nothing })?;
        } else {
            for (piece, first) in pieces.clone() {
                self.gram_schmidt_pass(piece, w, Pass { update: dots_of(first).0, ..nothing })?;
            }
            for (piece, first) in pieces.clone() {
                let (dots, h) = dots_of(first);
                self.gram_schmidt_pass(piece, w, Pass { dots, h, accumulate: true, ..nothing })?;
            }
        }
        for (piece, first) in pieces {
            let norm2 = if first + piece.len() == basis.len() { norm2 } else { null };
            self.gram_schmidt_pass(piece, w, Pass { update: dots_of(first).0, norm2, ..nothing })?;
        }
        Ok(())
    }
    fn gmres_start(&self, s: &DeviceScalars<T>, slots: GmresSlots) -> Result<()> {
        self.launch_block(&gmres_start {
            norm2: slot(s, GmresSlots::NORM2),
            beta: slot(s, GmresSlots::BETA),
            g: slot(s, slots.g()),
            columns: slot(s, GmresSlots::COLUMNS),
            guard: self.guard(),
        })
    }
    fn gmres_rotate(
        &self,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        j: usize,
        monitor: &DeviceMonitor,
    ) -> Result<()> {
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
    fn gmres_solution(
        &self,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        basis: &[DeviceVector<T>],
        u: &mut DeviceVector<T>,
    ) -> Result<()> {
        self.launch_block(&gmres_solve {
            columns: slot(s, GmresSlots::COLUMNS),
            r: slot(s, slots.column(0)),
            leading: slots.leading() as u32,
            g: slot(s, slots.g()),
            y: slot(s, slots.y()),
        })?;
        // SAFETY: `u` has this many elements.
        unsafe { self.device.zero(u.address(), u.len * size_of::<T>())? };
        // Vectors beyond the columns done may hold NaN, so that a factor 0 would not do.
        let columns = self.read(s, GmresSlots::COLUMNS)?.to_f64() as usize;
        let null = std::ptr::null_mut();
        let guard = Guard { state: std::ptr::null_mut(), mirror: std::ptr::null_mut() };
        for (k, piece) in basis[..columns].chunks(GRAM_SCHMIDT_WIDTH).enumerate() {
            let update = slot(s, slots.y()).wrapping_add(k * GRAM_SCHMIDT_WIDTH);
            let pass = Pass { update, dots: null, h: null, accumulate: false, norm2: null, guard };
            self.gram_schmidt_pass(piece, u, pass)?;
        }
        Ok(())
    }
}

fn constant<T: Real>(scale: f64) -> Coefficient<T> {
    Coefficient { scale: T::from_f64(scale), num: [std::ptr::null(); 2], den: [std::ptr::null(); 2] }
}
