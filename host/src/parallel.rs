//! Loops over many elements by several threads, under the names that rayon has for them.
//!
//! Rayon compiles its whole scheduler for each closure that it is given, which was a third of this crate's
//! machine code. Here every loop is a closure over a range of indices, and rayon, which runs it, is compiled
//! once. Results lie in the order of the indices, whatever the number of threads.

use crate::pages::in_large_pages;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Elements of simple loops that are worth waking a thread for.
pub(crate) const MANY: usize = 1 << 14;
/// Pieces of a loop for each thread: so many that nobody waits long for the last one.
const PIECES: usize = 8;

/// A loop over `0..n`: what it has at each index, which is asked for once.
pub(crate) struct Loop<F> {
    n: usize,
    least: usize,
    item: F,
}

/// How a loop over `0..n` is cut.
#[derive(Clone, Copy)]
struct Cut {
    n: usize,
    length: usize,
}

impl Cut {
    fn pieces(self) -> usize {
        self.n.div_ceil(self.length)
    }
    fn piece(self, p: usize) -> Range<usize> {
        p * self.length..self.n.min((p + 1) * self.length)
    }
    /// Calls `work` for every piece. All that rayon compiles is here.
    fn run(self, work: &(dyn Fn(usize) + Sync)) {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        match self.pieces() {
            0 => {}
            1 => work(0),
            pieces => IntoParallelIterator::into_par_iter(0..pieces).for_each(work),
        }
    }
}

/// An array whose elements are written by several threads, no element by two.
pub(crate) struct Places<E>(*mut E);

// SAFETY: whoever asks for a place answers for what is done with it.
unsafe impl<E: Send> Sync for Places<E> {}
// SAFETY: as above.
unsafe impl<E: Send> Send for Places<E> {}

impl<E> Places<E> {
    /// Those of an array, up to its capacity.
    pub fn of(array: &mut Vec<E>) -> Self {
        Places(array.as_mut_ptr())
    }

    /// # Safety
    /// The array is there, and `i` lies within it.
    pub unsafe fn at(&self, i: usize) -> *mut E {
        // SAFETY: the caller has seen to that.
        unsafe { self.0.add(i) }
    }
}

impl<T, F: Fn(usize) -> T + Sync> Loop<F> {
    fn new(n: usize, item: F) -> Self {
        Loop { n, least: 1, item }
    }

    fn cut(&self) -> Cut {
        let evenly = self.n.div_ceil(PIECES * rayon::current_num_threads());
        Cut { n: self.n, length: evenly.max(self.least) }
    }

    /// Indices that a thread takes at once, at least: as many as it takes to wake a thread for them.
    pub fn with_min_len(self, least: usize) -> Self {
        Loop { least: least.max(1), ..self }
    }

    pub fn map<U>(self, f: impl Fn(T) -> U + Sync) -> Loop<impl Fn(usize) -> U + Sync> {
        let Loop { n, least, item } = self;
        Loop { n, least, item: move |i| f(item(i)) }
    }

    /// With the index in front.
    pub fn enumerate(self) -> Loop<impl Fn(usize) -> (usize, T) + Sync> {
        let Loop { n, least, item } = self;
        Loop { n, least, item: move |i| (i, item(i)) }
    }

    /// Beside the elements of another loop; as long as the shorter one.
    pub fn zip<U, G: Fn(usize) -> U + Sync>(self, other: Loop<G>) -> Loop<impl Fn(usize) -> (T, U) + Sync> {
        let (a, b) = (self.item, other.item);
        Loop { n: self.n.min(other.n), least: self.least.max(other.least), item: move |i| (a(i), b(i)) }
    }

    pub fn for_each(self, f: impl Fn(T) + Sync) {
        let cut = self.cut();
        cut.run(&|p| cut.piece(p).for_each(|i| f((self.item)(i))));
    }

