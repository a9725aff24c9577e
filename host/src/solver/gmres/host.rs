//! The steps of GMRES on the host.

use crate::parallel::*;
use arithmetic::gmres::SINGULAR;
use cuda_std::Real;

use super::steps::{GmresSlots, GmresSteps, check_basis, check_basis_lengths, check_scalars};
use crate::backend::cpu::{self, CHUNK, Cpu};
use crate::backend::host::{HostBackend, HostMonitor, HostScalars};
use crate::backend::reference::{self, Reference};
use crate::backend::{Backend, Length, Slot, check_slots, status};
use crate::error::Result;

/// Passes over a basis.
pub trait BasisPasses: HostBackend {
    /// `(v_j, w)` for every basis vector.
    #[doc(hidden)]
    fn products_with_basis<T: Real>(&self, basis: &[Vec<T>], w: &[T]) -> Vec<T>;
    /// `w += sum_j c_j v_j`.
    #[doc(hidden)]
    fn add_combination<T: Real>(&self, basis: &[Vec<T>], c: &[T], w: &mut [T]);
    /// `(w, w)`.
    #[doc(hidden)]
    fn square<T: Real>(&self, w: &[T]) -> T;
}

impl BasisPasses for Reference {
    fn products_with_basis<T: Real>(&self, basis: &[Vec<T>], w: &[T]) -> Vec<T> {
        basis.iter().map(|v| reference::dot(v, w)).collect()
    }
    fn add_combination<T: Real>(&self, basis: &[Vec<T>], c: &[T], w: &mut [T]) {
        for (v, &c) in basis.iter().zip(c) {
            for (w, &v) in w.iter_mut().zip(v) {
                *w += c * v;
            }
        }
    }
    fn square<T: Real>(&self, w: &[T]) -> T {
        reference::dot(w, w)
    }
}

impl BasisPasses for Cpu {
    // In one pass over w.
    fn products_with_basis<T: Real>(&self, basis: &[Vec<T>], w: &[T]) -> Vec<T> {
        let partials: Vec<Vec<T>> = self.install(|| {
            let chunk = |(c, w): (usize, &[T])| {
                let rows = c * CHUNK..c * CHUNK + w.len();
                basis.iter().map(|v| cpu::dot(&v[rows.clone()], w)).collect()
            };
            w.par_chunks(CHUNK).enumerate().map(chunk).collect()
        });
        let mut products = vec![T::ZERO; basis.len()];
        for partial in partials {
            for (product, partial) in products.iter_mut().zip(partial) {
                *product += partial;
            }
        }
        products
    }
    // In one pass over w.
    fn add_combination<T: Real>(&self, basis: &[Vec<T>], c: &[T], w: &mut [T]) {
        self.each(w, &|first, w| {
            for (v, &c) in basis.iter().zip(c) {
                for (w, &v) in w.iter_mut().zip(&v[first..]) {
                    *w += c * v;
                }
            }
        });
    }
    fn square<T: Real>(&self, w: &[T]) -> T {
        let [square] = self.sum_over(w.len(), &|rows| [cpu::dot(&w[rows.clone()], &w[rows])]);
        square
    }
}

