//! Triplets (coordinate storage): how matrices are put together.

use crate::parallel::*;

use super::Csr;
use crate::error::{Error, Result};
use crate::pages::in_large_pages;
use cuda_std::Real;

/// Entries per bucket that the distribution aims at: few enough for a bucket to stay in the L2 cache.
const BUCKET_ENTRIES: usize = 1 << 14;
/// More buckets than this, and the write streams of the distribution fall out of the first-level cache.
const MAX_BUCKETS: usize = 512;

/// A sparse matrix as a list of `(row, column, value)`, in any order, duplicates allowed.
///
/// The matrix it stands for is the sum of its entries: duplicates add up, as finite-element assembly and
/// Matrix Market files need it.
#[derive(Debug, Clone, PartialEq)]
pub struct Coo<T> {
    n_rows: usize,
    n_cols: usize,
    rows: Vec<u32>,
    cols: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Coo<T> {
    /// An empty `n_rows x n_cols` matrix with room for `capacity` entries.
    ///
    /// # Errors
    /// [`Error::Matrix`] when 32-bit indices do not reach that far.
    pub fn new(n_rows: usize, n_cols: usize, capacity: usize) -> Result<Self> {
        let (rows, cols) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        Coo::from_parts(n_rows, n_cols, rows, cols, Vec::with_capacity(capacity))
    }

    /// Takes over the rows, columns (both from 0) and values of the entries.
    ///
    /// # Errors
    /// [`Error::Matrix`] when the lengths differ or an index is out of range.
    pub fn from_parts(
        n_rows: usize,
        n_cols: usize,
        rows: Vec<u32>,
        cols: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self> {
        if n_rows > u32::MAX as usize || n_cols > u32::MAX as usize {
            return Err(Error::Matrix(format!(
                "{n_rows} x {n_cols}: more rows or columns than 32-bit indices reach"
            )));
        }
        if rows.len() != values.len() || cols.len() != values.len() {
            return Err(Error::Matrix(format!(
                "{} rows, {} columns and {} values do not make triplets",
                rows.len(),
                cols.len(),
                values.len()
            )));
        }
        let outside = |(&i, &j): (&u32, &u32)| i as usize >= n_rows || j as usize >= n_cols;
        if let Some(k) = rows.par_iter().zip(cols.par_iter()).position_first(outside) {
            return Err(Error::Matrix(format!(
                "entry {}: row {}, column {} is outside of the {n_rows} x {n_cols} matrix",
                k + 1,
                rows[k] as u64 + 1,
                cols[k] as u64 + 1
            )));
        }
        Ok(Coo { n_rows, n_cols, rows, cols, values })
    }

    /// Adds `value` to the entry in `row` and `col`, both counted from 0.
    ///
    /// # Panics
    /// When the indices are out of range, which is a mistake of the caller.
    #[track_caller]
    pub fn push(&mut self, row: usize, col: usize, value: T) {
        let (n_rows, n_cols) = (self.n_rows, self.n_cols);
        assert!(row < n_rows && col < n_cols, "entry ({row}, {col}) of a {n_rows} x {n_cols} matrix");
        self.rows.push(row as u32);
        self.cols.push(col as u32);
        self.values.push(value);
    }

    /// Completes a triangle: appends `a_ji = sign a_ij` for every entry off the diagonal.
    ///
    /// # Panics
    /// When the matrix is not square, which is a mistake of the caller.
    #[track_caller]
    pub fn mirror(&mut self, sign: T) {
        assert_eq!(self.n_rows, self.n_cols, "only square matrices have a mirror image");
        let stored = self.n_entries();
        for k in 0..stored {
            let (i, j) = (self.rows[k], self.cols[k]);
            if i != j {
                self.rows.push(j);
                self.cols.push(i);
                self.values.push(sign * self.values[k]);
            }
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }
    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }
    /// Number of entries, duplicates included.
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// Sorts the entries by row and column and sums duplicates in the order they were given.
    ///
    /// Returns the matrix and how many entries were added to an earlier one. The result does not depend
    /// on the number of threads: entries go to buckets of consecutive rows in a stable parallel
    /// distribution, then every bucket is sorted on its own by a stable counting sort.
    pub fn into_csr(self) -> (Csr<T>, usize) {
        let Coo { n_rows, n_cols, rows, cols, values } = self;
        let nnz = values.len();
        let wanted = (nnz / BUCKET_ENTRIES).clamp(1, MAX_BUCKETS);
        let bucket_rows = n_rows.div_ceil(wanted).max(1).next_power_of_two();
        let (entries, bucket_sizes) =
            distribute(n_rows.div_ceil(bucket_rows), bucket_rows, &rows, &cols, &values);
        drop((rows, cols, values));

        let mut row_ptr = in_large_pages(vec![0; n_rows + 1]);
        let mut col_idx = in_large_pages(vec![0; nnz]);
        let mut values = in_large_pages(vec![T::ZERO; nnz]);
        let mut tasks = Vec::with_capacity(bucket_sizes.len());
        let (mut entries_left, mut cols_left, mut values_left) =
            (&entries[..], &mut col_idx[..], &mut values[..]);
        for (bucket, row_lens) in row_ptr[1..].chunks_mut(bucket_rows).enumerate() {
            let size = bucket_sizes[bucket];
            tasks.push(Bucket {
                first_row: bucket * bucket_rows,
                entries: entries_left.split_off(..size).unwrap_or_default(),
                row_lens,
                cols: cols_left.split_off_mut(..size).unwrap_or_default(),
                values: values_left.split_off_mut(..size).unwrap_or_default(),
            });
        }
        let kept: Vec<usize> = tasks.into_par_iter().map(Bucket::sort).collect();
        drop(entries);

        let nnz_kept: usize = kept.iter().sum();
        if nnz_kept < nnz {
            let (mut read, mut write) = (0, 0);
            for (&size, &kept) in bucket_sizes.iter().zip(&kept) {
                col_idx.copy_within(read..read + kept, write);
                values.copy_within(read..read + kept, write);
                read += size;
                write += kept;
            }
            col_idx.truncate(nnz_kept);
            values.truncate(nnz_kept);
        }
        for i in 0..n_rows {
            row_ptr[i + 1] += row_ptr[i];
        }
        let csr = Csr::from_valid_parts(n_rows, n_cols, row_ptr, col_idx, values);
        (csr, nnz - nnz_kept)
    }
}

/// Brings the entries into the order of their buckets, stably; returns them with the buckets' sizes.
fn distribute<T: Real>(
    n_buckets: usize,
    bucket_rows: usize,
    rows: &[u32],
    cols: &[u32],
    values: &[T],
) -> (Vec<(u32, u32, T)>, Vec<usize>) {
    let shift = bucket_rows.trailing_zeros();
    let piece = rows.len().div_ceil(4 * rayon::current_num_threads()).max(BUCKET_ENTRIES);
    let histograms: Vec<Vec<usize>> = rows
        .par_chunks(piece)
        .map(|rows| {
            let mut histogram = vec![0; n_buckets];
            rows.iter().for_each(|&row| histogram[(row >> shift) as usize] += 1);
            histogram
        })
        .collect();

    // Every piece owns one run in every bucket, and the runs lie in the order of the pieces.
    let mut entries = in_large_pages(vec![(0, 0, T::ZERO); rows.len()]);
    let mut left = &mut entries[..];
    let mut runs: Vec<Vec<_>> = histograms.iter().map(|_| Vec::with_capacity(n_buckets)).collect();
    for bucket in 0..n_buckets {
        for (runs, histogram) in runs.iter_mut().zip(&histograms) {
            runs.push(left.split_off_mut(..histogram[bucket]).unwrap_or_default().iter_mut());
        }
    }
    let pieces = rows.par_chunks(piece).zip(cols.par_chunks(piece)).zip(values.par_chunks(piece));
    pieces.zip(runs.into_par_iter()).for_each(|(((rows, cols), values), mut runs)| {
        for ((&row, &col), &value) in rows.iter().zip(cols).zip(values) {
            if let Some(slot) = runs[(row >> shift) as usize].next() {
                *slot = (row, col, value);
            }
        }
    });
    let sizes = (0..n_buckets).map(|bucket| histograms.iter().map(|h| h[bucket]).sum()).collect();
    (entries, sizes)
}

/// Consecutive rows: their entries, and where they go.
struct Bucket<'a, T> {
    first_row: usize,
    entries: &'a [(u32, u32, T)],
    row_lens: &'a mut [usize],
    cols: &'a mut [u32],
    values: &'a mut [T],
}

impl<T: Real> Bucket<'_, T> {
    /// Sorts by row and column, sums duplicates, fills in the row lengths; returns the entries kept.
    fn sort(self) -> usize {
        let Bucket { first_row, entries, row_lens, cols, values } = self;
        for &(row, ..) in entries {
            row_lens[row as usize - first_row] += 1;
        }
        let mut next: Vec<usize> =
            row_lens.iter().scan(0, |start, &len| Some(std::mem::replace(start, *start + len))).collect();
        for &(row, col, value) in entries {
            let slot = &mut next[row as usize - first_row];
            cols[*slot] = col;
            values[*slot] = value;
            *slot += 1;
        }

        let (mut start, mut write) = (0, 0);
        let mut row: Vec<(u32, T)> = Vec::new();
        for (len, &end) in row_lens.iter_mut().zip(&next) {
            if !cols[start..end].is_sorted_by(|a, b| a < b) {
                row.clear();
                row.extend(cols[start..end].iter().copied().zip(values[start..end].iter().copied()));
                // Stable, so that duplicates are summed in the order given.
                row.sort_by_key(|&(col, _)| col);
                row.dedup_by(|later, first| {
                    let same = later.0 == first.0;
                    if same {
                        first.1 += later.1;
                    }
                    same
                });
                *len = row.len();
                for (k, &(col, value)) in row.iter().enumerate() {
                    cols[write + k] = col;
                    values[write + k] = value;
                }
            } else if write != start {
                cols.copy_within(start..end, write);
                values.copy_within(start..end, write);
            }
            write += *len;
            start = end;
        }
        write
    }
}