    /// What `of_piece` makes of the items of each piece, in the order of the pieces.
    fn of_pieces<R: Send>(self, of_piece: impl Fn(&mut dyn Iterator<Item = T>) -> R + Sync) -> Vec<R> {
        let cut = self.cut();
        let of = |p: usize| of_piece(&mut cut.piece(p).map(|i| (self.item)(i)));
        collect(Cut { n: cut.pieces(), length: 1 }, &of)
    }

    pub fn collect(self) -> Vec<T>
    where
        T: Send,
    {
        collect(self.cut(), &self.item)
    }

    /// The items that `keep` wants, in their order.
    pub fn filter_collect(self, keep: impl Fn(&T) -> bool + Sync) -> Vec<T>
    where
        T: Send,
    {
        self.of_pieces(|items| items.filter(&keep).collect::<Vec<T>>()).concat_all()
    }

    /// The items of all the iterators, in their order.
    pub fn flat_map_collect<I: IntoIterator<Item: Send>>(self, f: impl Fn(T) -> I + Sync) -> Vec<I::Item> {
        self.of_pieces(|items| items.flat_map(&f).collect::<Vec<_>>()).concat_all()
    }

    /// `with` of all, which must not depend on the order in which it is applied; `identity()` for none.
    pub fn reduce(self, identity: impl Fn() -> T + Sync, with: impl Fn(T, T) -> T + Sync) -> T
    where
        T: Send,
    {
        self.of_pieces(|items| items.fold(identity(), &with)).into_iter().fold(identity(), &with)
    }

    /// The sum of whole numbers.
    pub fn sum<S: Send + std::iter::Sum<T> + std::iter::Sum<S>>(self) -> S {
        self.of_pieces(|items| items.sum::<S>()).into_iter().sum()
    }

    /// The first that `f` finds something in, and what that is.
    pub fn find_map_first<R: Send>(self, f: impl Fn(T) -> Option<R> + Sync) -> Option<R> {
        let cut = self.cut();
        let piece_of_first = AtomicUsize::new(usize::MAX);
        let found = Mutex::new(None);
        cut.run(&|p| {
            // Pieces behind one in which something was found need not be searched.
            if p > piece_of_first.load(Ordering::Relaxed) {
                return;
            }
            if let Some(result) = cut.piece(p).find_map(|i| f((self.item)(i))) {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                if p < piece_of_first.fetch_min(p, Ordering::Relaxed) {
                    *found = Some(result);
                }
            }
        });
        found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all items are so.
    pub fn all(self, is: impl Fn(T) -> bool + Sync) -> bool {
        self.position_first(|item| !is(item)).is_none()
    }

    /// The index of the first item that is so.
    pub fn position_first(self, is: impl Fn(T) -> bool + Sync) -> Option<usize> {
        self.enumerate().find_map_first(|(i, item)| is(item).then_some(i))
    }
}

impl<A: Send, B: Send, F: Fn(usize) -> (A, B) + Sync> Loop<F> {
    pub fn unzip(self) -> (Vec<A>, Vec<B>) {
        let cut = self.cut();
        let (mut first, mut second) = (Vec::<A>::with_capacity(cut.n), Vec::<B>::with_capacity(cut.n));
        let (firsts, seconds) = (Places(first.as_mut_ptr()), Places(second.as_mut_ptr()));
        cut.run(&|p| {
            for i in cut.piece(p) {
                let (a, b) = (self.item)(i);
                // SAFETY: there is room for n elements, and each is written once.
                unsafe {
                    firsts.at(i).write(a);
                    seconds.at(i).write(b);
                }
            }
        });
        // SAFETY: all of them were.
        unsafe {
            first.set_len(cut.n);
            second.set_len(cut.n);
        }
        (first, second)
    }
}

fn collect<T: Send>(cut: Cut, item: &(impl Fn(usize) -> T + Sync)) -> Vec<T> {
    let mut all = in_large_pages(Vec::<T>::with_capacity(cut.n));
    let places = Places(all.as_mut_ptr());
    cut.run(&|p| {
        for i in cut.piece(p) {
            // SAFETY: there is room for n elements, and each is written once.
            unsafe { places.at(i).write(item(i)) };
        }
    });
    // SAFETY: all of them were. After a panic, which comes through `run`, they are forgotten.
    unsafe { all.set_len(cut.n) };
    all
}

/// Parts put together.
trait Parts<T> {
    fn concat_all(self) -> Vec<T>;
}

impl<T> Parts<T> for Vec<Vec<T>> {
    fn concat_all(self) -> Vec<T> {
        let mut all = Vec::with_capacity(self.iter().map(Vec::len).sum());
        self.into_iter().for_each(|part| all.extend(part));
        all
    }
}

/// Loops over the elements and the chunks of a slice.
pub(crate) trait ParallelSlice<E> {
    fn par_iter<'a>(&'a self) -> Loop<impl Fn(usize) -> &'a E + Sync>
    where
        E: Sync + 'a;
    fn par_chunks<'a>(&'a self, size: usize) -> Loop<impl Fn(usize) -> &'a [E] + Sync>
    where
        E: Sync + 'a;
    fn par_iter_mut<'a>(&'a mut self) -> Loop<impl Fn(usize) -> &'a mut E + Sync>
    where
        E: Send + 'a;
    fn par_chunks_mut<'a>(&'a mut self, size: usize) -> Loop<impl Fn(usize) -> &'a mut [E] + Sync>
    where
        E: Send + 'a;
}

