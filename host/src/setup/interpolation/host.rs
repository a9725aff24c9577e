//! [`Interpolation`] on the CPU.

use std::sync::Arc;

use arithmetic::smoothing::damping;
use cuda_std::Real;

use super::extended_i::extended_i;
use super::{Interpolation, Truncation};
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::{Csr, place};
use crate::setup::product::host::Sum;
use crate::setup::rows::{coarse_numbers, collect_rows, for_each_row};
use crate::vectors::in_widest_vectors;

impl<T: Real> Interpolation<T> for Cpu {
    fn damp(&self, s: &mut Arc<Csr<T>>, omega: T, slivers: Option<&Vec<T>>) -> Result<()> {
        for_each_row(Arc::make_mut(s), |i, columns, values| {
            let Some(damping) = Damping::new(i, (columns, &*values), omega, slivers) else { return };
            values.iter_mut().enumerate().for_each(|(k, v)| *v = damping.damped(k, *v));
        });
        Ok(())
    }

    fn multiply_tentative(
        &self,
        s: &Arc<Csr<T>>,
        aggregates: &Vec<u32>,
        n_aggregates: usize,
    ) -> Result<Arc<Csr<T>>> {
        Ok(Arc::new(multiply_tentative(s, aggregates, n_aggregates, None)))
    }

    fn smooth_tentative(
        &self,
        s: Arc<Csr<T>>,
        damping: (T, Option<&Vec<T>>),
        aggregates: &Vec<u32>,
        n_aggregates: usize,
    ) -> Result<Arc<Csr<T>>> {
        Ok(Arc::new(multiply_tentative(&s, aggregates, n_aggregates, Some(damping))))
    }

    fn subtract_scaled(&self, c: &mut Arc<Csr<T>>, p: &Arc<Csr<T>>, omega: T, d: &Vec<T>) -> Result<()> {
        for_each_row(Arc::make_mut(c), |i, columns, values| {
            let scale = if d[i] == T::ZERO { T::ZERO } else { T::ONE / (omega * d[i]) };
            subtract_row(columns, values, p.row(i), scale);
        });
        Ok(())
    }

    fn averaging(&self, s: &Arc<Csr<T>>, coarse: &Vec<u32>) -> Result<Arc<Csr<T>>> {
        Ok(Arc::new(averaging(s, coarse)))
    }

    fn extended_i(
        &self,
        a: &Arc<Csr<T>>,
        s: &Arc<Csr<T>>,
        coarse: &Vec<u32>,
        truncation: Truncation,
    ) -> Result<Arc<Csr<T>>> {
        // The row of a fine unknown has its strong coarse neighbours in coarse numbers.
        Ok(Arc::new(extended_i(a, s, &averaging(s, coarse), coarse, truncation)))
    }
}

/// What [`Interpolation::damp`] makes of a row.
struct Damping<T> {
    /// Where the diagonal entry is, and what it becomes.
    diagonal: (usize, T),
    /// What the others are multiplied by, and subtracted.
    scale: T,
}

impl<T: Real> Damping<T> {
    /// For row `i`, which is `row`; `None` where it has no diagonal entry.
    #[inline(always)]
    fn new(i: usize, row: (&[u32], &[T]), omega: T, slivers: Option<&Vec<T>>) -> Option<Self> {
        let k = place(row.0, i as u32)?;
        let (scale, on_diagonal) = damping(omega, row.1[k], slivers.map_or(T::ZERO, |slivers| slivers[i]));
        Some(Damping { diagonal: (k, on_diagonal), scale })
    }

    /// The `k`th entry, which is `v`.
    #[inline(always)]
    fn damped(&self, k: usize, v: T) -> T {
        if k == self.diagonal.0 { self.diagonal.1 } else { -(self.scale * v) }
    }
}

/// `S P_0` or, with a `damping`, omega and the rows of slivers, `(I - C S) P_0`.
fn multiply_tentative<T: Real>(
    s: &Csr<T>,
    aggregates: &[u32],
    n_aggregates: usize,
    damping: Option<(T, Option<&Vec<T>>)>,
) -> Csr<T> {
    collect_rows(
        s.n_rows(),
        n_aggregates,
        || Sum::new(n_aggregates),
        |sum, i, columns, values| row_times_tentative(sum, i, s.row(i), damping, aggregates, columns, values),
    )
}

in_widest_vectors! {
    /// Appends row `i` of [`multiply_tentative`].
    fn row_times_tentative<T: Real>(
        sum: &mut Sum<T>,
        i: usize,
        row: (&[u32], &[T]),
        damping: Option<(T, Option<&Vec<T>>)>,
        aggregates: &[u32],
        columns: &mut Vec<u32>,
        values: &mut Vec<T>,
    ) {
        let damping = damping.and_then(|(omega, slivers)| Damping::new(i, row, omega, slivers));
        let count = match damping {
            Some(damping) => sum.list_members(row, aggregates, |k, v| damping.damped(k, v)),
            None => sum.list_members(row, aggregates, |_, v| v),
        };
        sum.add_up(count, i as u32 + 1, columns, values);
    }
}

in_widest_vectors! {
    /// `c -= scale p`, where c has the columns of p.
    fn subtract_row<T: Real>(columns: &[u32], values: &mut [T], p: (&[u32], &[T]), scale: T) {
        for (&j, v) in p.0.iter().zip(p.1) {
            if let Some(k) = place(columns, j) {
                values[k] -= scale * *v;
            }
        }
    }
}

fn averaging<T: Real>(s: &Csr<T>, coarse: &[u32]) -> Csr<T> {
    let (numbers, count) = coarse_numbers(coarse);
    let is_coarse = |&&j: &&u32| coarse[j as usize] == 1;
    let length = |i: usize| if coarse[i] == 1 { 1 } else { s.row(i).0.iter().filter(is_coarse).count() };
    Csr::from_rows(s.n_rows(), count, length, |i, columns, values| {
        if coarse[i] == 1 {
            columns.fill(numbers[i]);
        } else {
            for (column, &j) in columns.iter_mut().zip(s.row(i).0.iter().filter(is_coarse)) {
                *column = numbers[j as usize];
            }
        }
        values.fill(T::ONE / T::from_f64(values.len() as f64));
    })
}
