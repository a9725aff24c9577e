//! [`Parts`] on the CPU.

use std::sync::Arc;

use cuda_std::Real;

use super::{NOWHERE, Parts};
use crate::backend::cpu::Cpu;
use crate::error::Result;
use crate::matrix::Csr;
use crate::parallel::*;

/// Rows that a thread looks at, at least.
const LEAST_ROWS: usize = 4096;

impl<T: Real> Parts<T> for Cpu {
    fn put_together(
        &self,
        source: &[u32],
        a: &Arc<Csr<T>>,
        places: &[u32],
        below: &Arc<Csr<T>>,
    ) -> Result<Arc<Csr<T>>> {
        let n_upper = a.n_rows();
        let entries = |row: usize| {
            let (columns, values) = a.row(row);
            let places = columns.iter().map(|&j| places[j as usize]);
            places.zip(values).filter(|&(place, _)| place != NOWHERE)
        };
        let length = |i: usize| match source[i] as usize {
            row if row < n_upper => entries(row).count(),
            row => below.row_len(row - n_upper),
        };
        let fill = |i: usize, columns: &mut [u32], values: &mut [T]| match source[i] as usize {
            row if row < n_upper => {
                for ((column, value), (place, &v)) in columns.iter_mut().zip(values).zip(entries(row)) {
                    (*column, *value) = (place, v);
                }
            }
            row => {
                let row = below.row(row - n_upper);
                columns.copy_from_slice(row.0);
                values.copy_from_slice(row.1);
            }
        };
        Ok(Arc::new(Csr::from_rows(source.len(), below.n_cols(), length, fill)))
    }

    fn rows_to_host(&self, a: &Arc<Csr<T>>, rows: &[u32]) -> Result<Arc<Csr<T>>> {
        Ok(Arc::new(a.chosen_rows(rows)))
    }

    fn entries_of_rows(&self, a: &Arc<Csr<T>>, rows: &[u32]) -> Result<u64> {
        Ok(rows.iter().map(|&i| a.row_len(i as usize) as u64).sum())
    }

    fn rows_in_places(&self, a: &Arc<Csr<T>>, places: &[u32]) -> Result<Vec<u32>> {
        let is_there = |&i: &u32| a.row(i as usize).0.iter().any(|&j| places[j as usize] != NOWHERE);
        Ok((0..a.n_rows() as u32).into_par_iter().with_min_len(LEAST_ROWS).filter_collect(is_there))
    }

    fn elements(&self, source: &[u32], per_row: usize, v: &Vec<T>, below: &[T]) -> Result<Vec<T>> {
        let n_upper = v.len() / per_row;
        let row = |&row: &u32| match row as usize {
            row if row < n_upper => &v[per_row * row..][..per_row],
            row => &below[per_row * (row - n_upper)..][..per_row],
        };
        Ok(source.iter().flat_map(row).copied().collect())
    }
}
