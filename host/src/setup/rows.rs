//! Matrices a row at a time, in parallel.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::parallel::*;
use cuda_std::Real;

use crate::matrix::Csr;
use crate::pages::in_large_pages;

/// Rows of one task.
const CHUNK: usize = 512;

/// Rows from which the size of the whole is estimated.
const SAMPLES: usize = 1024;

/// What one task has made: where each of its rows ends, and their entries.
pub(super) struct Chunk<T> {
    pub ends: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<T>,
}

impl<T> Chunk<T> {
    fn new() -> Self {
        Chunk { ends: vec![], columns: vec![], values: vec![] }
    }

    /// Its memory is used again: the system would have to clear other.
    fn clear(&mut self) {
        self.ends.clear();
        self.columns.clear();
        self.values.clear();
    }
}

/// Space to work in for each thread of the pool, made when the thread first asks for it.
struct Spaces<W, N> {
    by_thread: Vec<Mutex<Option<W>>>,
    new: N,
}

impl<W, N: Fn() -> W> Spaces<W, N> {
    fn new(new: N) -> Self {
        Spaces { by_thread: (0..rayon::current_num_threads()).map(|_| Mutex::new(None)).collect(), new }
    }

    /// Calls `f` with the space of this thread, as it was left.
    fn with<R>(&self, f: impl FnOnce(&mut W) -> R) -> R {
        let own = &self.by_thread[rayon::current_thread_index().unwrap_or(0)];
        // No other thread asks for it, and what a panic may have left behind is never seen.
        let mut space = own.lock().unwrap_or_else(PoisonError::into_inner);
        f(space.get_or_insert_with(&self.new))
    }
}

/// Builds a matrix in one pass: `append(w, i, columns, values)` appends the entries of row `i`, columns
/// ascending, to those of the rows in front of it; `w` is work space that `new` made, as the last call left
/// it.
pub(super) fn collect_rows<T: Real, W: Send>(
    n_rows: usize,
    n_cols: usize,
    new: impl Fn() -> W + Sync,
    append: impl Fn(&mut W, usize, &mut Vec<u32>, &mut Vec<T>) + Sync,
) -> Csr<T> {
    collect_runs(n_rows, n_cols, new, |space, rows, chunk| {
        append(space, rows.start, &mut chunk.columns, &mut chunk.values);
        chunk.ends.push(chunk.columns.len());
    })
}

/// The same where `append` may append several rows at once, the first of those that it is given, with where
/// each ends.
pub(super) fn collect_runs<T: Real, W: Send>(
    n_rows: usize,
    n_cols: usize,
    new: impl Fn() -> W + Sync,
    append: impl Fn(&mut W, Range<usize>, &mut Chunk<T>) + Sync,
) -> Csr<T> {
    let (mut col_idx, mut values) = with_room_for(n_rows, &new, &append);
    let spaces = Spaces::new(new);
    let mut row_ptr = in_large_pages(vec![0; n_rows + 1]);
    let row_ends = row_ptr[1..].chunks_mut(CHUNK).map(Mutex::new).collect::<Vec<_>>();
    let room = col_idx.capacity().min(values.capacity());
    let places = (Places::of(&mut col_idx), Places::of(&mut values));
    let (queue, beyond) = (Queue::new(row_ends.len()), Mutex::new(Vec::new()));
    let take_chunks = |_| {
        let (mut chunk, _guard) = (Chunk::new(), Guard(&queue));
        while let Some(c) = queue.take() {
            chunk.clear();
            let (start, end) = (c * CHUNK, ((c + 1) * CHUNK).min(n_rows));
            spaces.with(|space| {
                while start + chunk.ends.len() < end {
                    append(space, start + chunk.ends.len()..end, &mut chunk);
                }
            });
            let Some(first) = queue.place(c, chunk.columns.len()) else { return };
            let mut row_ends = row_ends[c].lock().unwrap_or_else(PoisonError::into_inner);
            row_ends.iter_mut().zip(&chunk.ends).for_each(|(row_end, end)| *row_end = first + end);
            if first + chunk.columns.len() <= room {
                // SAFETY: within the room, and the place of no other chunk.
                unsafe {
                    let (columns, values) = (places.0.at(first), places.1.at(first));
                    columns.copy_from_nonoverlapping(chunk.columns.as_ptr(), chunk.columns.len());
                    values.copy_from_nonoverlapping(chunk.values.as_ptr(), chunk.values.len());
                }
            } else {
                let kept = std::mem::replace(&mut chunk, Chunk::new());
                beyond.lock().unwrap_or_else(PoisonError::into_inner).push((first, kept));
            }
        }
    };
    (0..rayon::current_num_threads().min(row_ends.len())).into_par_iter().for_each(take_chunks);
    let mut beyond = beyond.into_inner().unwrap_or_else(PoisonError::into_inner);
    beyond.sort_unstable_by_key(|(first, _)| *first);
    let written = beyond.first().map_or(queue.end(), |(first, _)| *first);
    // SAFETY: chunks follow one another, and all in front of the first that had no room were written.
    unsafe {
        col_idx.set_len(written);
        values.set_len(written);
    }
    for (_, chunk) in beyond {
        col_idx.extend(chunk.columns);
        values.extend(chunk.values);
    }
    col_idx.shrink_to_fit();
    values.shrink_to_fit();
    Csr::from_valid_parts(n_rows, n_cols, row_ptr, col_idx, values)
}

