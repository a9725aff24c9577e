//! The null space of singular symmetric matrices whose rows add up to 0, as pure Neumann problems have.

use crate::parallel::*;
use cuda_std::Real;

use crate::comm::{self, Comm};
use crate::error::Result;
use crate::matrix::Csr;
use crate::matrix::block::BLOCK_SIZES;
use crate::norm::norm;

/// Rows that one task looks at, and values whose sum is one number, so that the order of additions does not
/// depend on the threads.
const CHUNK: usize = 4096;
/// A sum below this share of the sum of magnitudes is 0 but for rounding.
const ROUNDING: f64 = 1e-12;
/// Rows of which rounding may make all sums positive.
const FEW: usize = 32;

/// The component of an unknown that every vector of the null space leaves 0.
const REGULAR: u32 = u32::MAX;

/// The constants on each connected component of a matrix: an orthogonal basis of a null space.
#[derive(Debug, Clone, PartialEq)]
pub struct NullSpace {
    /// The component of each unknown.
    component: Vec<u32>,
    /// Unknowns of each component.
    sizes: Vec<usize>,
}

/// A sum, and that of the magnitudes of what was added.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    pub sum: f64,
    pub magnitudes: f64,
}

impl Sum {
    pub fn of(values: &[f64]) -> Sum {
        let mut all = Sum::default();
        values.iter().for_each(|&v| all.add(v));
        all
    }

    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.magnitudes += value.abs();
    }

    /// Adds the entries of a matrix to sums of their columns, and those of row i to `rows[row(i)]`.
    pub fn add_entries(a: &Csr<f64>, rows: &mut [Sum], row: impl Fn(usize) -> usize, columns: &mut [Sum]) {
        for i in 0..a.n_rows() {
            let of_row = &mut rows[row(i)];
            for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
                columns[j as usize].add(v);
                of_row.add(v);
            }
        }
    }

    /// Whether it is 0 but for rounding.
    pub fn vanishes(&self) -> bool {
        self.sum.abs() <= ROUNDING * self.magnitudes
    }
}

impl NullSpace {
    /// Whether it is the constants, in whatever numbering.
    pub fn is_of_all(&self) -> bool {
        self.sizes == [self.component.len()]
    }

    /// Components at most: each costs a vector, and a dot product and an update in every application.
    pub const MOST: usize = 16;

    /// The null space of a symmetric matrix with `|sum_j a_ij| <= 1e-12 sum_j |a_ij|` in every row, j over
    /// the unknowns of one kind, whose own rows have entries; `b i + k` is of kind k. With b = 1 there is one
    /// kind: a pure Neumann problem. With b = 2 the extracellular potential of the bidomain equations is such
    /// a kind and the transmembrane voltage is not.
    ///
    /// Rows that have but their own diagonal entry are equations by themselves and do not count.
    ///
    /// `None` for any other matrix, also for one of at least 32 rows whose sums are all above 0, or all
    /// below, which rounding does not make them: a little of the identity was added. And where the graph of
    /// its entries has more than [`NullSpace::MOST`] components.
    ///
    /// The usual matrix costs a look at its first rows.
    pub fn of(a: &Csr<f64>, b: usize) -> Option<NullSpace> {
        let n = a.n_rows();
        if n == 0 || n != a.n_cols() || !n.is_multiple_of(b) {
            return None;
        }
        let rows = || (0..n).into_par_iter().with_min_len(CHUNK);
        let is_shifted = |kind: usize| {
            let all_of =
                |sign: f64| rows().all(|i| sign * sums(a.row(i), b, kind).0 > 0.0 || is_alone(a.row(i), i));
            n >= FEW && (all_of(1.0) || all_of(-1.0))
        };
        let all_vanish = |kind: usize| {
            vanishes(a.row(kind.min(n - 1)), kind.min(n - 1), b, kind)
                && rows().all(|i| vanishes(a.row(i), i, b, kind))
                && !is_shifted(kind)
        };
        let kinds: Vec<bool> = (0..b).map(all_vanish).collect();
        if !kinds.contains(&true) || !a.is_symmetric(ROUNDING).is_symmetric() {
            return None;
        }
        let (component, count) = components(a, b, &kinds).filter(|(_, count)| *count > 0)?;
        let mut sizes = vec![0; count];
        component.iter().filter(|&&k| k != REGULAR).for_each(|&k| sizes[k as usize] += 1);
        Some(NullSpace { component, sizes })
    }

