//! The loops of a kernel, as far as the places show that its threads come to.
//!
//! Threads of the simulator run one after the other. Which accesses of theirs a warp would make together is
//! found out afterwards: those at one place, in the same rounds of the loops around it. A loop is seen where
//! a thread goes back in the source, to an earlier line or to a place of the same line where it has been: all
//! lines between are within it.
//!
//! A loop in which nothing is accessed before or behind an inner loop cannot be told from the inner one, and
//! a first access that some rounds leave out looks as if the rest were an inner loop.

use std::collections::BTreeSet;

/// A place that a thread came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Visit {
    /// The number of its line, in the order of the source.
    pub line: u32,
    /// The number of the place itself, in any order: a line is not carried out from left to right.
    pub place: u32,
}

/// Loops as ranges of lines. Any two are nested or apart; outer ones come first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Loops(Vec<Span>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    first: u32,
    last: u32,
}

impl Span {
    fn contains(self, line: u32) -> bool {
        (self.first..=self.last).contains(&line)
    }

    fn overlaps(self, other: Span) -> bool {
        self.first < other.first && other.first <= self.last && self.last < other.last
    }
}

/// Calls `back` where a thread goes back: to an earlier line, or on a line to a place where it has been since
/// it came to the line. The second argument says with which of the visits.
fn walk(visits: &[Visit], mut back: impl FnMut(Span, usize)) {
    let mut on_line: Vec<u32> = Vec::new();
    for (i, &Visit { line, place }) in visits.iter().enumerate() {
        let before = if i == 0 { line } else { visits[i - 1].line };
        let repeats = line == before && on_line.contains(&place);
        if line < before || repeats {
            back(Span { first: line, last: before }, i);
        }
        if line != before || repeats {
            on_line.clear();
        }
        on_line.push(place);
    }
}

impl Loops {
    /// Those that the threads of a warp show.
    pub fn of<'a>(threads: impl Iterator<Item = &'a [Visit]>) -> Self {
        let mut seen = BTreeSet::new();
        for visits in threads {
            walk(visits, |span, _| {
                seen.insert(span);
            });
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

    /// For each visit of a thread the rounds of the loops around it as one number: the same for two threads
    /// if they were in the same rounds.
    pub fn rounds(&self, visits: &[Visit]) -> Vec<u64> {
        let (mut counts, mut rounds) = (vec![0_u64; self.0.len()], Vec::with_capacity(visits.len()));
        let go_on = |rounds: &mut Vec<u64>, counts: &[u64], to: usize| {
            rounds.extend(visits[rounds.len()..to].iter().map(|visit| self.key(counts, visit.line)));
        };
        walk(visits, |span, i| {
            go_on(&mut rounds, &counts, i);
            self.next_round(&mut counts, span.first, span.last);
        });
        go_on(&mut rounds, &counts, visits.len());
        rounds
    }

    /// The rounds of the loops around a line. Counts are far smaller than the factor, so that different ones
    /// give different numbers.
    fn key(&self, counts: &[u64], line: u32) -> u64 {
        let around = self.0.iter().zip(counts).filter(|(span, _)| span.contains(line));
        around.fold(0, |all, (_, count)| all.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(count + 1))
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

    /// Each on a line of its own.
    fn visits(lines: &[u32]) -> Vec<Visit> {
        lines.iter().map(|&line| Visit { line, place: line }).collect()
    }

    fn loops(threads: &[&[Visit]]) -> Loops {
        Loops::of(threads.iter().copied())
    }

    /// For each visit of `of` the one of `with` in the same rounds, by its position.
    fn partners_of(of: &[Visit], with: &[Visit]) -> Vec<Option<usize>> {
        let loops = loops(&[of, with]);
        let keys = |visits: &[Visit]| -> Vec<(u32, u64)> {
            visits.iter().map(|visit| visit.place).zip(loops.rounds(visits)).collect()
        };
        let others = keys(with);
        keys(of).iter().map(|key| others.iter().position(|other| other == key)).collect()
    }

    fn partners(of: &[u32], with: &[u32]) -> Vec<Option<usize>> {
        partners_of(&visits(of), &visits(with))
    }

    #[test]
    fn a_line_is_not_carried_out_from_left_to_right() {
        // y.st(i, if c { x.ld(i) } else { 0.0 }), twice with the load and twice without; the store is first.
        let visit = |place| Visit { line: 4, place };
        let with = [visit(1), visit(0), visit(1), visit(0)];
        assert_eq!(loops(&[&with[..2]]), Loops(vec![]));
        assert_eq!(partners_of(&[visit(0)], &with[..2]), [Some(1)]);
        assert_eq!(partners_of(&[visit(0), visit(0)], &with), [Some(1), Some(3)]);
    }

    #[test]
    fn straight_code_has_no_loops() {
        assert_eq!(loops(&[&visits(&[0, 1, 4]), &visits(&[1, 2])]), Loops(vec![]));
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
        let visits = visits(&[0, 1, 2, 0, 1, 0, 1, 2, 1, 2]);
        assert_eq!(loops(&[&visits]).0, [Span { first: 0, last: 2 }]);
    }

    #[test]
    fn no_thread_comes_to_a_place_twice_in_a_round() {
        let places = (0..2000_u32).map(|i| i.wrapping_mul(2_654_435_769) >> 29);
        let visits: Vec<Visit> = places.map(|place| Visit { line: place / 2, place }).collect();
        let rounds = loops(&[&visits]).rounds(&visits);
        let keys: BTreeSet<(u32, u64)> = visits.iter().map(|visit| visit.place).zip(rounds).collect();
        assert_eq!(keys.len(), visits.len());
    }
}
