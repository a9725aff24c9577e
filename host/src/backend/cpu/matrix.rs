//! `y = A x` for a range of rows, in every format.

use std::ops::Range;
use std::sync::Arc;

use cuda_std::Real;

use super::CHUNK;
use super::entry::Half;
use super::lanes::{LANES, add_gathered, prefetch, sum_gathered};
use super::stripes::Stripes;
use crate::matrix::rounding::{Pivot, Rounding};
use crate::matrix::{AnyMatrix, BlockCsr, BlockSell, Csr, Ell, SLICE, Sell};
use crate::vectors::in_widest_vectors;

/// A matrix of the [`Cpu`](super::Cpu) backend: any format, but a CRS matrix with diagonals or with short rows as
/// [stripes](super::stripes), which take two thirds of its time or less.
#[derive(Debug)]
pub struct CpuMatrix<T>(Stored<T>);

#[derive(Debug)]
enum Stored<T> {
    AsItWas(Arc<AnyMatrix<T>>),
    Striped(Stripes<T>),
    Halved(Stripes<T, Half>),
}

/// Without stripes, which take more time to make than a few products save.
impl<T> From<AnyMatrix<T>> for CpuMatrix<T> {
    fn from(matrix: AnyMatrix<T>) -> Self {
        CpuMatrix(Stored::AsItWas(Arc::new(matrix)))
    }
}

impl<T: Real> CpuMatrix<T> {
    pub(super) fn new(matrix: &Arc<AnyMatrix<T>>) -> Self {
        match &**matrix {
            AnyMatrix::Crs(a) => Self::striped(a, || matrix.clone()),
            _ => CpuMatrix(Stored::AsItWas(matrix.clone())),
        }
    }

    /// `a` with its values rounded.
    pub(super) fn rounded<S: Real>(a: &Arc<Csr<S>>) -> Self {
        Self::striped(a, || Arc::new(AnyMatrix::Crs(Csr::in_type(a))))
    }

    /// The rounded matrix. Where pivots are on the diagonal its stripes have entries of 16 bits, which is all that
    /// rounding leaves of them.
    pub(super) fn packed<S: Real>(rounding: &Rounding<S>, pivot: Pivot) -> Self {
        let a = rounding.matrix();
        let of_rows = |rows: Range<usize>, values: &mut [T]| rounding.values(rows, values);
        let stored = match pivot {
            Pivot::Diagonal => Stripes::from_csr(a, of_rows).map(Stored::Halved),
            Pivot::Largest => Stripes::from_csr(a, of_rows).map(Stored::Striped),
        };
        let otherwise = || Arc::new(AnyMatrix::Crs(Arc::new(a.with_rows(of_rows))));
        CpuMatrix(stored.unwrap_or_else(|| Stored::AsItWas(otherwise())))
    }

    /// Stripes of `a` with its values rounded, made without a copy in between.
    fn striped<S: Real>(a: &Csr<S>, otherwise: impl FnOnce() -> Arc<AnyMatrix<T>>) -> Self {
        let stripes = Stripes::from_csr(a, |rows, values| a.round_rows(rows, values));
        CpuMatrix(stripes.map_or_else(|| Stored::AsItWas(otherwise()), Stored::Striped))
    }

    pub(super) fn n_rows(&self) -> usize {
        match &self.0 {
            Stored::AsItWas(a) => a.n_rows(),
            Stored::Striped(a) => a.n_rows(),
            Stored::Halved(a) => a.n_rows(),
        }
    }

    pub(super) fn n_cols(&self) -> usize {
        match &self.0 {
            Stored::AsItWas(a) => a.n_cols(),
            Stored::Striped(a) => a.n_cols(),
            Stored::Halved(a) => a.n_cols(),
        }
    }

    /// See [`Backend::worth_in_crs`](crate::backend::Backend::worth_in_crs): of stripes, by their bytes.
    pub(super) fn worth_in_crs(&self) -> Option<usize> {
        let bytes = match &self.0 {
            Stored::AsItWas(_) => return None,
            Stored::Striped(a) => a.bytes(),
            Stored::Halved(a) => a.bytes(),
        };
        Some(bytes / (size_of::<u32>() + size_of::<T>()))
    }