    /// The same for the first number of kinds with which there is one: it decides whether there is a
    /// solution, whether blocks were named or not, and whether they are those of the null space.
    pub fn of_any(a: &Csr<f64>, block: usize) -> Option<NullSpace> {
        NullSpace::kinds(block).find_map(|kinds| NullSpace::of(a, kinds))
    }

    /// Numbers of kinds to try, with `block` unknowns a node.
    pub fn kinds(block: usize) -> impl Iterator<Item = usize> {
        std::iter::once(block).chain((1..=*BLOCK_SIZES.end()).filter(move |&kinds| kinds != block))
    }

    /// What this rank has of the null space of a symmetric matrix as [`NullSpace::of`] takes it, whose graph
    /// over the unknowns of one kind is connected. `own` are the columns in `a` of this rank's unknowns; the
    /// row of unknown i is row `i - first` of `a`. All ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
    pub fn on_ranks(
        comm: &dyn Comm,
        a: &Csr<f64>,
        own: &[u32],
        first: usize,
        b: usize,
    ) -> Result<Option<NullSpace>> {
        let row = |i: usize| a.row(i - first);
        let rows = || own.par_iter().with_min_len(CHUNK).map(|&i| i as usize);
        let count = |is_so: &(dyn Fn(usize) -> bool + Sync)| {
            rows().map(|i| usize::from(is_so(i))).sum::<usize>() as f64
        };
        // In most matrices one of the first rows has a sum, and the others need not be added up.
        let has_sums = |kind: usize| !rows().all(|i| vanishes(row(i), i, b, kind));
        let has_sums: Vec<f64> = (0..b).map(|kind| f64::from(u8::from(has_sums(kind)))).collect();
        let have_sums = comm::sums(comm, &has_sums)?;
        let without: Vec<usize> = (0..b).filter(|&kind| have_sums[kind] == 0.0).collect();
        if without.is_empty() {
            return Ok(None);
        }
        // Of each kind: rows whose sums are above 0, below 0; all; unknowns.
        let counts = |&kind: &usize| {
            let sum = |i: usize| sums(row(i), b, kind).0;
            [
                count(&|i| sum(i) > 0.0 || is_alone(row(i), i)),
                count(&|i| sum(i) < 0.0 || is_alone(row(i), i)),
                own.len() as f64,
                count(&|i| i % b == kind && !is_alone(row(i), i)),
            ]
        };
        let of_all = comm::sums(comm, &without.iter().flat_map(counts).collect::<Vec<f64>>())?;
        let is_null = |counts: &[f64]| {
            let is_shifted = counts[2] >= FEW as f64 && counts[..2].contains(&counts[2]);
            counts[3] > 0.0 && !is_shifted
        };
        let found: Vec<(usize, f64)> = without
            .into_iter()
            .zip(of_all.chunks(4))
            .filter(|(_, counts)| is_null(counts))
            .map(|(kind, counts)| (kind, counts[3]))
            .collect();
        if found.is_empty() {
            return Ok(None);
        }
        let kinds: Vec<usize> = found.iter().map(|&(kind, _)| kind).collect();
        let component_of = |&i: &u32| {
            let i = i as usize;
            let k = kinds.iter().position(|&kind| i % b == kind && !is_alone(row(i), i));
            k.map_or(REGULAR, |k| k as u32)
        };
        let component = own.iter().map(component_of).collect();
        let sizes = found.iter().map(|&(_, size)| size as usize).collect();
        Ok(Some(NullSpace { component, sizes }))
    }

