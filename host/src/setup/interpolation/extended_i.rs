//! [`Interpolation::extended_i`](super::Interpolation::extended_i) on the CPU.

use cuda_std::Real;

use super::Truncation;
use crate::matrix::Csr;
use crate::setup::rows::{coarse_numbers, collect_rows, find};

/// One row in the making: its coarse unknowns, ascending, and their weights.
#[derive(Default)]
struct Row<T> {
    columns: Vec<u32>,
    weights: Vec<T>,
}

/// Extended+i interpolation; `strong` has the rows of fine unknowns with their strong coarse neighbours in
/// coarse numbers.
///
/// Of the row of a strong fine neighbour k only `a_ki` and the entries in coarse columns count. Those are
/// few, and gathered beforehand with the sign condition applied: `abar`.
pub(super) fn extended_i<T: Real>(
    a: &Csr<T>,
    s: &Csr<T>,
    strong: &Csr<T>,
    coarse: &[u32],
    truncation: Truncation,
) -> Csr<T> {
    let diagonal = a.diagonal();
    let is_negative = |i: usize| diagonal[i] < T::ZERO;
    let (numbers, _) = coarse_numbers(coarse);
    let abar = opposed_entries(a, coarse, &numbers, strong.n_cols(), &diagonal);

    let fine_row = |row: &mut Row<T>, positions: &mut [u32], i: usize| {
        let Row { columns, weights } = row;
        let (neighbours, values) = s.row(i);
        columns.clear();
        for &k in neighbours.iter().filter(|&&k| coarse[k as usize] == 0) {
            for &j in strong.row(k as usize).0 {
                if find(columns, positions, j).is_none() {
                    positions[j as usize] = columns.len() as u32;
                    columns.push(j);
                }
            }
        }
        columns.sort_unstable();
        for (position, &j) in columns.iter().enumerate() {
            positions[j as usize] = position as u32;
        }
        weights.clear();
        weights.resize(columns.len(), T::ZERO);
        let find = |j: u32| find(columns, positions, j);

        let mut divisor = T::ZERO;
        let mut strong_left = neighbours;
        for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
            let is_strong = strong_left.first() == Some(&j);
            strong_left = &strong_left[is_strong as usize..];
            let place = if coarse[j as usize] == 1 { find(numbers[j as usize]) } else { None };
            match place {
                Some(place) => weights[place] = v,
                None if j as usize == i || !is_strong => divisor += v,
                None => (),
            }
        }
        for (&k, &a_ik) in neighbours.iter().zip(values) {
            let k = k as usize;
            if k == i || coarse[k] == 1 {
                continue;
            }
            let entries = || abar.row(k).0.iter().zip(abar.row(k).1);
            let mut sum = T::ZERO;
            for (&j, &v) in entries() {
                if find(j).is_some() {
                    sum += v;
                }
            }
            let back = opposed(is_negative(k), a.get(k, i).unwrap_or(T::ZERO));
            sum += back;
            if sum == T::ZERO {
                divisor += a_ik;
                continue;
            }
            let share = a_ik / sum;
            divisor += share * back;
            for (&j, &v) in entries() {
                if let Some(place) = find(j) {
                    weights[place] += share * v;
                }
            }
        }
        let divisor = if divisor == T::ZERO { diagonal[i] } else { divisor };
        weights.iter_mut().for_each(|w| *w = -(*w / divisor));
    };

    let space = || (Row::default(), vec![0; strong.n_cols()]);
    collect_rows(a.n_rows(), strong.n_cols(), space, |(row, positions), i, columns, values| {
        if coarse[i] == 1 {
            columns.push(numbers[i]);
            values.push(T::ONE);
        } else {
            fine_row(row, positions, i);
            truncate(row, truncation, columns, values);
        }
    })
}

/// `v`, or 0 where it has the sign of the diagonal.
fn opposed<T: Real>(diagonal_is_negative: bool, v: T) -> T {
    if (v < T::ZERO) != diagonal_is_negative { v } else { T::ZERO }
}

/// The fine rows of `a` with the entries in coarse columns, renumbered, whose sign is not that of the
/// diagonal.
fn opposed_entries<T: Real>(
    a: &Csr<T>,
    coarse: &[u32],
    numbers: &[u32],
    n_coarse: usize,
    diagonal: &[T],
) -> Csr<T> {
    collect_rows(
        a.n_rows(),
        n_coarse,
        || (),
        |(), i, columns, values| {
            if coarse[i] == 1 {
                return;
            }
            for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
                if coarse[j as usize] == 1 && opposed(diagonal[i] < T::ZERO, v) != T::ZERO {
                    columns.push(numbers[j as usize]);
                    values.push(v);
                }
            }
        },
    )
}

/// Appends what is left of `row`.
fn truncate<T: Real>(row: &Row<T>, truncation: Truncation, columns: &mut Vec<u32>, values: &mut Vec<T>) {
    let start = values.len();
    let largest = row.weights.iter().map(|w| w.abs()).fold(T::ZERO, |m, w| if w > m { w } else { m });
    let least = T::from_f64(truncation.factor) * largest;
    for (&j, &w) in row.columns.iter().zip(&row.weights) {
        if w.abs() >= least {
            columns.push(j);
            values.push(w);
        }
    }
    while values.len() - start > truncation.max_entries {
        // The smallest, the last of equals.
        let mut smallest = start;
        for e in start..values.len() {
            if values[e].abs() <= values[smallest].abs() {
                smallest = e;
            }
        }
        columns.remove(smallest);
        values.remove(smallest);
    }
    let sum = |values: &[T]| values.iter().fold(T::ZERO, |sum, &w| sum + w);
    let kept = sum(&values[start..]);
    if kept != T::ZERO {
        let scale = sum(&row.weights) / kept;
        values[start..].iter_mut().for_each(|w| *w *= scale);
    }
}
