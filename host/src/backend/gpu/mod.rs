//! GPUs, and the simulator: the only caller of the kernels.

use std::marker::PhantomData;
use std::sync::Arc;

use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::coefficient::Coefficient;
use gpu_kernels::gram_schmidt::{gmres_rotate, gmres_solve, gmres_start};
use gpu_kernels::krylov::Entry;
use gpu_kernels::monitor::Guard;
use gpu_kernels::monitor::observe;
use gpu_kernels::reduce::Reduction;
use gpu_kernels::{BLOCK, MAX_REDUCTION_BLOCKS, blas1, epilogue, krylov, reduce};

use super::{Backend, Coef, GmresSlots, Progress, Slot};
use crate::error::Result;
use crate::launch::{Graph, Launch, sim::Sim};
use crate::matrix::AnyMatrix;

mod algebra;
mod cells;
mod csr;
mod gram_schmidt;
mod matrix;
mod memory;
mod monitor;
mod setup;
mod work;

pub use csr::{DeviceCsr, DeviceIndices};
pub use matrix::DeviceMatrix;
use memory::Buffer;
pub use memory::{DeviceVector, check_memory};
pub use monitor::DeviceMonitor;
pub(crate) use work::Work;

/// The guard of a launch that nothing stops.
const UNGUARDED: Guard = Guard { state: std::ptr::null_mut(), mirror: std::ptr::null_mut() };

/// A backend that launches kernels on one device.
#[derive(Clone)]
pub struct Gpu {
    device: Arc<dyn Launch>,
    partials: Arc<Buffer>,
    counter: Arc<Buffer>,
    guard: Option<DeviceMonitor>,
}

/// Scalars in device memory.
pub type DeviceScalars<T> = DeviceVector<T>;

impl Gpu {
    /// A backend on `device`. Takes a little device memory for reductions.
    pub fn new(device: Arc<dyn Launch>) -> Result<Self> {
        let most_sums = (gram_schmidt::WIDTH as u32 + 1) * gram_schmidt::MAX_BLOCKS;
        let partials = (2 * MAX_REDUCTION_BLOCKS).max(most_sums) as usize;
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

    /// Makes the kernels ready that a multigrid set-up and CG use with numbers of these types, several at a time.
    pub fn preload_multigrid(&self, types: &[&str]) -> Result<()> {
        let elsewhere = ["gram_schmidt", "gmres", "_ell_", "_u64_", "sweep_norm", "react_", "activate"];
        let of_a_type = |name: &str| {
            let is = |t: &str| name.contains(t);
            (types.iter().any(|t| is(t)) || !(is("f32") || is("f64"))) && !elsewhere.iter().any(|t| is(t))
        };
        let names: Vec<&'static str> =
            gpu_kernels::entries().into_iter().filter(|name| of_a_type(name)).collect();
        self.device.preload(&names)
    }

    /// Launches with as many blocks as the threads of the work take.
    pub(crate) fn launch(&self, work: impl Into<Work>, kernel: &dyn Kernel) -> Result<()> {
        self.launch_in_blocks_of(BLOCK, work, kernel)
    }

    /// [`Backend::cg_step`] with an entry into a preconditioner, which moves so many bytes more.
    #[allow(clippy::too_many_arguments)]
    fn cg_step_with<T: Real, S: Real>(
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
        entry: Entry<S>,
        bytes: usize,
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
            entry,
            reduction: self.reduction(s, out),
            monitor: monitor.argument(),
        };
        let of_step = (6 + usize::from(d.is_some())) * size_of::<T>() * x.len;
        self.launch_reduction(Work::moving(x.len, (of_step + bytes) as u64), &kernel)
    }

    fn launch_in_blocks_of(&self, block: u32, work: impl Into<Work>, kernel: &dyn Kernel) -> Result<()> {
        let Work { threads, bytes } = work.into();
        let blocks = threads.div_ceil(block as usize) as u32;
        // SAFETY: the arguments come from vectors and matrices of matching sizes, which live until this
        // device has done what is queued: they are given back behind it.
        unsafe { self.device.launch_moving(bytes, blocks, block, kernel) }
    }

