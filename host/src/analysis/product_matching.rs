//! A matching of rows and columns with the largest product of entries, and the scaling that it gives (Duff
//! and Koster 2001; MC64, job 5).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::matrix::Csr;

/// No row, or no column.
const NONE: u32 = u32::MAX;

/// Rows and columns paired so that the product of the magnitudes `|a_ij|` of the pairs is the largest that
/// there is. Scaled by `rows` and `columns`, no entry is larger than 1, and those of the pairs are 1, to a
/// factor of 2: scales are powers of two.
#[derive(Debug, Clone, PartialEq)]
pub struct ProductMatching {
    /// The row of each column. Where the matrix is structurally singular, rows and columns that are left are
    /// paired as they come.
    pub row_of: Vec<u32>,
    /// Factors of the rows.
    pub rows: Vec<f64>,
    /// Factors of the columns.
    pub columns: Vec<f64>,
    /// Pairs with an entry that is not 0.
    pub size: usize,
}

impl ProductMatching {
    /// Factors of rows and columns alike, of a symmetric matrix: with them the entries of the pairs are near
    /// 1, and no other is much larger. Powers of two.
    pub fn symmetric_scales(&self) -> Vec<f64> {
        let mean = |(r, c): (&f64, &f64)| ((r.log2() + c.log2()) / 2.0).round().exp2();
        self.rows.iter().zip(&self.columns).map(mean).collect()
    }
}

/// A distance in a heap, the smallest on top; of equal ones the smaller column.
#[derive(PartialEq)]
struct Reached(f64, u32);

impl Eq for Reached {}
impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Reached {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// Minimises the sum of the costs `c_ij = ln max_k |a_kj| - ln |a_ij|` of the pairs. `u_i + v_j <= c_ij`,
/// with equality where i and j are a pair.
struct Assignment<'a> {
    a: &'a Csr<f64>,
    costs: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
    column_of: Vec<u32>,
    row_of: Vec<u32>,
    /// Of a search: how far each column is, infinity outside of it, and the row that it is reached from.
    distance: Vec<f64>,
    from: Vec<u32>,
}

impl ProductMatching {
    /// Of a square matrix.
    pub fn of(a: &Csr<f64>) -> ProductMatching {
        let n = a.n_rows();
        let mut largest = vec![0.0f64; n];
        for (&j, v) in a.col_idx().iter().zip(a.values()) {
            largest[j as usize] = largest[j as usize].max(v.abs());
        }
        let cost = |(&j, v): (&u32, &f64)| match v.abs() {
            0.0 => f64::INFINITY,
            size => largest[j as usize].ln() - size.ln(),
        };
        let mut assignment = Assignment {
            a,
            costs: a.col_idx().iter().zip(a.values()).map(cost).collect(),
            u: vec![0.0; n],
            v: vec![0.0; n],
            column_of: vec![NONE; n],
            row_of: vec![NONE; n],
            distance: vec![f64::INFINITY; n],
            from: vec![NONE; n],
        };
        assignment.start();
        for i in 0..n as u32 {
            if assignment.column_of[i as usize] == NONE {
                assignment.augment(i);
            }
        }
        assignment.finish(&largest)
    }
}