impl<E> ParallelSlice<E> for [E] {
    fn par_iter<'a>(&'a self) -> Loop<impl Fn(usize) -> &'a E + Sync>
    where
        E: Sync + 'a,
    {
        Loop::new(self.len(), move |i| &self[i])
    }
    fn par_chunks<'a>(&'a self, size: usize) -> Loop<impl Fn(usize) -> &'a [E] + Sync>
    where
        E: Sync + 'a,
    {
        let cut = Cut { n: self.len(), length: size };
        Loop::new(cut.pieces(), move |c| &self[cut.piece(c)])
    }
    fn par_iter_mut<'a>(&'a mut self) -> Loop<impl Fn(usize) -> &'a mut E + Sync>
    where
        E: Send + 'a,
    {
        let (n, places) = (self.len(), Places(self.as_mut_ptr()));
        // SAFETY: a loop asks for each index below n once, so no element is lent twice.
        Loop::new(n, move |i| unsafe { &mut *places.at(i) })
    }
    fn par_chunks_mut<'a>(&'a mut self, size: usize) -> Loop<impl Fn(usize) -> &'a mut [E] + Sync>
    where
        E: Send + 'a,
    {
        let (cut, places) = (Cut { n: self.len(), length: size }, Places(self.as_mut_ptr()));
        Loop::new(cut.pieces(), move |c| {
            let rows = cut.piece(c);
            // SAFETY: a loop asks for each chunk once, and chunks share no element.
            unsafe { std::slice::from_raw_parts_mut(places.at(rows.start), rows.len()) }
        })
    }
}

/// Loops over what is handed over.
pub(crate) trait IntoLoop {
    type Item;
    fn into_par_iter(self) -> Loop<impl Fn(usize) -> Self::Item + Sync>;
}

impl IntoLoop for Range<usize> {
    type Item = usize;
    fn into_par_iter(self) -> Loop<impl Fn(usize) -> usize + Sync> {
        Loop::new(self.len(), move |i| self.start + i)
    }
}

impl IntoLoop for Range<u32> {
    type Item = u32;
    fn into_par_iter(self) -> Loop<impl Fn(usize) -> u32 + Sync> {
        Loop::new(self.len(), move |i| self.start + i as u32)
    }
}