    /// Launches a kernel with a reduction: at least one block, so that the result is written even for
    /// empty vectors, and no more than are resident at once, because every block costs a partial sum.
    pub(crate) fn launch_reduction(&self, work: impl Into<Work>, kernel: &dyn Kernel) -> Result<()> {
        let Work { threads, bytes } = work.into();
        let resident = self.device.resident_blocks(kernel.name(), BLOCK)?;
        let most = resident.min(MAX_REDUCTION_BLOCKS) as usize;
        let blocks = threads.div_ceil(BLOCK as usize).clamp(1, most);
        // SAFETY: as in `launch`.
        unsafe { self.device.launch_moving(bytes, blocks as u32, BLOCK, kernel) }
    }

    /// Launches one block.
    fn launch_block(&self, kernel: &dyn Kernel) -> Result<()> {
        // SAFETY: as in `launch`.
        unsafe { self.device.launch(1, BLOCK, kernel) }
    }

    fn guard(&self) -> Guard {
        self.guard.as_ref().map_or(UNGUARDED, DeviceMonitor::guard)
    }

    pub(crate) fn reduction<T: Real>(&self, s: &DeviceScalars<T>, out: Slot) -> Reduction<T> {
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
}

/// The address of a scalar.
fn slot<T: Real>(s: &DeviceScalars<T>, slot: Slot) -> *mut T {
    debug_assert!(slot.0 < s.len);
    (s.address() as *mut T).wrapping_add(slot.0)
}

fn coefficient<T: Real>(s: &DeviceScalars<T>, coef: Coef) -> Coefficient<T> {
    let pointer =
        |slot_or_one: Option<Slot>| slot_or_one.map_or(std::ptr::null(), |i| slot(s, i).cast_const());
    Coefficient { scale: T::from_f64(coef.scale), num: coef.num.map(pointer), den: coef.den.map(pointer) }
}

/// Rows of the blocks on the diagonal of the matrix that `d` stands for, one of as many rows as `x` has.
fn block_of<T: Real>(d: &DeviceVector<T>, x: &DeviceVector<T>) -> usize {
    d.len / x.len.max(1)
}

/// How many vectors `x` and `y` are.
fn distinct<T: Real>(x: &DeviceVector<T>, y: &DeviceVector<T>) -> usize {
    1 + usize::from(x.address() != y.address())
}

fn pointer_or_null<T: Real>(d: Option<&DeviceVector<T>>) -> *const T {
    d.map_or(std::ptr::null(), |d| d.ptr())
}

impl<T: Real> Backend<T> for Gpu {
    type Vector = DeviceVector<T>;
    type Matrix = DeviceMatrix<T>;
    type Scalars = DeviceScalars<T>;
    type Monitor = DeviceMonitor;
    type Recording = Graph;

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
        let column = |j| DeviceVector {
            buffer: all.buffer.clone(),
            offset: j * leading,
            len: n,
            element: PhantomData,
        };
        Ok((0..count).map(column).collect())
    }
    fn to_host(&self, x: &DeviceVector<T>) -> Result<Vec<T>> {
        x.to_host()
    }
    fn scalars(&self, n: usize) -> Result<DeviceScalars<T>> {
        self.allocate(n)
    }
    fn read(&self, scalars: &DeviceScalars<T>, slot: Slot) -> Result<T> {
        let one =
            DeviceVector { buffer: scalars.buffer.clone(), offset: slot.0, len: 1, element: PhantomData };
        Ok(one.to_host()?[0])
    }
    fn read_all(&self, scalars: &DeviceScalars<T>) -> Result<Vec<T>> {
        scalars.to_host()
    }
    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<DeviceMatrix<T>> {
        DeviceMatrix::upload(&self.device, matrix)
    }
    fn synchronize(&self) -> Result<()> {
        self.device.synchronize()
    }

