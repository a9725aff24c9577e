//! Long lists of numbers, most of which are one more than the last.

use std::ops::Range;

use crate::parallel::*;

/// What a list has where there is no number.
pub use gpu_kernels::setup::parts::NOWHERE;

/// Numbers that a thread writes.
const LEAST_WRITTEN: usize = 4 * MANY;

/// A number for each index below a length, in runs: within one numbers grow by 1, or there are none,
/// [`NOWHERE`].
///
/// The unknowns of a rank, and the places that they have elsewhere, are few runs. So a list of millions takes
/// no memory and no time on the host, and goes to a device as what it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs {
    /// The first index of each run, ascending, and its number.
    runs: Vec<[u32; 2]>,
    len: usize,
}

/// Where a number is among some that ascend, found at once.
pub(crate) enum Lookup {
    /// Of numbers that follow each other.
    Range(Range<u32>),
    /// For each number where it is, or [`NOWHERE`].
    Table(Vec<u32>),
}

impl Lookup {
    /// Where it is, or [`NOWHERE`].
    #[inline]
    pub fn place(&self, number: u32) -> u32 {
        match self {
            Lookup::Range(range) if range.contains(&number) => number - range.start,
            Lookup::Range(_) => NOWHERE,
            Lookup::Table(places) => places[number as usize],
        }
    }

    /// Whether all of these are there, which ascend.
    pub fn has_all(&self, numbers: &[u32]) -> bool {
        match self {
            Lookup::Range(range) => {
                [numbers.first(), numbers.last()].into_iter().flatten().all(|n| range.contains(n))
            }
            Lookup::Table(_) => numbers.iter().all(|&number| self.place(number) != NOWHERE),
        }
    }
}

/// What comes `by` indices behind a number.
fn behind(number: u32, by: u32) -> u32 {
    if number == NOWHERE { NOWHERE } else { number + by }
}

/// Numbers that follow each other from an index on: the index, the first number, and how many there are.
pub(crate) type Placed = (u32, u32, usize);

impl FromIterator<u32> for Runs {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let (mut all, mut next) = (Runs::default(), None);
        for number in numbers {
            if next != Some(number) {
                all.runs.push([all.len as u32, number]);
            }
            next = Some(behind(number, 1));
            all.len += 1;
        }
        all
    }
}

/// Of runs: the first number of each, and how many it has.
impl FromIterator<(u32, usize)> for Runs {
    fn from_iter<I: IntoIterator<Item = (u32, usize)>>(runs: I) -> Self {
        let mut all = Runs::default();
        runs.into_iter().for_each(|(first, count)| all.push(first, count));
        all
    }
}

impl From<Range<usize>> for Runs {
    fn from(range: Range<usize>) -> Self {
        let mut all = Runs::default();
        all.push(range.start as u32, range.len());
        all
    }
}

impl Runs {
    /// Goes on with so many numbers from `first` on.
    pub(crate) fn push(&mut self, first: u32, count: usize) {
        if count == 0 {
            return;
        }
        let end = self.len as u32;
        let goes_on = self.runs.last().is_some_and(|&[start, number]| behind(number, end - start) == first);
        if !goes_on {
            self.runs.push([end, first]);
        }
        self.len += count;
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The first index of each run, ascending, and its number.
    pub(crate) fn runs(&self) -> &[[u32; 2]] {
        &self.runs
    }

    /// The first number of each run, and how many it has.
    pub(crate) fn iter_runs(&self) -> impl Iterator<Item = (u32, usize)> {
        self.part(0..self.len)
    }

    /// The same as ranks send it.
    pub(crate) fn sent(&self) -> Vec<[u32; 2]> {
        self.iter_runs().map(|(first, count)| [first, count as u32]).collect()
    }

    /// What a rank has sent.
    pub(crate) fn received(runs: Vec<[u32; 2]>) -> Runs {
        runs.into_iter().map(|[first, count]| (first, count as usize)).collect()
    }

    /// Those of a range of indices, in runs.
    pub(crate) fn part(&self, indices: Range<usize>) -> impl Iterator<Item = (u32, usize)> {
        let first = self.runs.partition_point(|&[start, _]| start as usize <= indices.start).max(1) - 1;
        self.part_from(first, indices)
    }

    /// The same where it is known in which run they begin.
    fn part_from(&self, first: usize, indices: Range<usize>) -> impl Iterator<Item = (u32, usize)> {
        let ends = self.runs.iter().skip(first + 1).map(|&[start, _]| start as usize).chain([self.len]);
        let runs = self.runs[first.min(self.runs.len())..].iter().zip(ends);
        let runs = runs.take_while(move |&(&[start, _], _)| (start as usize) < indices.end);
        runs.map(move |(&[start, number], end)| {
            let from = indices.start.max(start as usize);
            (behind(number, from as u32 - start), indices.end.min(end).saturating_sub(from))
        })
        .filter(|&(_, count)| count > 0)
    }

    /// The numbers.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.iter_runs().flat_map(|(first, count)| (0..count as u32).map(move |k| behind(first, k)))
    }