/// Chunks that threads take in turn, and that follow one another where they are put. A thread waits for those
/// in front of its own, which others have taken before.
struct Queue {
    next: AtomicUsize,
    /// Where each chunk begins, and the last ends, once that is known.
    starts: Vec<AtomicUsize>,
    has_failed: AtomicBool,
}

impl Queue {
    const UNKNOWN: usize = usize::MAX;

    fn new(chunks: usize) -> Self {
        let start = |c| AtomicUsize::new(if c == 0 { 0 } else { Self::UNKNOWN });
        Queue { next: 0.into(), starts: (0..=chunks).map(start).collect(), has_failed: false.into() }
    }

    fn take(&self) -> Option<usize> {
        let c = self.next.fetch_add(1, Ordering::Relaxed);
        (c + 1 < self.starts.len()).then_some(c)
    }

    /// Where chunk `c`, which has so many elements, begins; `None` where another thread has panicked.
    fn place(&self, c: usize, count: usize) -> Option<usize> {
        /// Times that a thread asks before it lets others run.
        const TRIES: usize = 200;
        for tries in 0.. {
            match self.starts[c].load(Ordering::Relaxed) {
                Self::UNKNOWN if self.has_failed.load(Ordering::Relaxed) => return None,
                Self::UNKNOWN if tries < TRIES => std::hint::spin_loop(),
                Self::UNKNOWN => std::thread::yield_now(),
                start => {
                    self.starts[c + 1].store(start + count, Ordering::Relaxed);
                    return Some(start);
                }
            }
        }
        None
    }

    /// Where the last one ends.
    fn end(&self) -> usize {
        self.starts[self.starts.len() - 1].load(Ordering::Relaxed)
    }
}

/// Lets nobody wait for a thread that has panicked.
struct Guard<'a>(&'a Queue);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.has_failed.store(true, Ordering::Relaxed);
        }
    }
}

/// Empty arrays with room for about what [`collect_rows`] will collect, judged by rows at equal distances:
/// arrays that grow are copied. A wrong guess costs address space or a copy.
fn with_room_for<T: Real, W: Send>(
    n_rows: usize,
    new: impl Fn() -> W + Sync,
    append: impl Fn(&mut W, Range<usize>, &mut Chunk<T>) + Sync,
) -> (Vec<u32>, Vec<T>) {
    if n_rows < 8 * SAMPLES {
        return (Vec::new(), Vec::new());
    }
    let spaces = Spaces::new(new);
    let length = |k: usize| {
        let (mut chunk, row) = (Chunk::new(), k * (n_rows / SAMPLES));
        spaces.with(|space| append(space, row..row + 1, &mut chunk));
        chunk.columns.len()
    };
    let sampled: usize = (0..SAMPLES).into_par_iter().with_min_len(SAMPLES / 8).map(length).sum();
    let expected = (sampled as f64 / SAMPLES as f64 * n_rows as f64) as usize;
    // Pages that are never written are never there.
    (with_room(expected + expected / 8), with_room(expected + expected / 8))
}

/// An empty array with room for `capacity` elements, if the system has that.
fn with_room<E>(capacity: usize) -> Vec<E> {
    let mut array = Vec::new();
    // Without it the array grows as it is filled.
    let _ = array.try_reserve_exact(capacity);
    in_large_pages(array)
}