    fn monitor(&self, limit: u32, threshold: f64) -> Result<DeviceMonitor> {
        DeviceMonitor::new(&self.device, limit, threshold)
    }
    fn guarded(&self, monitor: &DeviceMonitor) -> Self {
        Gpu { guard: Some(monitor.clone()), ..self.clone() }
    }
    fn wait(&self, monitor: &DeviceMonitor, observed: u32) -> Result<Progress> {
        monitor.wait(&*self.device, observed)
    }
    fn history(&self, monitor: &DeviceMonitor) -> Result<Vec<f64>> {
        monitor.history(&*self.device)
    }
    fn record(&self, work: &mut dyn FnMut(&Self) -> Result<()>) -> Result<Option<Graph>> {
        self.device.record_graph(&mut || work(self))
    }
    unsafe fn replay(&self, recording: &Graph) -> Result<()> {
        // SAFETY: the caller vouches for the memory; the launches were safe when they were recorded.
        unsafe { self.device.replay(recording) }
    }
    fn observe(&self, s: &DeviceScalars<T>, square: Slot, monitor: &DeviceMonitor) -> Result<()> {
        self.launch_block(&observe::<T> { square: slot(s, square), monitor: monitor.argument() })
    }

    fn copy(&self, x: &DeviceVector<T>, y: &mut DeviceVector<T>) -> Result<()> {
        let (one, zero) = (constant(1.0), constant(0.0));
        let guard = self.guard();
        let (x, z) = (x.ptr(), y.ptr_mut());
        let work = Work::on::<T>(y.len, 2);
        self.launch(work, &blas1::axpby { n: y.len as u64, a: one, x, b: zero, y: z, z, guard })
    }
    fn fill(&self, value: T, x: &mut DeviceVector<T>) -> Result<()> {
        let work = Work::on::<T>(x.len, 1);
        self.launch(work, &blas1::fill { n: x.len as u64, value, x: x.ptr_mut(), guard: self.guard() })
    }
    fn scale(&self, s: &DeviceScalars<T>, a: Coef, x: &mut DeviceVector<T>) -> Result<()> {
        let (a, zero, guard) = (coefficient(s, a), constant(0.0), self.guard());
        let z = x.ptr_mut();
        let work = Work::on::<T>(x.len, 2);
        self.launch(work, &blas1::axpby { n: x.len as u64, a, x: z, b: zero, y: z, z, guard })
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
        let work = Work::on::<T>(y.len, 3);
        self.launch(work, &blas1::axpby { n: y.len as u64, a, x: x.ptr(), b, y: z, z, guard })
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
        self.launch(Work::on::<T>(z.len, 4), &kernel)
    }
    fn scale_rows(
        &self,
        a: T,
        d: &DeviceVector<T>,
        x: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        let (block, n, guard) = (block_of(d, x), y.len as u64, self.guard());
        let work = Work::on::<T>(y.len, 2 + block);
        let (d, x, z) = (d.ptr(), x.ptr(), y.ptr_mut());
        match block {
            2 => self.launch(work, &blas1::scale_blocks::<T, 2> { n: n / 2, a, d, x, y: z, guard }),
            3 => self.launch(work, &blas1::scale_blocks::<T, 3> { n: n / 3, a, d, x, y: z, guard }),
            _ => self.launch(work, &blas1::scale_rows { n, a, d, x, y: z, guard }),
        }
    }

    fn dot(&self, x: &DeviceVector<T>, y: &DeviceVector<T>, s: &DeviceScalars<T>, out: Slot) -> Result<()> {
        let (reduction, guard) = (self.reduction(s, out), self.guard());
        let kernel = reduce::dot { n: x.len as u64, x: x.ptr(), y: y.ptr(), reduction, guard };
        self.launch_reduction(Work::on::<T>(x.len, distinct(x, y)), &kernel)
    }
    fn sum(&self, x: &DeviceVector<T>, s: &DeviceScalars<T>, out: Slot) -> Result<()> {
        let (reduction, guard) = (self.reduction(s, out), self.guard());
        let kernel = reduce::sum { n: x.len as u64, x: x.ptr(), reduction, guard };
        self.launch_reduction(Work::on::<T>(x.len, 1), &kernel)
    }
    fn norm_max(&self, x: &DeviceVector<T>, s: &DeviceScalars<T>, out: Slot) -> Result<()> {
        let (reduction, guard) = (self.reduction(s, out), self.guard());
        let kernel = reduce::norm_max { n: x.len as u64, x: x.ptr(), reduction, guard };
        self.launch_reduction(Work::on::<T>(x.len, 1), &kernel)
    }

