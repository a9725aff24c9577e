//! The loops of a kernel, as far as the places show that its threads come to.
//!
//! Threads of the simulator run one after the other. Which accesses of theirs a warp would make together is
//! found out afterwards: those at one place, in the same rounds of the loops around it. A loop is seen where
//! a thread goes back in the source, from one place to an earlier one: all between the two is within it.
//!
//! A loop in which nothing is accessed before or behind an inner loop cannot be told from the inner one, and
//! a first access that some rounds leave out looks as if the rest were an inner loop.

use std::collections::BTreeSet;

/// Loops as ranges of places, which are numbered as they stand in the source. Any two are nested or apart;
/// outer ones come first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Loops(Vec<Span>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    first: u32,
    last: u32,
}

impl Span {
    fn contains(self, place: u32) -> bool {
        (self.first..=self.last).contains(&place)
    }

    fn overlaps(self, other: Span) -> bool {
        self.first < other.first && other.first <= self.last && self.last < other.last
    }
}

impl Loops {
    /// Those that the threads of a warp show.
    pub fn of<'a>(threads: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut seen = BTreeSet::new();
        for places in threads {
            let back = |pair: &&[u32]| pair[1] <= pair[0];
            seen.extend(places.windows(2).filter(back).map(|pair| Span { first: pair[1], last: pair[0] }));
        }
        let mut spans: Vec<Span> = seen.into_iter().collect();
        while let Some((i, j)) = overlapping(&spans) {
            spans[i].last = spans[j].last;
            spans.remove(j);
        }
        spans.sort_by_key(|span| (span.first, u32::MAX - span.last));
        spans.dedup();
        Self(spans)
    }

    /// For each place that a thread came to, the rounds of the loops around it as one number: the same for
    /// two threads if they were in the same rounds.
    pub fn rounds(&self, places: &[u32]) -> Vec<u64> {
        let mut counts = vec![0_u64; self.0.len()];
        let mut before = None;
        let mut round = |&place: &u32| {
            if let Some(before) = before.replace(place).filter(|before| place <= *before) {
                self.next_round(&mut counts, place, before);
            }
            let around = self.0.iter().zip(&counts).filter(|(span, _)| span.contains(place));
            // Counts are far smaller than the factor, so that different ones give different numbers.
            around.fold(0_u64, |all, (_, count)| {
                all.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(count + 1)
            })
        };
        places.iter().map(&mut round).collect()
    }

    /// Counts a round of the innermost loop around two places; those within begin anew.
    fn next_round(&self, counts: &mut [u64], first: u32, last: u32) {
        let around = |span: &Span| span.contains(first) && span.contains(last);
        let Some(innermost) = self.0.iter().rposition(around) else { return };
        let whole = self.0[innermost];
        counts[innermost] += 1;
        for (span, count) in self.0.iter().zip(counts).skip(innermost + 1) {
            if whole.contains(span.first) {
                *count = 0;
            }
        }
    }
}

/// Two spans that are neither nested nor apart.
fn overlapping(spans: &[Span]) -> Option<(usize, usize)> {
    let pairs = spans
        .iter()
        .enumerate()
        .flat_map(|(i, a)| spans.iter().enumerate().map(move |(j, b)| ((i, a), (j, b))));
    pairs.into_iter().find(|((_, a), (_, b))| a.overlaps(**b)).map(|((i, _), (j, _))| (i, j))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each place of `of` the one of `with` in the same rounds, by its position.
    fn partners(of: &[u32], with: &[u32]) -> Vec<Option<usize>> {
        let loops = Loops::of([of, with].into_iter());
        let keys = |places: &[u32]| -> Vec<(u32, u64)> {
            places.iter().copied().zip(loops.rounds(places)).collect()
        };
        let others = keys(with);
        keys(of).iter().map(|key| others.iter().position(|other| other == key)).collect()
    }

    #[test]
    fn straight_code_has_no_loops() {
        assert_eq!(Loops::of([&[0, 1, 4][..], &[1, 2]].into_iter()), Loops(vec![]));
        assert_eq!(partners(&[0, 1, 4], &[1, 4]), [None, Some(0), Some(1)]);
    }

    #[test]
    fn rounds_of_a_loop_go_together() {
        assert_eq!(
            partners(&[3, 5, 3, 5, 3, 5], &[3, 5, 3, 5]),
            [Some(0), Some(1), Some(2), Some(3), None, None]
        );
    }

    #[test]
    fn an_inner_loop_begins_anew_with_each_outer_round() {
        // Rows of 3 and 1, and rows of 1 and 2 entries.
        let (a, b) = ([0, 1, 1, 1, 2, 0, 1, 2], [0, 1, 2, 0, 1, 1, 2]);
        let expected = [Some(0), Some(1), None, None, Some(2), Some(3), Some(4), Some(6)];
        assert_eq!(partners(&a, &b), expected);
    }

    #[test]
    fn parts_of_one_loop_are_one() {
        // A round without its last place, and one without its first.
        assert_eq!(
            Loops::of([&[0, 1, 2, 0, 1, 0, 1, 2, 1, 2][..]].into_iter()).0[0],
            Span { first: 0, last: 2 }
        );
    }

    #[test]
    fn no_thread_comes_to_a_place_twice_in_a_round() {
        let places: Vec<u32> = (0..2000_u32).map(|i| i.wrapping_mul(2_654_435_769) >> 29).collect();
        let rounds = Loops::of([&places[..]].into_iter()).rounds(&places);
        let keys: BTreeSet<(u32, u64)> = places.iter().copied().zip(rounds).collect();
        assert_eq!(keys.len(), places.len());
    }
}
