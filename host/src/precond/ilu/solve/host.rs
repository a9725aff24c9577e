//! [`TriangularSolves`] on the host: one unknown after the other, or those of a level by threads.

use crate::parallel::*;
use cuda_std::Real;

use super::{Triangles, TriangularSolves};
use crate::backend::cpu::Cpu;
use crate::backend::host::HostBackend;
use crate::backend::memory::check_lengths;
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::precond::ilu::schedule::Triangle;

/// Unknowns of a level for which threads are woken, and those that a task takes.
const PARALLEL: usize = 1024;
const TASK: usize = 512;
/// Sums of a row that are kept apart, so that additions need not wait for each other.
const LANES: usize = 4;

/// The triangles, and the solutions of both.
pub struct HostTriangles<T> {
    triangles: Triangles<T>,
    y: Vec<T>,
    w: Vec<T>,
}

impl<T: Real> Triangle<T> {
    /// The solution for unknown p, `y` those of the levels before.
    #[inline]
    fn unknown(&self, p: usize, r: &[T], y: &[T]) -> T {
        let (columns, values) = self.entries.row(p);
        let mut sums = [T::ZERO; LANES];
        let (columns, rest) = columns.as_chunks::<LANES>();
        let (values, rest_of_values) = values.as_chunks::<LANES>();
        for (columns, values) in columns.iter().zip(values) {
            for k in 0..LANES {
                sums[k] += values[k] * y[columns[k] as usize];
            }
        }
        for (k, (&q, &t)) in rest.iter().zip(rest_of_values).enumerate() {
            sums[k] += t * y[q as usize];
        }
        let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        self.diagonal[p] * (r[self.source[p] as usize] - sum)
    }

    /// y, sequentially.
    fn solve(&self, r: &[T], y: &mut [T]) {
        for p in 0..self.n() {
            y[p] = self.unknown(p, r, y);
        }
    }

    /// The same bits with threads.
    fn solve_with_threads(&self, r: &[T], y: &mut [T]) {
        for level in 0..self.levels() {
            let unknowns = self.level(level);
            if unknowns.len() < PARALLEL {
                for p in unknowns {
                    y[p] = self.unknown(p, r, y);
                }
                continue;
            }
            let (before, rest) = y.split_at_mut(unknowns.start);
            let own = rest[..unknowns.len()].par_chunks_mut(TASK).enumerate();
            own.for_each(|(task, own)| {
                let first = unknowns.start + task * TASK;
                for (k, y) in own.iter_mut().enumerate() {
                    *y = self.unknown(first + k, r, before);
                }
            });
        }
    }
}

impl<T: Real> HostTriangles<T> {
    fn new(triangles: Triangles<T>) -> Self {
        let n = triangles.n();
        HostTriangles { y: vec![T::ZERO; n], w: vec![T::ZERO; n], triangles }
    }

    fn check(&self, r: &[T], z: &[T]) -> Result<()> {
        check_lengths("triangular solves", self.triangles.n(), &[("r", r.len()), ("z", z.len())])
    }
}

impl<T: Real> TriangularSolves<T> for Reference {
    type Triangles = HostTriangles<T>;

    fn triangles(&self, triangles: Triangles<T>) -> Result<HostTriangles<T>> {
        Ok(HostTriangles::new(triangles))
    }

    fn solve_triangles(&self, solves: &mut HostTriangles<T>, r: &Vec<T>, z: &mut Vec<T>) -> Result<()> {
        solves.check(r, z)?;
        if self.stopped() {
            return Ok(());
        }
        let HostTriangles { triangles, y, w } = &mut *solves;
        triangles.lower.solve(r, y);
        triangles.upper.solve(y, w);
        z.iter_mut().zip(&triangles.places).for_each(|(z, &p)| *z = w[p as usize]);
        Ok(())
    }
}

impl<T: Real> TriangularSolves<T> for Cpu {
    type Triangles = HostTriangles<T>;

    fn triangles(&self, triangles: Triangles<T>) -> Result<HostTriangles<T>> {
        Ok(HostTriangles::new(triangles))
    }

    fn solve_triangles(&self, solves: &mut HostTriangles<T>, r: &Vec<T>, z: &mut Vec<T>) -> Result<()> {
        solves.check(r, z)?;
        if self.stopped() {
            return Ok(());
        }
        let HostTriangles { triangles, y, w } = &mut *solves;
        self.install(|| {
            triangles.lower.solve_with_threads(r, y);
            triangles.upper.solve_with_threads(y, w);
            let elements = z.par_iter_mut().zip(triangles.places.par_iter()).with_min_len(PARALLEL);
            elements.for_each(|(z, &p)| *z = w[p as usize]);
        });
        Ok(())
    }
}