    /// Why `A x = b` may have no solution, where the entries of A's columns or rows add up to 0, to 1e-12 of
    /// the sum of their magnitudes: `1^T A = 0` asks for `1^T b = 0`, and `A 1 = 0` leaves x open. `None` for
    /// any other square matrix.
    pub fn why_singular(a: &Csr<f64>, b: &[f64]) -> Option<String> {
        let mut columns = vec![Sum::default(); a.n_cols()];
        let mut rows = vec![Sum::default(); a.n_rows()];
        Sum::add_entries(a, &mut rows, |i| i, &mut columns);
        let [columns, rows] = [columns, rows].map(|sums| !sums.is_empty() && sums.iter().all(Sum::vanishes));
        NullSpace::why(columns, rows, Sum::of(b))
    }

    /// The same where it is known whether the entries of all columns and of all rows add up to 0, and what b
    /// adds up to.
    pub(crate) fn why(columns: bool, rows: bool, b: Sum) -> Option<String> {
        if columns && !b.vanishes() {
            Some(format!(
                "the matrix is singular, the entries of every column add up to 0: there is no solution unless those of the \
                 right-hand side do, which add up to {:.2e} of the sum of their magnitudes",
                b.sum / b.magnitudes
            ))
        } else if columns || rows {
            let which = if columns { "column" } else { "row" };
            Some(format!(
                "the matrix is singular, the entries of every {which} add up to 0: if nothing else is in its null space, fix \
                 an unknown, with a row of the identity in place of its own"
            ))
        } else {
            None
        }
    }

    /// Whether every unknown has a part in it.
    pub fn has_every_unknown(&self) -> bool {
        !self.component.contains(&REGULAR)
    }

    /// Its dimension.
    pub fn dimension(&self) -> usize {
        self.sizes.len()
    }

    /// `x -= its mean on each component`. Returns the 2-norms of x before and of what was taken away.
    ///
    /// Where nothing but rounding is left of `x`, it is set to 0.
    pub fn project(&self, x: &mut [f64]) -> (f64, f64) {
        let before = norm(x);
        let removed = self.take_out(&self.sums(x), x);
        if norm(x) <= ROUNDING * before {
            x.fill(0.0);
        }
        (before, removed)
    }

    /// The same of a vector of which this rank has a part, as of the [null space](NullSpace::on_ranks). All
    /// ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
    pub fn project_on_ranks(&self, comm: &dyn Comm, x: &mut [f64]) -> Result<(f64, f64)> {
        let norm_of_all = |x: &[f64]| Ok(comm::sums(comm, &[norm(x).powi(2)])?[0].sqrt());
        let before = norm_of_all(x)?;
        let removed = self.take_out(&comm::sums(comm, &self.sums(x))?, x);
        if norm_of_all(x)? <= ROUNDING * before {
            x.fill(0.0);
        }
        Ok((before, removed))
    }

    /// Takes the mean of each component out of x, given the sums over them, and returns the 2-norm of all
    /// that.
    fn take_out(&self, sums: &[f64], x: &mut [f64]) -> f64 {
        let means: Vec<f64> = sums.iter().zip(&self.sizes).map(|(s, &m)| s / m as f64).collect();
        let each = x.par_iter_mut().with_min_len(CHUNK).zip(self.component.par_iter());
        each.for_each(|(x, &k)| {
            if k != REGULAR {
                *x -= means[k as usize];
            }
        });
        let removed = means.iter().zip(&self.sizes).map(|(mean, &m)| mean * mean * m as f64).sum::<f64>();
        removed.sqrt()
    }