    /// Rows that a task handles.
    pub(super) fn chunk(&self) -> usize {
        CHUNK.next_multiple_of(self.window())
    }

    /// Ranges of rows for [`multiply`](Self::multiply) begin at multiples of this.
    fn window(&self) -> usize {
        let Stored::AsItWas(matrix) = &self.0 else { return SLICE };
        match &**matrix {
            // Rows are permuted within windows.
            AnyMatrix::Sell(a) if a.permutation().is_some() => a.sigma(),
            AnyMatrix::BlockCrs(a) => a.block() * SLICE,
            AnyMatrix::BlockSell(a) => a.block() * a.pattern().sigma().max(SLICE),
            _ => SLICE,
        }
    }

    /// `y = A x` for the rows from `first` on.
    pub(super) fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        debug_assert!(x.len() == self.n_cols() && first.is_multiple_of(self.window()));
        let matrix = match &self.0 {
            Stored::Striped(stripes) => return stripes.multiply(x, first, y),
            Stored::Halved(stripes) => return stripes.multiply(x, first, y),
            Stored::AsItWas(matrix) => matrix,
        };
        match &**matrix {
            AnyMatrix::Crs(a) => crs(a, x, first, y),
            AnyMatrix::Ell(a) => ell(a, x, first, y),
            AnyMatrix::Sell(a) => sell(a, x, first, y),
            AnyMatrix::BlockCrs(a) => match a.block() {
                2 => block_crs::<T, 2>(a, x, first, y),
                _ => block_crs::<T, 3>(a, x, first, y),
            },
            AnyMatrix::BlockSell(a) => block_sell(a, x, first, y),
        }
    }
}

in_widest_vectors! {
    fn crs<T: Real>(a: &Csr<T>, x: &[T], first: usize, y: &mut [T]) {
        for (i, y) in (first..).zip(y) {
            let (columns, values) = a.row(i);
            let (columns, last_columns) = columns.as_chunks();
            let (values, last_values) = values.as_chunks();
            prefetch(last_columns);
            prefetch(last_values);
            // SAFETY: construction checked every column against n_cols == x.len().
            let sum = unsafe { sum_gathered::<T, FMA>(values, columns, x) };
            // SAFETY: as above. The check costs a fifth of the whole product.
            let product = |c: u32, v: T| v * unsafe { *x.get_unchecked(c as usize) };
            *y = last_columns.iter().zip(last_values).fold(sum, |sum, (&c, &v)| sum + product(c, v));
        }
    }
}

/// The sums of the eight rows whose entries begin at `start` and follow each other in steps of `stride`.
#[inline(always)]
fn lanes<T: Real>(
    columns: &[u32],
    values: &[T],
    x: &[T],
    start: usize,
    stride: usize,
    width: usize,
) -> [T; LANES] {
    let mut sums = [T::ZERO; LANES];
    for j in 0..width {
        let entries = start + j * stride..start + j * stride + LANES;
        let (c, v) = (&columns[entries.clone()], &values[entries]);
        let (Some(c), Some(v)) = (c.as_array(), v.as_array()) else { unreachable!("LANES of each") };
        prefetch(v);
        // SAFETY: construction made every column, of padding too, less than n_cols == x.len().
        unsafe { add_gathered(&mut sums, v, c, x) };
    }
    sums
}

fn ell<T: Real>(a: &Ell<T>, x: &[T], first: usize, y: &mut [T]) {
    for (i, y) in (first..).step_by(LANES).zip(y.chunks_mut(LANES)) {
        let sums = lanes(a.col_idx(), a.values(), x, i, a.stride(), a.width());
        y.copy_from_slice(&sums[..y.len()]);
    }
}