    /// The number of an index, which is below the length.
    pub fn get(&self, index: usize) -> u32 {
        let run = self.runs.partition_point(|&[start, _]| start as usize <= index);
        let [start, number] = self.runs[run - 1];
        behind(number, index as u32 - start)
    }

    /// Where a number is, of numbers that ascend.
    pub fn position(&self, number: u32) -> Option<usize> {
        let run = self.runs.partition_point(|&[_, first]| first <= number).checked_sub(1)?;
        let [start, first] = self.runs[run];
        let end = self.runs.get(run + 1).map_or(self.len, |&[start, _]| start as usize);
        Some((start + number - first) as usize).filter(|&index| index < end)
    }

    /// All of them, one by one.
    pub fn expanded(&self) -> Vec<u32> {
        let mut all = vec![0; self.len];
        all.par_chunks_mut(LEAST_WRITTEN).enumerate().for_each(|(chunk, all)| {
            let first = chunk * LEAST_WRITTEN;
            let mut rest = all;
            for (number, count) in self.part(first..first + rest.len()) {
                let numbers;
                (numbers, rest) = rest.split_at_mut(count);
                numbers.iter_mut().zip(0..).for_each(|(place, k)| *place = behind(number, k));
            }
        });
        all
    }

    /// Where each number below `n` is among these, which ascend.
    pub(crate) fn inverse(&self, n: usize) -> Runs {
        let mut all = Runs::default();
        let mut index = 0;
        for (first, count) in self.iter_runs() {
            all.push(NOWHERE, first as usize - all.len);
            all.push(index, count);
            index += count as u32;
        }
        all.push(NOWHERE, n - all.len);
        all
    }

    /// What is behind the largest of them, none of which is [`NOWHERE`].
    pub(crate) fn end(&self) -> usize {
        self.iter_runs().map(|(first, count)| first as usize + count).max().unwrap_or(0)
    }

    /// Whether they ascend, but for [`NOWHERE`].
    pub(crate) fn ascend(&self) -> bool {
        let there = || self.runs.iter().map(|&[_, number]| number).filter(|&number| number != NOWHERE);
        there().is_sorted()
    }

    /// The numbers below `n` that are not among these, which ascend.
    pub(crate) fn complement(&self, n: usize) -> Runs {
        let (mut all, mut next) = (Runs::default(), 0);
        for (first, count) in self.iter_runs().chain([(n as u32, 0)]) {
            all.push(next, (first - next) as usize);
            next = first + count as u32;
        }
        all
    }

    /// The numbers, where each is one more than the last.
    pub(crate) fn as_range(&self) -> Option<Range<u32>> {
        match self.runs[..] {
            [] => Some(0..0),
            [[_, first]] => Some(first..first + self.len as u32),
            _ => None,
        }
    }

    /// Where each number below `n` is among these, which ascend, to look up many of them.
    pub(crate) fn lookup(&self, n: usize) -> Lookup {
        self.as_range().map_or_else(|| Lookup::Table(self.inverse(n).expanded()), Lookup::Range)
    }

    /// What `next` has at each of these numbers.
    pub(crate) fn then(&self, next: &Runs) -> Runs {
        let mut all = Runs::default();
        for (first, count) in self.iter_runs() {
            match first {
                NOWHERE => all.push(NOWHERE, count),
                _ => all.extend(next.part(first as usize..first as usize + count)),
            }
        }
        all
    }

    /// Goes on with these runs.
    fn extend(&mut self, runs: impl Iterator<Item = (u32, usize)>) {
        runs.for_each(|(first, count)| self.push(first, count));
    }

    /// These with other numbers from some indices on, which ascend: (index, first number, how many).
    pub(crate) fn replaced(&self, at: impl IntoIterator<Item = Placed>) -> Runs {
        let (mut all, mut run) = (Runs::default(), 0);
        // The runs are gone through once: there may be as many as there are numbers.
        let mut rest = |all: &mut Runs, end: usize| {
            while self.runs.get(run + 1).is_some_and(|&[start, _]| start as usize <= all.len) {
                run += 1;
            }
            all.extend(self.part_from(run, all.len..end));
        };
        for (index, number, count) in at {
            rest(&mut all, index as usize);
            all.push(number, count);
        }
        rest(&mut all, self.len);
        all
    }

    /// These with numbers from `first` on where there is none; and the indices of those.
    pub(crate) fn filled(&self, mut first: u32) -> (Runs, Runs) {
        let (mut all, mut empty) = (Runs::default(), Runs::default());
        for (number, count) in self.iter_runs() {
            if number == NOWHERE {
                empty.push(all.len as u32, count);
                all.push(first, count);
                first += count as u32;
            } else {
                all.push(number, count);
            }
        }
        (all, empty)
    }

    /// These numbers ascending, of which none is there twice, each with its index counted from `first` on.
    pub(crate) fn placed_from(&self, first: usize) -> Vec<Placed> {
        let mut index = first as u32;
        let mut placed = Vec::with_capacity(self.runs.len());
        for (number, count) in self.iter_runs() {
            placed.push((number, index, count));
            index += count as u32;
        }
        placed.sort_unstable();
        placed
    }