impl<T: Real, H: BasisPasses + Backend<T, Vector = Vec<T>, Scalars = HostScalars<T>, Monitor = HostMonitor>>
    GmresSteps<T> for H
{
    fn gram_schmidt(
        &self,
        basis: &[Vec<T>],
        w: &mut Vec<T>,
        s: &HostScalars<T>,
        slots: GmresSlots,
        h: Slot,
    ) -> Result<()> {
        check_scalars(s, slots, 0)?;
        check_slots("GMRES", slots.count(), h, basis.len())?;
        check_basis(basis, w, slots)?;
        if self.stopped() {
            return Ok(());
        }
        for pass in 0..2 {
            let products = self.products_with_basis(basis, w);
            for (j, &product) in products.iter().enumerate() {
                s.set(slots.dots().offset(j), product);
                let sum = if pass == 0 { product } else { s.get(h.offset(j)) + product };
                s.set(h.offset(j), sum);
            }
            let negated: Vec<T> = products.into_iter().map(|product| -product).collect();
            self.add_combination(basis, &negated, w);
        }
        s.set(GmresSlots::NORM2, self.square(w));
        Ok(())
    }
    fn basis_products(&self, basis: &[Vec<T>], w: &Vec<T>, s: &HostScalars<T>, out: Slot) -> Result<()> {
        check_slots("GMRES", s.length(), out, basis.len())?;
        check_basis_lengths(basis, w)?;
        if !self.stopped() {
            let products = self.products_with_basis(basis, w);
            products.iter().enumerate().for_each(|(j, &product)| s.set(out.offset(j), product));
        }
        Ok(())
    }
    fn subtract_combination(
        &self,
        basis: &[Vec<T>],
        s: &HostScalars<T>,
        c: Slot,
        w: &mut Vec<T>,
    ) -> Result<()> {
        check_slots("GMRES", s.length(), c, basis.len())?;
        check_basis_lengths(basis, w)?;
        if !self.stopped() {
            let negated: Vec<T> = (0..basis.len()).map(|j| -s.get(c.offset(j))).collect();
            self.add_combination(basis, &negated, w);
        }
        Ok(())
    }
    fn gmres_start(&self, s: &HostScalars<T>, slots: GmresSlots) -> Result<()> {
        check_scalars(s, slots, 0)?;
        if !self.stopped() {
            start(s, slots);
        }
        Ok(())
    }
    fn gmres_rotate(
        &self,
        s: &HostScalars<T>,
        slots: GmresSlots,
        j: usize,
        monitor: &HostMonitor,
    ) -> Result<()> {
        check_scalars(s, slots, j)?;
        if !self.stopped() {
            rotate(s, slots, j, monitor);
        }
        Ok(())
    }
    fn gmres_solution(
        &self,
        s: &HostScalars<T>,
        slots: GmresSlots,
        basis: &[Vec<T>],
        u: &mut Vec<T>,
    ) -> Result<()> {
        check_scalars(s, slots, 0)?;
        check_basis(basis, u, slots)?;
        let columns = solve(s, slots);
        let y: Vec<T> = (0..columns).map(|j| -s.get(slots.y().offset(j))).collect();
        u.fill(T::ZERO);
        self.add_combination(&basis[..columns], &y, u);
        Ok(())
    }
}

/// As [`gpu_kernels::gram_schmidt::gmres_start`].
fn start<T: Real>(s: &HostScalars<T>, slots: GmresSlots) {
    let beta = s.get(GmresSlots::NORM2).sqrt();
    s.set(GmresSlots::BETA, beta);
    s.set(slots.g(), beta);
    s.set(GmresSlots::COLUMNS, T::ZERO);
}

/// As [`gpu_kernels::gram_schmidt::gmres_rotate`].
fn rotate<T: Real>(s: &HostScalars<T>, slots: GmresSlots, j: usize, monitor: &HostMonitor) {
    let h = slots.column(j);
    let (cs, sn, g) = (slots.cosines(), slots.sines(), slots.g());
    let below = s.get(GmresSlots::NORM2).sqrt();
    s.set(GmresSlots::LENGTH, below);
    let square =
        (0..=j).fold(below * below, |sum, i| sum + s.get(Slot::offset(h, i)) * s.get(Slot::offset(h, i)));
    let rounding = T::from_f64(SINGULAR * T::EPSILON.to_f64()) * square.sqrt();
    for i in 0..j {
        let (upper, lower) = (s.get(Slot::offset(h, i)), s.get(Slot::offset(h, i + 1)));
        let (c, sine) = (s.get(Slot::offset(cs, i)), s.get(Slot::offset(sn, i)));
        s.set(Slot::offset(h, i), c * upper + sine * lower);
        s.set(Slot::offset(h, i + 1), c * lower - sine * upper);
    }
    let upper = s.get(Slot::offset(h, j));
    let radius = (upper * upper + below * below).sqrt();
    s.set(Slot::offset(h, j), radius);
    if !radius.is_finite() {
        monitor.raise(status::NOT_FINITE);
    } else if radius <= rounding {
        monitor.raise(status::BREAKDOWN);
    } else {
        let (c, sine) = (upper / radius, below / radius);
        s.set(Slot::offset(cs, j), c);
        s.set(Slot::offset(sn, j), sine);
        let last = s.get(Slot::offset(g, j));
        s.set(Slot::offset(g, j), c * last);
        s.set(Slot::offset(g, j + 1), -(sine * last));
        s.set(GmresSlots::COLUMNS, T::from_f64((j + 1) as f64));
        monitor.observe((sine * last).abs().to_f64());
    }
}

/// As [`gpu_kernels::gram_schmidt::gmres_solve`]; returns how many columns there are.
fn solve<T: Real>(s: &HostScalars<T>, slots: GmresSlots) -> usize {
    let done = s.get(GmresSlots::COLUMNS).to_f64() as usize;
    let y = slots.y();
    let mut rest: Vec<T> = (0..done).map(|i| s.get(Slot::offset(slots.g(), i))).collect();
    for j in (0..done).rev() {
        let column = slots.column(j);
        let value = rest[j] / s.get(Slot::offset(column, j));
        s.set(Slot::offset(y, j), -value);
        for (i, g) in rest[..j].iter_mut().enumerate() {
            *g -= value * s.get(Slot::offset(column, i));
        }
    }
    done
}