impl<T: Real> Csr<T> {
    /// The matrix of triplets `(row, column, value)`, counted from 0, in any order; those of the same place
    /// add up.
    ///
    /// # Errors
    /// [`Error::Matrix`] for a triplet outside of the matrix, and for more than 32-bit indices reach.
    pub fn from_triplets(
        n_rows: usize,
        n_cols: usize,
        triplets: impl IntoIterator<Item = (usize, usize, T)>,
    ) -> Result<Self> {
        let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
        // Beyond 32 bits is outside of the matrix too.
        let index = |i: usize| u32::try_from(i).unwrap_or(u32::MAX);
        for (i, j, value) in triplets {
            rows.push(index(i));
            cols.push(index(j));
            values.push(value);
        }
        Ok(Coo::from_parts(n_rows, n_cols, rows, cols, values)?.into_csr().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The definition: a map from position to the sum, in the order given.
    fn expected(coo: &Coo<f64>) -> BTreeMap<(u32, u32), f64> {
        let mut sums = BTreeMap::new();
        for k in 0..coo.n_entries() {
            sums.entry((coo.rows[k], coo.cols[k]))
                .and_modify(|sum| *sum += coo.values[k])
                .or_insert(coo.values[k]);
        }
        sums
    }

    fn check(coo: Coo<f64>) {
        let (expected, n_entries) = (expected(&coo), coo.n_entries());
        let (csr, duplicates) = coo.into_csr();
        assert_eq!(duplicates, n_entries - expected.len());
        let found = (0..csr.n_rows()).flat_map(|i| {
            let (cols, values) = csr.row(i);
            cols.iter().zip(values).map(move |(&j, v)| ((i as u32, j), v.to_bits()))
        });
        assert!(found.eq(expected.into_iter().map(|(at, v)| (at, v.to_bits()))));
    }

    proptest! {
        #[test]
        fn equals_a_map_of_sums(
            n_rows in 1usize..40,
            n_cols in 1usize..40,
            entries in proptest::collection::vec((any::<u32>(), any::<u32>(), -1e3f64..1e3), 0..300),
        ) {
            let mut coo = Coo::new(n_rows, n_cols, 0).unwrap();
            for (i, j, v) in entries {
                coo.push(i as usize % n_rows, j as usize % n_cols, v);
            }
            check(coo);
        }
    }

    #[test]
    fn many_buckets_and_duplicates_across_pieces() {
        let (n_rows, n_cols) = (30_011, 977);
        let mut coo = Coo::new(n_rows, n_cols, 0).unwrap();
        let mut state = 12345u64;
        for _ in 0..400_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // A third of the entries crowd into one row.
            let row = if state & 3 == 0 { 17 } else { (state >> 33) as usize % n_rows };
            coo.push(row, (state >> 20) as usize % n_cols, (state >> 11) as f64 * 1e-17 - 0.3);
        }
        check(coo.clone());
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let seven_threads = rayon::ThreadPoolBuilder::new().num_threads(7).build().unwrap();
        let clone = coo.clone();
        assert_eq!(one_thread.install(|| clone.into_csr()), seven_threads.install(|| coo.into_csr()));
    }

    #[test]
    fn empty_matrices_and_empty_rows() {
        for (n_rows, n_cols) in [(0, 0), (0, 3), (3, 0), (5, 5)] {
            let (csr, duplicates) = Coo::<f32>::new(n_rows, n_cols, 0).unwrap().into_csr();
            assert_eq!((csr.n_rows(), csr.n_cols(), csr.nnz(), duplicates), (n_rows, n_cols, 0, 0));
        }
        let mut coo = Coo::new(4, 4, 1).unwrap();
        coo.push(2, 1, 0.5f32);
        assert_eq!(coo.into_csr().0.row_ptr(), [0, 0, 0, 1, 1]);
    }

    #[test]
    fn mirror_completes_the_triangle() {
        let mut coo = Coo::new(3, 3, 0).unwrap();
        coo.push(0, 0, 1.5);
        coo.push(2, 0, 0.25);
        coo.push(2, 0, 0.5);
        coo.mirror(-1.0);
        let (csr, duplicates) = coo.into_csr();
        assert_eq!((csr.row(0), csr.row(2)), ((&[0, 2][..], &[1.5, -0.75][..]), (&[0][..], &[0.75][..])));
        assert_eq!(duplicates, 2);
    }

    #[test]
    fn parts_are_checked() {
        let message = |rows: Vec<u32>, cols: Vec<u32>, values: Vec<f64>| {
            Coo::from_parts(2, 3, rows, cols, values).unwrap_err().to_string()
        };
        assert!(message(vec![0, 2], vec![0, 0], vec![1.0; 2]).starts_with("entry 2: row 3, column 1"));
        assert!(message(vec![1], vec![3], vec![1.0]).starts_with("entry 1: row 2, column 4"));
        assert!(message(vec![1], vec![2], vec![]).contains("do not make triplets"));
        assert!(Coo::<f64>::new(1 << 32, 1, 0).is_err());
    }
}