/// Each element is moved out once; those of a loop that is not run, or ends in a panic, are forgotten.
impl<E: Send> IntoLoop for Vec<E> {
    type Item = E;
    fn into_par_iter(mut self) -> Loop<impl Fn(usize) -> E + Sync> {
        let (n, places) = (self.len(), Places(self.as_mut_ptr()));
        // SAFETY: less than there is; the elements now belong to the loop.
        unsafe { self.set_len(0) };
        let elements = Mutex::new(self);
        Loop::new(n, move |i| {
            // The memory lives as long as the loop.
            let _memory = &elements;
            // SAFETY: a loop asks for each index below n once, so no element is moved out twice.
            unsafe { places.at(i).read() }
        })
    }
}

/// Runs `work` on this thread, and `help` on others of its pool, `most` of them at most. They may come late,
/// or not before `work` has ended, which must not wait for them.
pub(crate) fn with_helpers<R>(most: usize, help: &(dyn Fn() + Sync), work: impl FnOnce() -> R) -> R {
    rayon::in_place_scope(|scope| {
        for _ in 0..most.min(rayon::current_num_threads() - 1) {
            scope.spawn(|_| help());
        }
        work()
    })
}

/// Lets this thread of a pool do something else that is to be done, or another thread go on.
pub(crate) fn give_way() {
    if rayon::yield_now() != Some(rayon::Yield::Executed) {
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_lie_in_the_order_of_indices() {
        for (threads, n) in [(1, 0), (1, 10), (3, 1), (3, 10_007), (7, 257_usize)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let numbers: Vec<usize> = (0..n).into_par_iter().collect();
                assert_eq!(numbers, (0..n).collect::<Vec<_>>());
                let (double, half) = numbers.par_iter().map(|&i| (2 * i, i / 2)).unzip();
                assert_eq!(double, (0..n).map(|i| 2 * i).collect::<Vec<_>>());
                assert_eq!(half, (0..n).map(|i| i / 2).collect::<Vec<_>>());
                let odd = (0..n as u32).into_par_iter().with_min_len(5).filter_collect(|i| i % 2 == 1);
                assert_eq!(odd, (0..n as u32).filter(|i| i % 2 == 1).collect::<Vec<_>>());
                let twice = (0..n).into_par_iter().flat_map_collect(|i| [i; 2]);
                assert_eq!(twice, (0..n).flat_map(|i| [i; 2]).collect::<Vec<_>>());
                let sum: usize = numbers.par_iter().map(|&i| i).sum();
                assert_eq!(sum, (0..n).sum::<usize>());
                assert_eq!(numbers.par_iter().map(|&i| i).reduce(|| 0, usize::max), n.saturating_sub(1));
            });
        }
    }

    #[test]
    fn every_element_is_visited_once() {
        let mut counts = vec![0; 1_003];
        let visit = |(chunk, (counts, names)): (usize, (&mut [i32], &[usize]))| {
            for (k, (count, &name)) in counts.iter_mut().zip(names).enumerate() {
                assert_eq!(name, 10 * chunk + k);
                *count += 1;
            }
        };
        let names: Vec<usize> = (0..counts.len()).collect();
        counts.par_chunks_mut(10).zip(names.par_chunks(10)).enumerate().for_each(visit);
        counts.par_iter_mut().with_min_len(16).for_each(|count| *count += 1);
        assert!(counts.iter().all(|&count| count == 2));
        let boxes: Vec<Box<usize>> = names.into_iter().map(Box::new).collect();
        let back = boxes.into_par_iter().map(|name| *name + 1).collect();
        assert_eq!(back, (1..=1_003).collect::<Vec<usize>>());
    }

    #[test]
    fn the_first_is_found() {
        let values = |at: &[usize]| (0..5_000).map(|i| at.contains(&i)).collect::<Vec<_>>();
        for (at, first) in [(vec![], None), (vec![4_999], Some(4_999)), (vec![4_000, 17, 2_500], Some(17))] {
            let values = values(&at);
            assert_eq!(values.par_iter().position_first(|&is| is), first);
            let found = values.par_iter().enumerate().find_map_first(|(i, &is)| is.then(|| format!("{i}")));
            assert_eq!(found, first.map(|i| i.to_string()));
        }
    }
}
