//! Several right-hand sides at once: a backend whose vectors have a column for each.
//!
//! Columns lie one after the other, and every primitive does for each what it does for one alone, to the same
//! bits on the host: a method that runs here is so many methods at once. What they share is the reading of a
//! matrix, [`Products::multiply_columns`](super::Products::multiply_columns). Each column has its own monitor
//! and stops by itself.
//!
//! Not interleaved: a matrix with a good numbering finds the neighbours of a column's element in the cache
//! line anyway, and so all kernels over vectors are those of one column.

use std::sync::Arc;

use cuda_std::Real;

use super::cpu::Cpu;
use super::gpu::Gpu;
use super::memory::{Length, Memory};
use super::monitoring::{Monitoring, Progress};
use super::reference::Reference;
use super::scalars::Slot;
use crate::error::Result;

pub use at_once::{AtOnce, SideBySide};

mod at_once;
mod products;
mod vectors;

/// A backend of one column, of which several can work side by side.
pub trait OneColumn: Sized + Send + 'static {
    /// Others like it, each with working memory of its own: all may be part of one kernel.
    ///
    /// # Errors
    /// Those of the device.
    fn side_by_side(&self, count: usize) -> Result<SideBySide<Self>>;
}

impl OneColumn for Cpu {
    fn side_by_side(&self, count: usize) -> Result<SideBySide<Self>> {
        Ok((vec![self.clone(); count], None))
    }
}

impl OneColumn for Reference {
    fn side_by_side(&self, count: usize) -> Result<SideBySide<Self>> {
        Ok((vec![self.clone(); count], None))
    }
}

impl OneColumn for Gpu {
    fn side_by_side(&self, count: usize) -> Result<SideBySide<Self>> {
        let (columns, together) = self.columns(count)?;
        Ok((columns, together.map(|together| together as _)))
    }
}

/// A backend for each column.
pub struct Columns<B> {
    pub(crate) backends: Vec<B>,
    at_once: Option<Arc<dyn AtOnce>>,
    /// What the threshold of a monitor is multiplied by.
    thresholds: Vec<f64>,
}

impl<B: OneColumn> Columns<B> {
    /// For `count` columns, at least one.
    ///
    /// # Errors
    /// Those of the device.
    pub fn new(backend: &B, count: usize) -> Result<Self> {
        let (backends, at_once) = backend.side_by_side(count.max(1))?;
        let thresholds = vec![1.0; backends.len()];
        Ok(Columns { backends, at_once, thresholds })
    }
}

impl<B> Columns<B> {
    /// The number of columns.
    pub fn count(&self) -> usize {
        self.backends.len()
    }

    /// What the threshold of a monitor is multiplied by, for each column.
    pub(crate) fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// From now on the threshold of a monitor is multiplied by this, for each column.
    pub fn set_thresholds(&mut self, thresholds: Vec<f64>) {
        debug_assert_eq!(thresholds.len(), self.count());
        self.thresholds = thresholds;
    }

    /// All columns under the guard of one monitor.
    pub(crate) fn guarded_by<T: Real>(&self, monitor: &B::Monitor) -> Self
    where
        B: Monitoring<T>,
    {
        self.of(self.backends.iter().map(|g| g.guarded(monitor)).collect())
    }

    /// These columns on other backends.
    fn of(&self, backends: Vec<B>) -> Self {
        Columns { backends, at_once: self.at_once.clone(), thresholds: self.thresholds.clone() }
    }

    /// Does `work` for each column and its backend: the same, which does not depend on the other columns.
    pub(crate) fn each(&self, work: impl FnMut((usize, &B)) -> Result<()>) -> Result<()> {
        let each = || self.backends.iter().enumerate().try_for_each(work);
        let Some(at_once) = &self.at_once else { return each() };
        at_once.begin();
        let done = each();
        done.and(at_once.end())
    }

    fn collect<R>(&self, make: impl FnMut(&B) -> Result<R>) -> Result<Vec<R>> {
        self.backends.iter().map(make).collect()
    }
}

/// A vector with columns.
pub enum ColumnVector<V> {
    /// One for each.
    Each(Vec<V>),
    /// The same for all, only read: a diagonal.
    Shared(Arc<V>),
}

impl<V> ColumnVector<V> {
    /// Column `c`.
    pub fn column(&self, c: usize) -> &V {
        match self {
            ColumnVector::Each(columns) => &columns[c],
            ColumnVector::Shared(column) => column,
        }
    }

    /// How many there are; 1 where all are the same.
    pub fn count(&self) -> usize {
        match self {
            ColumnVector::Each(columns) => columns.len(),
            ColumnVector::Shared(_) => 1,
        }
    }

    /// The columns.
    pub(crate) fn columns(&self) -> &[V] {
        match self {
            ColumnVector::Each(columns) => columns,
            ColumnVector::Shared(column) => std::slice::from_ref(column),
        }
    }

    /// The columns, to be written.
    pub(crate) fn columns_mut(&mut self) -> &mut [V] {
        match self {
            ColumnVector::Each(columns) => columns,
            ColumnVector::Shared(_) => unreachable!("what columns share is only read"),
        }
    }
}