    /// The sum over each component.
    fn sums(&self, x: &[f64]) -> Vec<f64> {
        let chunk_sums = |(x, component): (&[f64], &[u32])| {
            let mut sums = vec![0.0; self.sizes.len()];
            let each = x.iter().zip(component).filter(|(_, k)| **k != REGULAR);
            each.for_each(|(x, &k)| sums[k as usize] += x);
            sums
        };
        let chunks: Vec<Vec<f64>> =
            x.par_chunks(CHUNK).zip(self.component.par_chunks(CHUNK)).map(chunk_sums).collect();
        (0..self.sizes.len()).map(|k| chunks.iter().map(|sums| sums[k]).sum()).collect()
    }

    /// Its orthonormal basis: `1 / sqrt(m)` on a component of m unknowns, 0 elsewhere.
    pub(crate) fn basis<T: Real>(&self) -> impl Iterator<Item = Vec<T>> + '_ {
        self.sizes.iter().enumerate().map(|(k, &m)| {
            let value = T::from_f64(1.0 / (m as f64).sqrt());
            self.component.iter().map(|&c| if c as usize == k { value } else { T::ZERO }).collect()
        })
    }
}

/// Columns and values of a row.
type Row<'a> = (&'a [u32], &'a [f64]);

/// The sums of the entries of a row over the unknowns of one of `b` kinds, and of their magnitudes.
fn sums((columns, values): Row, b: usize, kind: usize) -> (f64, f64) {
    let entries = columns.iter().zip(values).filter(|(j, _)| **j as usize % b == kind);
    entries.fold((0.0, 0.0), |(s, m), (_, v)| (s + v, m + v.abs()))
}

/// Whether the first of [`sums`], of row i, is 0 but for rounding, or the row says nothing of the others.
fn vanishes(row: Row, i: usize, b: usize, kind: usize) -> bool {
    let (sum, magnitude) = sums(row, b, kind);
    // A row without entries is none of these: its unknown is in no system.
    sum.abs() <= ROUNDING * magnitude && (magnitude > 0.0 || i % b != kind) || is_alone(row, i)
}

/// Whether the only entry of row i that is not 0 is that of the diagonal.
fn is_alone((columns, values): Row, i: usize) -> bool {
    let mut entries = columns.iter().zip(values).filter(|(_, v)| **v != 0.0);
    entries.next().is_some_and(|(&j, _)| j as usize == i) && entries.next().is_none()
}