    /// Which of these numbers come one after the other if they ascend.
    pub(crate) fn order(&self) -> Runs {
        self.placed_from(0).into_iter().map(|(_, index, count)| (index, count)).collect()
    }

    /// Where these are in `all`, which ascend and have them.
    pub(crate) fn places_in(&self, all: &Runs) -> Runs {
        let place = |first: u32| all.position(first).unwrap_or(0) as u32;
        self.iter_runs().map(|(first, count)| (place(first), count)).collect()
    }

    /// The numbers of lists that ascend, ascending, each once.
    pub(crate) fn union<'a>(lists: impl Iterator<Item = &'a Runs>) -> Runs {
        let mut runs: Vec<(u32, usize)> = lists.flat_map(Runs::iter_runs).collect();
        runs.sort_unstable();
        let mut end = 0;
        let rest = |(first, count): (u32, usize)| {
            let behind = first + count as u32;
            let from = first.max(end);
            end = end.max(behind);
            (from, behind.saturating_sub(from) as usize)
        };
        runs.into_iter().map(rest).collect()
    }

    /// The elements at these places, one after the other.
    pub(crate) fn elements<U: Copy>(&self, all: &[U]) -> Vec<U> {
        let mut elements = Vec::with_capacity(self.len);
        let run = |(first, count): (u32, usize)| &all[first as usize..][..count];
        self.iter_runs().map(run).for_each(|run| elements.extend_from_slice(run));
        elements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists() -> Vec<Vec<u32>> {
        let long = (0..3 * LEAST_WRITTEN as u32).map(|i| i + i / 1000).collect();
        vec![vec![], vec![7], vec![0, 1, 2], vec![3, 4, 9, 11, 12], vec![0, 2, 4], long]
    }

    #[test]
    fn numbers_and_where_they_are() {
        for list in lists() {
            let runs: Runs = list.iter().copied().collect();
            assert!(runs.iter().eq(list.iter().copied()));
            assert_eq!((runs.len(), runs.expanded()), (list.len(), list.clone()));
            let n = list.last().map_or(0, |&last| last + 3);
            let places: Vec<Option<usize>> = (0..n).map(|i| list.binary_search(&i).ok()).collect();
            for (i, &place) in places.iter().enumerate().take(2000) {
                assert_eq!(runs.position(i as u32), place);
            }
            list.iter().enumerate().for_each(|(k, &number)| assert_eq!(runs.get(k), number));
            let inverse = runs.inverse(n as usize);
            let expected = places.iter().map(|place| place.map_or(NOWHERE, |k| k as u32));
            assert!(inverse.iter().eq(expected));
            let lookup = runs.lookup(n as usize);
            assert!((0..n).map(|number| lookup.place(number)).eq(inverse.iter()));
            assert!(lookup.has_all(&list));
            if let Some(&last) = list.last() {
                assert!(!lookup.has_all(&[&list[..], &[last + 1]].concat()));
            }
            assert!(runs.then(&inverse).iter().eq(0..list.len() as u32));
            assert_eq!(runs.then(&inverse), Runs::from(0..list.len()));
        }
    }

    #[test]
    fn some_are_replaced() {
        let runs: Runs = [3, 4, 5, NOWHERE, NOWHERE, 8, 9].into_iter().collect();
        assert_eq!(runs.runs().len(), 3);
        let replaced = runs.replaced([(0, 2, 2), (4, 1, 1), (6, NOWHERE, 1)]);
        assert!(replaced.iter().eq([2, 3, 5, NOWHERE, 1, 8, NOWHERE]));
        let (filled, empty) = replaced.filled(20);
        assert!(filled.iter().eq([2, 3, 5, 20, 1, 8, 21]) && empty.iter().eq([3, 6]));
        assert_eq!(runs.replaced([]), runs);
        let places: Runs = [5, NOWHERE, 0, 1].into_iter().collect();
        assert!(places.then(&runs).iter().eq([8, NOWHERE, 3, 4]));
    }

    #[test]
    fn numbers_are_put_in_order() {
        let runs: Runs = [7, 8, 2, 0, 1].into_iter().collect();
        assert_eq!(runs.placed_from(10), [(0, 13, 2), (2, 12, 1), (7, 10, 2)]);
        assert!(runs.order().iter().eq([3, 4, 2, 0, 1]));
        assert!(Runs::default().order().is_empty());
    }

    #[test]
    fn lists_that_ascend_are_one() {
        let of = |numbers: &[u32]| numbers.iter().copied().collect::<Runs>();
        let (a, b) = (of(&[1, 2, 3, 7, 9]), of(&[0, 2, 3, 4, 9, 10]));
        let all = Runs::union([&a, &b, &Runs::default()].into_iter());
        assert_eq!(all, of(&[0, 1, 2, 3, 4, 7, 9, 10]));
        assert!(a.places_in(&all).iter().eq([1, 2, 3, 5, 6]));
        assert_eq!(b.elements(&(100..120).collect::<Vec<u32>>()), [100, 102, 103, 104, 109, 110]);
    }
}