impl Assignment<'_> {
    fn entries(&self, i: u32) -> impl Iterator<Item = (u32, f64)> {
        let range = self.a.row_ptr()[i as usize]..self.a.row_ptr()[i as usize + 1];
        let columns = self.a.col_idx()[range.clone()].iter().copied();
        columns.zip(self.costs[range].iter().copied()).filter(|(_, cost)| cost.is_finite())
    }

    /// Each row takes its cheapest column where that is free; the diagonal goes first.
    fn start(&mut self) {
        for i in 0..self.u.len() as u32 {
            let cheapest = self.entries(i).map(|(_, cost)| cost).fold(f64::INFINITY, f64::min);
            self.u[i as usize] = if cheapest.is_finite() { cheapest } else { 0.0 };
            let is_free = |(j, cost): &(u32, f64)| *cost == cheapest && self.row_of[*j as usize] == NONE;
            let free = self.entries(i).filter(is_free).map(|(j, _)| j).min_by_key(|&j| (j != i, j));
            if let Some(j) = free {
                (self.column_of[i as usize], self.row_of[j as usize]) = (j, i);
            }
        }
    }

    /// The shortest alternating path from row `root` to a free column (Dijkstra), turned over.
    fn augment(&mut self, root: u32) {
        let mut heap = BinaryHeap::new();
        let (mut done, mut touched) = (Vec::new(), Vec::new());
        // The nearest free column.
        let (mut nearest, mut end) = (f64::INFINITY, NONE);
        let (mut i, mut so_far) = (root, 0.0);
        loop {
            let entries: Vec<(u32, f64)> = self.entries(i).collect();
            for (j, cost) in entries {
                let length = so_far + (cost - self.u[i as usize] - self.v[j as usize]).max(0.0);
                if length >= nearest || length >= self.distance[j as usize] {
                    continue;
                }
                if self.distance[j as usize] == f64::INFINITY {
                    touched.push(j);
                }
                (self.distance[j as usize], self.from[j as usize]) = (length, i);
                match self.row_of[j as usize] {
                    NONE => (nearest, end) = (length, j),
                    _ => heap.push(Reverse(Reached(length, j))),
                }
            }
            let fresh = std::iter::from_fn(|| heap.pop())
                .find(|Reverse(Reached(length, j))| *length == self.distance[*j as usize]);
            match fresh {
                Some(Reverse(Reached(length, j))) if length < nearest => {
                    done.push(j);
                    (i, so_far) = (self.row_of[j as usize], length);
                }
                _ => break,
            }
        }
        if end != NONE {
            for j in done {
                let change = self.distance[j as usize] - nearest;
                self.v[j as usize] += change;
                self.u[self.row_of[j as usize] as usize] -= change;
            }
            self.u[root as usize] += nearest;
            let mut j = end;
            loop {
                let i = self.from[j as usize];
                self.row_of[j as usize] = i;
                let next = std::mem::replace(&mut self.column_of[i as usize], j);
                if i == root {
                    break;
                }
                j = next;
            }
        }
        touched.into_iter().for_each(|j| self.distance[j as usize] = f64::INFINITY);
    }

    fn finish(mut self, largest: &[f64]) -> ProductMatching {
        let size = self.row_of.iter().filter(|row| **row != NONE).count();
        let mut free = (0..self.u.len() as u32).filter(|&i| self.column_of[i as usize] == NONE);
        self.row_of.iter_mut().filter(|row| **row == NONE).for_each(|row| {
            *row = free.next().expect("as many rows are left as columns");
        });
        let power = |ln: f64| (ln / std::f64::consts::LN_2).round().clamp(-1000.0, 1000.0).exp2();
        let column = |(v, &most): (&f64, &f64)| power(v - if most > 0.0 { most.ln() } else { 0.0 });
        ProductMatching {
            rows: self.u.iter().map(|&u| power(u)).collect(),
            columns: self.v.iter().zip(largest).map(column).collect(),
            row_of: self.row_of,
            size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::random::uniform;

    /// The largest product of a dense matrix's entries, one a row and column, by trying all.
    fn best(a: &[Vec<f64>], i: usize, used: &mut Vec<bool>) -> f64 {
        if i == a.len() {
            return 1.0;
        }
        let mut most = 0.0f64;
        for j in 0..a.len() {
            if !used[j] && a[i][j] != 0.0 {
                used[j] = true;
                most = most.max(a[i][j].abs() * best(a, i + 1, used));
                used[j] = false;
            }
        }
        most
    }

    #[test]
    fn the_product_is_the_largest_and_scaled_entries_are_bounded() {
        let n = 7;
        for seed in 0..40 {
            let value = |i: usize, j: usize| {
                let (is_in, size) =
                    (uniform(seed, (n * i + j) as u64), uniform(seed + 100, (n * i + j) as u64));
                if is_in < 0.5 { 0.0 } else { (size - 0.5) * 10f64.powi((i * j) as i32 % 9 - 4) }
            };
            let dense: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| value(i, j)).collect()).collect();
            let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            let entries = entries.map(|(i, j)| (i, j, dense[i][j])).filter(|entry| entry.2 != 0.0);
            let a = Csr::from_triplets(n, n, entries).unwrap();
            let matching = ProductMatching::of(&a);
            let mut rows = matching.row_of.clone();
            rows.sort_unstable();
            assert!(rows.iter().enumerate().all(|(i, &row)| i as u32 == row));
            let product: f64 = (0..n).map(|j| dense[matching.row_of[j] as usize][j].abs()).product();
            let expected = best(&dense, 0, &mut vec![false; n]);
            assert!((product - expected).abs() <= 1e-12 * expected, "{seed}: {product} {expected}");
            assert_eq!(matching.size == n, expected > 0.0);
            for i in 0..n {
                for j in 0..n {
                    let scaled = (matching.rows[i] * dense[i][j] * matching.columns[j]).abs();
                    assert!(scaled <= 2.0 + 1e-12, "{scaled}");
                    if matching.size == n && matching.row_of[j] as usize == i {
                        assert!(scaled >= 0.5 - 1e-12, "{scaled}");
                    }
                }
            }
        }
    }
}