impl<V: Length> Length for ColumnVector<V> {
    fn length(&self) -> usize {
        self.column(0).length()
    }
}

/// Scalars of each column.
pub struct ColumnScalars<S>(pub(crate) Vec<S>);

impl<S: Length> Length for ColumnScalars<S> {
    fn length(&self) -> usize {
        self.0[0].length()
    }
}

/// Numbers that go to the host or come from there are those of one column after the other.
impl<T: Real, B: Memory<T>> Memory<T> for Columns<B> {
    type Vector = ColumnVector<B::Vector>;
    type Scalars = ColumnScalars<B::Scalars>;

    fn zeros(&self, n: usize) -> Result<Self::Vector> {
        self.collect(|g| g.zeros(n)).map(ColumnVector::Each)
    }
    fn vector(&self, values: &[T]) -> Result<Self::Vector> {
        let n = values.len() / self.count();
        let column = |(c, g): (usize, &B)| g.vector(&values[c * n..][..n]);
        self.backends.iter().enumerate().map(column).collect::<Result<_>>().map(ColumnVector::Each)
    }
    fn vectors(&self, n: usize, count: usize) -> Result<Vec<Self::Vector>> {
        (0..count).map(|_| self.zeros(n)).collect()
    }
    fn copy_to_host(&self, x: &Self::Vector, values: &mut [T]) -> Result<()> {
        let n = values.len() / self.count();
        let mut columns = self.backends.iter().enumerate();
        columns.try_for_each(|(c, g)| g.copy_to_host(x.column(c), &mut values[c * n..][..n]))
    }
    fn to_host(&self, x: &Self::Vector) -> Result<Vec<T>> {
        let columns = self.backends.iter().enumerate().map(|(c, g)| g.to_host(x.column(c)));
        Ok(columns.collect::<Result<Vec<_>>>()?.concat())
    }
    fn scalars(&self, n: usize) -> Result<Self::Scalars> {
        self.collect(|g| g.scalars(n)).map(ColumnScalars)
    }
    fn read_all(&self, scalars: &Self::Scalars) -> Result<Vec<T>> {
        let columns = self.backends.iter().zip(&scalars.0).map(|(g, s)| g.read_all(s));
        Ok(columns.collect::<Result<Vec<_>>>()?.concat())
    }
    /// That of the first column.
    fn read(&self, scalars: &Self::Scalars, slot: Slot) -> Result<T> {
        self.backends[0].read(&scalars.0[0], slot)
    }
    fn write(&self, scalars: &Self::Scalars, first: Slot, values: &[T]) -> Result<()> {
        let n = values.len() / self.count();
        self.each(|(c, g)| g.write(&scalars.0[c], first, &values[c * n..][..n]))
    }
    fn synchronize(&self) -> Result<()> {
        self.each(|(_, g)| g.synchronize())
    }
}

impl<T: Real, B: Monitoring<T>> Monitoring<T> for Columns<B> {
    type Monitor = Vec<B::Monitor>;
    type Recording = B::Recording;

    fn monitor(&self, limit: u32, threshold: f64) -> Result<Self::Monitor> {
        let each = self.backends.iter().zip(&self.thresholds);
        each.map(|(g, factor)| g.monitor(limit, factor * threshold)).collect()
    }
    fn guarded(&self, monitor: &Self::Monitor) -> Self {
        self.of(self.backends.iter().zip(monitor).map(|(g, monitor)| g.guarded(monitor)).collect())
    }
    fn silent(&self, monitor: &Self::Monitor) -> Self::Monitor {
        self.backends.iter().zip(monitor).map(|(g, monitor)| g.silent(monitor)).collect()
    }
    /// Whether all columns have.
    fn has_stopped(&self) -> Result<bool> {
        self.backends.iter().try_fold(true, |all, g| Ok(all & g.has_stopped()?))
    }
    /// Of the columns that go on, if there are any, the one with the largest norm.
    fn wait(&self, monitor: &Self::Monitor, observed: u32) -> Result<Progress> {
        let mut slowest: Option<Progress> = None;
        for (g, monitor) in self.backends.iter().zip(monitor) {
            let one = g.wait(monitor, observed)?;
            let rank = |p: &Progress| (p.running(), p.observed, p.norm);
            if slowest.as_ref().is_none_or(|slowest| rank(&one) > rank(slowest)) {
                slowest = Some(one);
            }
        }
        Ok(slowest.expect("there is a column"))
    }
    fn history(&self, monitor: &Self::Monitor) -> Result<Vec<f64>> {
        self.backends[0].history(&monitor[0])
    }
    fn observe(&self, scalars: &Self::Scalars, square: Slot, monitor: &Self::Monitor) -> Result<()> {
        self.each(|(c, g)| g.observe(&scalars.0[c], square, &monitor[c]))
    }
    fn record(&self, work: &mut dyn FnMut(&Self) -> Result<()>) -> Result<Option<Self::Recording>> {
        // What is recorded is what the device is asked for, whichever of its backends asks.
        self.backends[0].record(&mut |_| work(self))
    }
    unsafe fn replay(&self, recording: &Self::Recording) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.backends[0].replay(recording) }
    }
}