/// Calls `f(i, columns, values)` for every row, in parallel.
pub(super) fn for_each_row<T: Real>(a: &mut Csr<T>, f: impl Fn(usize, &[u32], &mut [T]) + Sync) {
    for_each_row_with(a, || (), |(), i, columns, values| f(i, columns, values));
}

/// [`for_each_row`] with space to work in, as [`collect_rows`] has it.
pub(super) fn for_each_row_with<T: Real, W: Send>(
    a: &mut Csr<T>,
    new: impl Fn() -> W + Sync,
    f: impl Fn(&mut W, usize, &[u32], &mut [T]) + Sync,
) {
    let spaces = Spaces::new(new);
    let n_rows = a.n_rows();
    let (row_ptr, col_idx, mut values_left) = a.parts_mut();
    let mut chunks = Vec::with_capacity(n_rows.div_ceil(CHUNK));
    for start in (0..n_rows).step_by(CHUNK) {
        let end = (start + CHUNK).min(n_rows);
        let values;
        (values, values_left) = values_left.split_at_mut(row_ptr[end] - row_ptr[start]);
        chunks.push((start..end, values));
    }
    chunks.into_par_iter().for_each(|(rows, values)| {
        let first = row_ptr[rows.start];
        spaces.with(|space| {
            for i in rows {
                let range = row_ptr[i]..row_ptr[i + 1];
                f(space, i, &col_idx[range.clone()], &mut values[range.start - first..range.end - first]);
            }
        });
    });
}

/// The place of `j` in `columns`, if it is there. `positions` has the place of each of `columns`, and
/// anything for other columns.
#[inline]
pub(super) fn find(columns: &[u32], positions: &[u32], j: u32) -> Option<usize> {
    let position = positions[j as usize] as usize;
    (columns.get(position) == Some(&j)).then_some(position)
}

/// The number of coarse unknowns in front of each unknown, and how many there are; `coarse` has 1 for coarse
/// unknowns.
pub(super) fn coarse_numbers(coarse: &[u32]) -> (Vec<u32>, usize) {
    let mut count = 0;
    let number = |&is_coarse| {
        count += is_coarse;
        count - is_coarse
    };
    let numbers = coarse.iter().map(number).collect();
    (numbers, count as usize)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::backend::cpu::Cpu;

    /// A matrix whose row i has so many entries.
    fn collected(n: usize, count: impl Fn(usize) -> usize + Sync) -> Csr<f64> {
        let row = |(): &mut (), i: usize, columns: &mut Vec<u32>, values: &mut Vec<f64>| {
            columns.extend(0..count(i) as u32);
            values.extend((0..count(i)).map(|k| (i * 10 + k) as f64 + 0.5));
        };
        collect_rows(n, 10, || (), row)
    }

    #[test]
    fn rows_follow_one_another_whatever_room_was_expected() {
        let many = 20_000;
        let step = many / SAMPLES;
        // As expected, more than that from some row on, and more than that everywhere but in the sample.
        let more_later = |i: usize| if i < 15_000 || i.is_multiple_of(step) { 2 } else { 9 };
        let more = |i: usize| if i.is_multiple_of(step) { 1 } else { 7 };
        let counts: [&(dyn Fn(usize) -> usize + Sync); 3] = [&|i| i % 4, &more_later, &more];
        for threads in [1, 2, 5] {
            for n in [0, 1, CHUNK, CHUNK + 1, 8 * SAMPLES - 1, many] {
                for (c, count) in counts.iter().enumerate() {
                    let a = Cpu::new(threads).unwrap().install(|| collected(n, count));
                    assert_eq!(a.n_rows(), n);
                    for i in 0..n {
                        let values: Vec<f64> = (0..count(i)).map(|k| (i * 10 + k) as f64 + 0.5).collect();
                        assert_eq!(a.row(i).1, values, "{threads} threads, {n} rows, {c}, row {i}");
                    }
                }
            }
        }
    }

    #[test]
    fn nobody_waits_for_a_row_that_panics() {
        let panics = |i: usize| if i == 3 * CHUNK { panic!("no such row") } else { 1 };
        let collect = || Cpu::new(4).unwrap().install(|| collected(5000, panics));
        assert!(catch_unwind(AssertUnwindSafe(collect)).is_err());
    }
}