fn sell<T: Real>(a: &Sell<T>, x: &[T], first: usize, y: &mut [T]) {
    for position in (first..first + y.len()).step_by(LANES) {
        let slice = position / SLICE;
        let start = a.slice_ptr()[slice] as usize;
        let width = (a.slice_ptr()[slice + 1] as usize - start) / SLICE;
        let sums = lanes(a.col_idx(), a.values(), x, start + position % SLICE, SLICE, width);
        let count = LANES.min(first + y.len() - position);
        match a.permutation() {
            None => y[position - first..][..count].copy_from_slice(&sums[..count]),
            Some(rows) => {
                for (&row, sum) in rows[position..position + count].iter().zip(sums) {
                    y[row as usize - first] = sum;
                }
            }
        }
    }
}

fn block_crs<T: Real, const B: usize>(a: &BlockCsr<T>, x: &[T], first: usize, y: &mut [T]) {
    for (i, y) in (first / B..).zip(y.chunks_exact_mut(B)) {
        let (columns, values) = a.row(i);
        // A sum for each place in a block: as many independent ones as registers are wide.
        let mut sums = [[T::ZERO; B]; B];
        for (&c, v) in columns.iter().zip(values.chunks_exact(B * B)) {
            prefetch(&v[0]);
            // SAFETY: construction checked every block column against n_cols, B times which is x.len().
            let x = unsafe { x.get_unchecked(c as usize * B..(c as usize + 1) * B) };
            for k in 0..B {
                for l in 0..B {
                    sums[k][l] += v[k * B + l] * x[l];
                }
            }
        }
        for (y, sums) in y.iter_mut().zip(sums) {
            *y = sums.into_iter().sum();
        }
    }
}

fn block_sell<T: Real>(a: &BlockSell<T>, x: &[T], first: usize, y: &mut [T]) {
    let (b, pattern) = (a.block(), a.pattern());
    for position in first / b..(first + y.len()) / b {
        let slice = position / SLICE;
        let entries =
            pattern.slice_ptr()[slice] as usize + position % SLICE..pattern.slice_ptr()[slice + 1] as usize;
        let row = pattern.permutation().map_or(position, |rows| rows[position] as usize);
        let y = &mut y[row * b - first..][..b];
        y.fill(T::ZERO);
        for e in entries.step_by(SLICE) {
            let x = &x[pattern.col_idx()[e] as usize * b..][..b];
            for (k, y) in y.iter_mut().enumerate() {
                for (l, &x) in x.iter().enumerate() {
                    *y += a.values()[(k * b + l) * pattern.stored() + e] * x;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Coo;

    fn rows_of_any_length<T: Real>() {
        let (n, n_cols) = (40, 50);
        let mut a = Coo::new(n, n_cols, 0).unwrap();
        for i in 0..n {
            (0..i).for_each(|k| a.push(i, (7 * k + i) % n_cols, ((3 * i + k) as f64).cos()));
        }
        let a: Csr<T> = a.into_csr().0.cast();
        let x: Vec<T> = (0..n_cols).map(|j| T::from_f64((0.7 * j as f64).sin() + 1.5)).collect();
        let mut y = vec![T::from_f64(f64::NAN); n];
        CpuMatrix::from(AnyMatrix::Crs(Arc::new(a.clone()))).multiply(&x, 0, &mut y);
        for (i, (&y, expected)) in y.iter().zip(a.mul_vec(&x)).enumerate() {
            let bound = 4.0 * (i + 1) as f64 * T::EPSILON.to_f64();
            assert!((y - expected).to_f64().abs() <= bound, "row {i}: {y} is not {expected}");
            let (columns, values) = (a.row(i).0.as_chunks().0, a.row(i).1.as_chunks().0);
            // SAFETY: the columns are those of a matrix with as many.
            let plain = unsafe { sum_gathered::<T, false>(values, columns, &x) };
            let whole: T =
                a.row(i).0.iter().zip(a.row(i).1).take(i / 8 * 8).map(|(&j, &v)| v * x[j as usize]).sum();
            assert!((plain - whole).to_f64().abs() <= bound, "row {i}: {plain} is not {whole}");
        }
    }

    #[test]
    fn rows_of_any_length_are_added_up() {
        rows_of_any_length::<f32>();
        rows_of_any_length::<f64>();
    }
}