    fn spmv(&self, a: &DeviceMatrix<T>, x: &DeviceVector<T>, y: &mut DeviceVector<T>) -> Result<()> {
        self.multiply(a, x, 1, epilogue::Product { y: y.ptr_mut() })
    }
    fn spmv_add(&self, a: &DeviceMatrix<T>, x: &DeviceVector<T>, y: &mut DeviceVector<T>) -> Result<()> {
        self.multiply(a, x, 2, epilogue::Accumulate { y: y.ptr_mut() })
    }
    fn spmv_scaled(
        &self,
        a: &DeviceMatrix<T>,
        x: &DeviceVector<T>,
        omega: T,
        d: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
        z: &mut DeviceVector<T>,
    ) -> Result<()> {
        let block = block_of(d, y);
        let (d, y, z) = (d.ptr(), y.ptr_mut(), z.ptr_mut());
        match block {
            1 => self.multiply(a, x, 3, epilogue::ProductScaled { omega, d, y, z }),
            _ => self.multiply_blocks(a, x, 2 + block, epilogue::BlockProductScaled { omega, d, y, z }),
        }
    }
    fn residual(
        &self,
        a: &DeviceMatrix<T>,
        x: &DeviceVector<T>,
        b: &DeviceVector<T>,
        r: &mut DeviceVector<T>,
    ) -> Result<()> {
        self.multiply(a, x, 2, epilogue::Residual { b: b.ptr(), r: r.ptr_mut() })
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
        let block = block_of(d, b);
        let (d, b, old, y) = (d.ptr(), b.ptr(), x.ptr(), y.ptr_mut());
        match block {
            1 => self.multiply(a, x, 3, epilogue::Sweep { omega, d, b, x: old, y }),
            _ => self.multiply_blocks(a, x, 2 + block, epilogue::BlockSweep { omega, d, b, x: old, y }),
        }
    }
    fn sweep_add(
        &self,
        a: &DeviceMatrix<T>,
        omega: T,
        d: &DeviceVector<T>,
        b: &DeviceVector<T>,
        x: &DeviceVector<T>,
        y: &mut DeviceVector<T>,
    ) -> Result<()> {
        let y = y.ptr_mut();
        self.multiply(a, x, 4, epilogue::Sweep { omega, d: d.ptr(), b: b.ptr(), x: y, y })
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
        self.multiply(a, x, 3, epilogue::SweepNorm { sweep, reduction, monitor: monitor.argument() })
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
        self.multiply(a, x, distinct(x, w), epilogue::ProductDot { y: y.ptr_mut(), w: w.ptr(), reduction })
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
        let nowhere =
            Entry { omega: T::ZERO, d: std::ptr::null(), y: std::ptr::null_mut(), z: std::ptr::null_mut() };
        self.cg_step_with(s, rho, p_ap, p, ap, d, x, r, out, monitor, nowhere, 0)
    }
    fn direction(
        &self,
        s: &DeviceScalars<T>,
        d: Option<&DeviceVector<T>>,
        z: &DeviceVector<T>,
        beta: Coef,
        p: &mut DeviceVector<T>,
    ) -> Result<()> {
        let work = Work::on::<T>(p.len, 3 + usize::from(d.is_some()));
        let (d, beta, guard) = (pointer_or_null(d), coefficient(s, beta), self.guard());
        let kernel = krylov::direction { n: p.len as u64, d, z: z.ptr(), beta, p: p.ptr_mut(), guard };
        self.launch(work, &kernel)
    }

    fn gram_schmidt(
        &self,
        basis: &[DeviceVector<T>],
        w: &mut DeviceVector<T>,
        s: &DeviceScalars<T>,
        slots: GmresSlots,
        h: Slot,
    ) -> Result<()> {
        self.orthogonalise(basis, w, s, slots, h)
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
        self.combine(s, slots, basis, u)
    }
}

fn constant<T: Real>(scale: f64) -> Coefficient<T> {
    Coefficient { scale: T::from_f64(scale), num: [std::ptr::null(); 2], den: [std::ptr::null(); 2] }
}
