//! [`Parts`] on the CPU.

use std::sync::Arc;

use cuda_std::Real;

use super::Parts;
use crate::backend::cpu::Cpu;
use crate::comm::{Inside, NOWHERE, Numbering, Runs, columns_with_entries, entries_outside};
use crate::error::Result;
use crate::matrix::Csr;
use crate::parallel::*;
use crate::setup::diagonal::host::noise_of;
use crate::setup::others::Others;

/// Rows that a thread looks at, at least.
const LEAST_ROWS: usize = 4096;

impl<T: Real> Parts<T> for Cpu {
    fn put_together(
        &self,
        source: &Runs,
        a: &Arc<Csr<T>>,
        places: &Runs,
        below: &Arc<Csr<T>>,
    ) -> Result<Arc<Csr<T>>> {
        let (source, places) = (source.expanded(), places.expanded());
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

    /// It is on the host.
    fn for_other_ranks(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
        Ok(a.clone())
    }

    fn of_other_rank(&self, a: &Arc<Csr<T>>) -> Result<Arc<Csr<T>>> {
        Ok(a.clone())
    }

    fn rows_inside(&self, rows: &Inside) -> Result<Arc<Csr<T>>> {
        Ok(Csr::in_type(rows.csr()))
    }

    fn columns_with_entries(&self, a: &Arc<Csr<T>>) -> Result<Vec<u32>> {
        Ok(columns_with_entries(a).expanded())
    }

    fn entries_at(&self, a: &Arc<Csr<T>>, rows: &Runs, columns: &Runs) -> Result<Vec<T>> {
        let entry = |(i, j): (u32, u32)| a.get(i as usize, j as usize).unwrap_or(T::ZERO);
        Ok(rows.iter().zip(columns.iter()).map(entry).collect())
    }

    fn entries_of_rows(&self, a: &Arc<Csr<T>>, rows: &Runs) -> Result<u64> {
        Ok(rows.iter().map(|i| a.row_len(i as usize) as u64).sum())
    }

    fn rows_in_places(&self, a: &Arc<Csr<T>>, rows: &Runs, places: &Runs) -> Result<Vec<u32>> {
        let (rows, places) = (rows.expanded(), places.expanded());
        let is_there = |&k: &u32| {
            let columns = a.row(rows[k as usize] as usize).0;
            columns.iter().any(|&j| places[j as usize] != NOWHERE)
        };
        Ok((0..rows.len() as u32).into_par_iter().with_min_len(LEAST_ROWS).filter_collect(is_there))
    }

    fn in_places(&self, a: &Arc<Csr<T>>, places: &Runs, n_cols: usize) -> Result<Arc<Csr<T>>> {
        let places = places.expanded();
        let row = |i: usize| {
            let (columns, values) = a.row(i);
            columns.iter().map(|&j| places[j as usize]).zip(values.iter().copied())
        };
        Ok(Arc::new(entries_outside(a.n_rows(), row, n_cols)))
    }

    fn rows_outside(&self, a: &Arc<Csr<T>>, rows: &Runs, inside: &Runs) -> Result<(Vec<u32>, Arc<Csr<T>>)> {
        let outside = inside.complement(a.n_cols());
        let places = outside.inverse(a.n_cols());
        let found = self.rows_in_places(a, rows, &places)?;
        let chosen = found.iter().map(|&k| rows.get(k as usize)).collect();
        let entries = self.put_together(&chosen, a, &places, &self.without_rows(outside.len())?)?;
        Ok((found, entries))
    }

    fn elements(&self, source: &Runs, per_row: usize, v: &Vec<T>, below: &[T]) -> Result<Vec<T>> {
        let n_upper = v.len() / per_row;
        let zeros = vec![T::ZERO; per_row];
        let row = |row: u32| match row as usize {
            at if at < n_upper => &v[per_row * at..][..per_row],
            _ if row == NOWHERE => &zeros[..],
            at => &below[per_row * (at - n_upper)..][..per_row],
        };
        Ok(source.iter().flat_map(row).copied().collect())
    }

    fn picked(&self, all: &Vec<u32>, source: &Runs) -> Result<Vec<u32>> {
        Ok(source.iter().map(|place| all[place as usize]).collect())
    }

    fn update_numbers(&self, numbers: &mut Vec<u32>, others: &Others) -> Result<()> {
        let border = others.border()?;
        let mut of_border = border.places.elements(numbers);
        border.update(&mut of_border)?;
        border.places.iter().zip(of_border).for_each(|(place, number)| numbers[place as usize] = number);
        Ok(())
    }

    fn owners(&self, unknowns: &Numbering) -> Result<Vec<u32>> {
        let owners = unknowns.rows().flat_map(|(_, count, owner)| std::iter::repeat_n(owner, count));
        Ok(owners.collect())
    }

    fn marked_before(&self, marks: &Vec<u32>, own: &Runs) -> Result<Vec<u32>> {
        let own = own.inverse(marks.len()).expanded();
        let is_marked = |i: usize| u32::from(own[i] != NOWHERE && marks[i] == 1);
        let mut count = 0;
        let before = (0..marks.len()).map(|i| {
            count += is_marked(i);
            count
        });
        Ok(std::iter::once(0).chain(before).collect())
    }

    fn of_marked(&self, before: &Vec<u32>, numbers: &Runs) -> Result<Vec<u32>> {
        let numbers = numbers.expanded();
        let of = |ends: &[u32]| if ends[0] == ends[1] { NOWHERE } else { numbers[ends[0] as usize] };
        Ok(before.windows(2).map(of).collect())
    }

    fn through(&self, first: &Vec<u32>, second: &Vec<u32>) -> Result<Vec<u32>> {
        let of = |&place: &u32| if place == NOWHERE { NOWHERE } else { second[place as usize] };
        Ok(first.par_iter().with_min_len(LEAST_ROWS).map(of).collect())
    }

    fn through_runs(&self, first: &Vec<u32>, second: &Runs) -> Result<Vec<u32>> {
        let of = |&index: &u32| if index == NOWHERE { NOWHERE } else { second.get(index as usize) };
        Ok(first.par_iter().with_min_len(LEAST_ROWS).map(of).collect())
    }

    fn noise_of(&self, numbers: &Runs, d: &Vec<T>, n: usize) -> Result<Vec<T>> {
        let numbers = numbers.expanded();
        Ok(noise_of(|node| numbers[node], d, n))
    }
}