/// The connected component of each unknown in the graph of the entries that are not 0 between unknowns of one
/// kind, numbered by their first unknowns, and their number; `None` where they are too many. Unknowns of a
/// kind that is not among `kinds`, and those alone in their equations, are [`REGULAR`]. Union-find with path
/// halving (Tarjan and van Leeuwen 1984).
fn components(a: &Csr<f64>, b: usize, kinds: &[bool]) -> Option<(Vec<u32>, usize)> {
    fn root(parent: &mut [u32], mut i: u32) -> u32 {
        while parent[i as usize] != i {
            let above = parent[parent[i as usize] as usize];
            parent[i as usize] = above;
            i = above;
        }
        i
    }
    let n = a.n_rows();
    let mut parent: Vec<u32> = (0..n as u32).collect();
    for i in (0..n).filter(|i| kinds[i % b]) {
        for (&j, &v) in a.row(i).0.iter().zip(a.row(i).1) {
            if v != 0.0 && (j as usize) < i && j as usize % b == i % b {
                let (r, s) = (root(&mut parent, i as u32), root(&mut parent, j));
                // The smaller one stays a root: a component's root is its first unknown.
                parent[r.max(s) as usize] = r.min(s);
            }
        }
    }
    let mut component = vec![REGULAR; n];
    let mut count = 0;
    for i in (0..n).filter(|i| kinds[i % b] && !is_alone(a.row(*i), *i)) {
        let root = root(&mut parent, i as u32) as usize;
        component[i] = if root == i { count } else { component[root] };
        count += u32::from(root == i);
        if count as usize > NullSpace::MOST {
            return None;
        }
    }
    Some((component, count as usize))
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::job::ranks::together;
    use crate::problem::generate;

    pub fn problem(name: &str) -> Csr<f64> {
        generate(&name.parse().unwrap(), 1).unwrap()
    }

    /// `copies` of `a` side by side, each row's diagonal such that its sum is 0.
    pub fn neumann(a: &Csr<f64>, copies: usize) -> Csr<f64> {
        let n = a.n_rows();
        Csr::from_rows(
            copies * n,
            copies * n,
            |i| a.row_len(i % n),
            |i, columns, values| {
                let (neighbours, v) = a.row(i % n);
                let first = (i - i % n) as u32;
                columns.iter_mut().zip(neighbours).for_each(|(column, &j)| *column = first + j);
                values.copy_from_slice(v);
                let diagonal = neighbours.iter().position(|&j| j as usize == i % n).unwrap();
                values[diagonal] = 0.0;
                values[diagonal] = -values.iter().sum::<f64>();
            },
        )
    }

    #[test]
    fn null_spaces_are_found() {
        let a = problem("poisson2d:7");
        assert_eq!(NullSpace::of(&a, 1), None);
        for copies in [1, 2, NullSpace::MOST] {
            let null_space = NullSpace::of(&neumann(&a, copies), 1).unwrap();
            assert_eq!(null_space.sizes, vec![49; copies]);
            assert!((0..49 * copies).all(|i| null_space.component[i] as usize == i / 49));
        }
        assert_eq!(NullSpace::of(&neumann(&a, NullSpace::MOST + 1), 1), None);
        // 1e-14 more on the diagonal is no rounding where it is in every row.
        let singular = neumann(&a, 1);
        for (rows, is_null) in [(48, true), (49, false)] {
            let more = (0..rows).map(|i| (i, i, 1e-14));
            let row = |i: usize| {
                singular.row(i).0.iter().zip(singular.row(i).1).map(move |(&j, &v)| (i, j as usize, v))
            };
            let shifted = Csr::from_triplets(49, 49, (0..49).flat_map(row).chain(more)).unwrap();
            assert_eq!(NullSpace::of(&shifted, 1).is_some(), is_null);
        }
        // An unknown by itself, before the others and behind them, is in no part of it.
        let entries = |first: usize| {
            let row =
                |i: usize| singular.row(i).0.iter().zip(singular.row(i).1).map(move |(&j, &v)| (i, j, v));
            let moved = (0..49).flat_map(row).map(move |(i, j, v)| (first + i, first + j as usize, v));
            moved.chain([(49 * (1 - first), 49 * (1 - first), 2.0)])
        };
        for first in [0, 1] {
            let null_space = NullSpace::of(&Csr::from_triplets(50, 50, entries(first)).unwrap(), 1).unwrap();
            assert_eq!((null_space.sizes.as_slice(), null_space.has_every_unknown()), (&[49][..], false));
        }
        let shifted = entries(1).chain((1..50).map(|i| (i, i, -1e-14)));
        assert_eq!(NullSpace::of(&Csr::from_triplets(50, 50, shifted).unwrap(), 1), None);
        assert_eq!(NullSpace::of(&Csr::identity(3), 1), None);
        // Row sums vanish, but those of the columns do not.
        assert_eq!(NullSpace::of(&neumann(&problem("convection-diffusion:7"), 1), 1), None);
        // A tree whose unknowns come in an order that unites components late; an entry 0 connects nothing.
        let edges = [(0usize, 5usize), (1, 4), (2, 3), (3, 5), (4, 6)];
        let mut dense = vec![vec![0.0; 7]; 7];
        for (i, j) in edges {
            (dense[i][j], dense[j][i]) = (-0.5, -0.5);
            (dense[i][i], dense[j][j]) = (dense[i][i] + 0.5, dense[j][j] + 0.5);
        }
        let full = Csr::new(
            7,
            7,
            (0..=7).map(|i| 7 * i).collect(),
            (0..7).cycle().take(49).collect(),
            dense.concat(),
        );
        assert_eq!(NullSpace::of(&full.unwrap(), 1).unwrap().component, [0, 1, 0, 0, 1, 0, 1]);
    }

    #[test]
    fn ranks_find_it_in_their_rows() {
        let singular = neumann(&problem("poisson2d:7"), 1);
        let shift = Csr::identity(49).map_values(|v: f64| 1e-13 * v);
        let shifted = Csr::from_triplets(
            49,
            49,
            [&singular, &shift].into_iter().flat_map(|a| {
                (0..49).flat_map(move |i| {
                    a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &v)| (i, j as usize, v))
                })
            }),
        )
        .unwrap();
        for a in [&singular, &shifted, &problem("poisson2d:7")] {
            let whole = NullSpace::of(a, 1);
            let own = |comm: &Arc<dyn Comm>| {
                // Every third row, counted from that of the rank.
                let own: Vec<u32> = (comm.rank() as u32..49).step_by(3).collect();
                let found = NullSpace::on_ranks(&**comm, a, &own, 0, 1)?;
                let part = |v: Vec<f64>| own.iter().map(|&i| v[i as usize]).collect::<Vec<f64>>();
                let expected = whole.as_ref().map(|space| space.basis().map(part).collect::<Vec<_>>());
                assert_eq!(found.map(|space| space.basis::<f64>().collect::<Vec<_>>()), expected);
                Ok(())
            };
            together(3, own, own).unwrap();
        }
        assert!(NullSpace::of(&singular, 1).is_some() && NullSpace::of(&shifted, 1).is_none());
    }

    #[test]
    fn vanishing_sums_are_named() {
        let dense =
            |values: [f64; 4]| Csr::new(2, 2, vec![0, 2, 4], vec![0, 1, 0, 1], values.to_vec()).unwrap();
        let columns = dense([1.5, -0.25, -1.5, 0.25]);
        let message = NullSpace::why_singular(&columns, &[1.0, 0.5]).unwrap();
        assert!(
            message.contains("every column add up to 0")
                && message.ends_with("1.00e0 of the sum of their magnitudes"),
            "{message}"
        );
        let message = NullSpace::why_singular(&columns, &[1.0, -1.0]).unwrap();
        assert!(message.contains("every column add up to 0: if nothing"), "{message}");
        let message = NullSpace::why_singular(&dense([1.5, -1.5, -0.25, 0.25]), &[1.0, 1.0]).unwrap();
        assert!(message.contains("every row add up to 0: if nothing"), "{message}");
        assert_eq!(NullSpace::why_singular(&dense([1.5, -1.5, -0.25, 0.5]), &[1.0, 1.0]), None);
        assert_eq!(NullSpace::why_singular(&Csr::new(0, 0, vec![0], vec![], vec![]).unwrap(), &[]), None);
    }

    #[test]
    fn projections_take_the_means_away() {
        let null_space = NullSpace { component: vec![0, 1, 0, 1, 1], sizes: vec![2, 3] };
        let mut x = [1.0, 2.0, 4.0, 3.0, 7.0];
        let (norm, removed) = null_space.project(&mut x);
        assert_eq!(x, [-1.5, -2.0, 1.5, -1.0, 3.0]);
        assert!((norm - 79f64.sqrt()).abs() < 1e-14);
        assert!((removed - (2.0 * 6.25 + 3.0 * 16.0f64).sqrt()).abs() < 1e-14);
        // 0.1 is no multiple of a power of two: what is left of a constant is rounding.
        let mut constant = [0.1, 0.7, 0.1, 0.7, 0.7];
        null_space.project(&mut constant);
        assert_eq!(constant, [0.0; 5]);
    }
}
