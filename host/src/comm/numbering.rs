//! The unknowns that a rank has or looks at, by their numbers in the whole vector.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use rayon::slice::ParallelSliceMut;

use super::halo::Halo;
use super::runs::{NOWHERE, Runs};
use super::{Comm, Reader, Writer, all_to_all};
use crate::error::{Error, Result};

/// Unknowns of one rank, and some of others, in the order of their numbers. A matrix whose columns are such
/// unknowns has its entries in the order in which the whole matrix has them.
#[derive(Debug)]
pub struct Numbering {
    /// Unknowns of one rank each, with numbers that follow each other.
    runs: Vec<Run>,
    /// Places of this rank's own, and of those of others.
    own: Runs,
    others: Runs,
    len: usize,
    /// Unknowns of all ranks.
    total: usize,
    halo: OnceLock<Halo>,
    neighbours: OnceLock<Kept>,
}

/// What a backend makes of unknowns, and keeps with them.
struct Kept(Arc<dyn Any + Send + Sync>);

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("kept")
    }
}

/// A run of unknowns.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    /// Where it begins.
    place: u32,
    /// The number of its first unknown in the whole vector.
    number: u32,
    /// The rank that has them.
    owner: u32,
}

/// Unknowns with numbers that follow each other: the first number, how many there are, and the rank that has
/// them.
pub(crate) type Row = (u32, usize, u32);

impl Numbering {
    /// Of `rank`: unknowns in ascending order of their numbers, each with the rank that has it; `total` is
    /// their number over all ranks. A rank looks at no unknown without having all of its own.
    pub fn new(rank: usize, unknowns: impl IntoIterator<Item = (u32, u32)>, total: usize) -> Self {
        Self::of_rows(rank, unknowns.into_iter().map(|(number, owner)| (number, 1, owner)), total)
    }

    /// The same of runs.
    pub(crate) fn of_rows(rank: usize, rows: impl IntoIterator<Item = Row>, total: usize) -> Self {
        let (mut runs, mut len): (Vec<Run>, usize) = (Vec::new(), 0);
        let (mut own, mut others) = (Runs::default(), Runs::default());
        for (number, count, owner) in rows.into_iter().filter(|&(_, count, _)| count > 0) {
            let place = len as u32;
            debug_assert!(runs.last().is_none_or(|run| run.number + (place - run.place) <= number));
            let follows = |run: &Run| run.owner == owner && run.number + (place - run.place) == number;
            if !runs.last().is_some_and(follows) {
                runs.push(Run { place, number, owner });
            }
            let its = if owner as usize == rank { &mut own } else { &mut others };
            its.push(place, count);
            len += count;
        }
        let (halo, neighbours) = (OnceLock::new(), OnceLock::new());
        Numbering { runs, own, others, len, total, halo, neighbours }
    }

    /// Of `rank`, which has the unknowns `own`, and looks at those of others, which are in any order.
    pub(crate) fn of_own_and(rank: usize, own: &Runs, mut others: Vec<(u32, u32)>, total: usize) -> Self {
        // Most that are there twice follow each other.
        others.dedup();
        others.par_sort_unstable();
        others.dedup();
        let own = own.iter_runs().map(|(number, count)| (number, count, rank as u32));
        Self::of_rows(rank, own, total).united(rank, in_runs(&others)).0
    }

    /// The rank's own alone.
    pub(crate) fn of_own(&self, rank: usize) -> Self {
        let is_own = |&(_, _, owner): &Row| owner as usize == rank;
        Self::of_rows(rank, self.rows().filter(is_own), self.total)
    }

    /// Those of other ranks alone.
    pub(crate) fn of_others(&self, rank: usize) -> Self {
        let is_others = |&(_, _, owner): &Row| owner as usize != rank;
        Self::of_rows(rank, self.rows().filter(is_others), self.total)
    }

    /// These and `more`, which ascend; and where each of these is there.
    pub(crate) fn united(&self, rank: usize, more: impl IntoIterator<Item = Row>) -> (Self, Runs) {
        let (mut mine, mut more) = (self.rows(), more.into_iter());
        let (mut a, mut b) = (mine.next(), more.next());
        let (mut rows, mut places, mut len) = (Vec::new(), Runs::default(), 0);
        // Up to where the next run begins, of these or of the others.
        while let Some((next, is_mine)) = match (a, b) {
            (None, None) => None,
            (Some(a), Some(b)) if a.0 > b.0 => Some(((b.0, b.1.min((a.0 - b.0) as usize), b.2), false)),
            (Some(a), Some(b)) if a.0 < b.0 => Some(((a.0, a.1.min((b.0 - a.0) as usize), a.2), true)),
            (Some(a), Some(b)) => Some(((a.0, a.1.min(b.1), a.2), true)),
            (Some(a), None) => Some((a, true)),
            (None, Some(b)) => Some((b, false)),
        } {
            let (number, count, _) = next;
            if is_mine {
                places.push(len as u32, count);
            }
            len += count;
            rows.push(next);
            let end = number + count as u32;
            a = rest_behind(a, end).or_else(|| mine.next());
            b = rest_behind(b, end).or_else(|| more.next());
        }
        (Self::of_rows(rank, rows, self.total), places)
    }

    /// Those of nodes of `block` unknowns each, all of whose unknowns these are.
    pub(crate) fn of_nodes(&self, rank: usize, block: usize) -> Self {
        let nodes = self.rows().map(|(number, count, owner)| (number / block as u32, count / block, owner));
        Self::of_rows(rank, nodes, self.total / block)
    }

    /// The unknowns of these, which are nodes of `block` each.
    pub fn written_out(&self, rank: usize, block: usize) -> Self {
        let rows = self.rows().map(|(number, count, owner)| (number * block as u32, count * block, owner));
        Self::of_rows(rank, rows, self.total * block)
    }

    /// How many these are.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Unknowns of all ranks.
    pub fn total(&self) -> usize {
        self.total
    }
    /// These in runs, each with the place where it begins and the one behind it.
    fn ranges(&self) -> impl Iterator<Item = (Row, u32, u32)> {
        let ends = self.runs.iter().skip(1).map(|run| run.place).chain([self.len as u32]);
        let runs = self.runs.iter().zip(ends);
        runs.map(|(&Run { place, number, owner }, end)| ((number, (end - place) as usize, owner), place, end))
    }
    /// These in runs.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row> {
        self.ranges().map(|(row, ..)| row)
    }
    /// The number of each, ascending.
    pub fn numbers(&self) -> Runs {
        let mut numbers = Runs::default();
        self.rows().for_each(|(number, count, _)| numbers.push(number, count));
        numbers
    }
    fn run(&self, place: u32) -> Run {
        self.runs[self.runs.partition_point(|run| run.place <= place) - 1]
    }
    /// The number of the one at a place.
    pub(crate) fn number(&self, place: u32) -> u32 {
        let run = self.run(place);
        run.number + (place - run.place)
    }
    /// What is at these places, which ascend, in runs.
    pub(crate) fn rows_at(&self, places: &Runs) -> Vec<Row> {
        let (mut rows, mut ranges) = (Vec::new(), self.ranges().peekable());
        for (mut place, mut count) in places.iter_runs() {
            while count > 0 {
                while ranges.next_if(|&(_, _, end)| end <= place).is_some() {}
                let Some(&((number, _, owner), first, end)) = ranges.peek() else { return rows };
                let taken = count.min((end - place) as usize);
                rows.push((number + (place - first), taken, owner));
                place += taken as u32;
                count -= taken;
            }
        }
        rows
    }
    /// Places of this rank's own, ascending.
    pub fn own(&self) -> &Runs {
        &self.own
    }
    /// Places of others' unknowns, ascending.
    pub(crate) fn others(&self) -> &Runs {
        &self.others
    }
    /// Places of the unknowns of one rank, ascending.
    pub(crate) fn of_rank(&self, rank: usize) -> Runs {
        let mut places = Runs::default();
        let ranges = self.ranges().filter(|&((_, _, owner), ..)| owner as usize == rank);
        ranges.for_each(|((_, count, _), place, _)| places.push(place, count));
        places
    }
    /// The numbers of this rank's own.
    pub(crate) fn own_numbers(&self) -> Runs {
        self.own.then(&self.numbers())
    }
    /// Whether there are none but its own.
    pub(crate) fn is_own(&self) -> bool {
        self.others.is_empty()
    }
    /// Where the unknown of this number is.
    pub(crate) fn place(&self, number: u32) -> Option<usize> {
        let run = self.runs.partition_point(|run| run.number <= number).checked_sub(1)?;
        let end = self.runs.get(run + 1).map_or(self.len as u32, |run| run.place);
        let place = self.runs[run].place + (number - self.runs[run].number);
        (place < end).then_some(place as usize)
    }
    /// Where each of these is in `all`, which may lack some.
    pub(crate) fn places_in(&self, all: &Numbering) -> Runs {
        let mut places = Runs::default();
        let mut others = all.ranges().map(|((number, count, _), place, _)| (number, count, place));
        let mut other = others.next();
        for (mut number, mut count, _) in self.rows() {
            while count > 0 {
                while other.is_some_and(|(first, of_run, _)| first + of_run as u32 <= number) {
                    other = others.next();
                }
                let (taken, place) = match other {
                    Some((first, of_run, place)) if first <= number => {
                        (count.min((first + of_run as u32 - number) as usize), place + (number - first))
                    }
                    Some((first, ..)) => (count.min((first - number) as usize), NOWHERE),
                    None => (count, NOWHERE),
                };
                places.push(place, taken);
                number += taken as u32;
                count -= taken;
            }
        }
        places
    }

    /// What is exchanged. All ranks call this.
    pub(crate) fn halo(&self, comm: &dyn Comm) -> Result<&Halo> {
        if let Some(halo) = self.halo.get() {
            return Ok(halo);
        }
        let (mut places, mut numbers) =
            (vec![Runs::default(); comm.size()], vec![Runs::default(); comm.size()]);
        for ((number, count, owner), place, _) in self.ranges() {
            let owner = owner as usize;
            if owner != comm.rank() {
                places[owner].push(place, count);
                numbers[owner].push(number, count);
            }
        }
        let sends = self.asked_for(comm, &numbers)?;
        let receives = places.into_iter().enumerate().filter(|(_, places)| !places.is_empty()).collect();
        Ok(self.halo.get_or_init(|| Halo { sends, receives }))
    }

    /// How ranks tell each other about these, which `make` makes of what is exchanged the first time that
    /// somebody asks. All ranks call this, each with one type and on one device.
    pub(crate) fn neighbours<N: Any + Send + Sync>(
        &self,
        comm: &dyn Comm,
        make: impl FnOnce(&Halo) -> Result<N>,
    ) -> Result<Arc<N>> {
        let kept = match self.neighbours.get() {
            Some(kept) => kept,
            None => {
                let made = Kept(Arc::new(make(self.halo(comm)?)?));
                self.neighbours.get_or_init(|| made)
            }
        };
        let of_another_type =
            || Error::Option("neighbours of another backend: a mistake of this library".into());
        kept.0.clone().downcast().map_err(|_| of_another_type())
    }

    /// The owner of each run, with the place where it begins.
    pub(crate) fn owners(&self) -> Vec<[u32; 2]> {
        self.runs.iter().map(|run| [run.place, run.owner]).collect()
    }

    /// Overwrites the elements of others, of those at these places, with what their ranks have. All ranks
    /// call this.
    ///
    /// # Errors
    /// [`Error::Rank`](crate::Error::Rank) where a rank has failed.
    pub fn update(&self, comm: &dyn Comm, elements: &mut [f64]) -> Result<()> {
        self.halo(comm)?.update(comm, elements)
    }

    /// Asks each rank for unknowns of these numbers; ranks that ask for some of these, and their places. All
    /// ranks call this.
    pub(crate) fn asked_for(&self, comm: &dyn Comm, numbers: &[Runs]) -> Result<Vec<(usize, Runs)>> {
        let written = |numbers: &Runs| bytemuck::cast_slice(&numbers.sent()).to_vec();
        let messages = all_to_all(comm, numbers.iter().map(written).collect())?;
        // Where a run begins: what follows is behind that.
        let places = |&[first, count]: &[u32; 2]| Some((self.place(first)? as u32, count as usize));
        let asked = messages.iter().enumerate().map(|(rank, message)| {
            let runs: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(message);
            (rank, runs.iter().filter_map(places).collect::<Runs>())
        });
        Ok(asked.filter(|(_, places)| !places.is_empty()).collect())
    }

    /// Where runs of own unknowns begin, and where they end.
    pub(crate) fn own_ranges(&self, rank: usize) -> (Vec<u32>, Vec<u32>) {
        let own = self.ranges().filter(|&((_, _, owner), ..)| owner as usize == rank);
        own.map(|(_, place, end)| (place, end)).unzip()
    }

    /// The numbers that some of the own unknowns get, `counts` of each [range](Self::own_ranges), if they are
    /// numbered over all ranks in the order that they have now; and how many there are. All ranks call this.
    pub(crate) fn renumbered(
        &self,
        comm: &dyn Comm,
        counts: impl IntoIterator<Item = u32>,
    ) -> Result<(Runs, usize)> {
        let own = self.runs.iter().filter(|run| run.owner as usize == comm.rank());
        let runs = own.zip(counts).map(|(run, count)| [run.number, count]);
        let runs: Vec<[u32; 2]> = runs.filter(|&[_, count]| count > 0).collect();
        let (firsts, total) = firsts_of_runs(comm, &runs)?;
        let mut numbers = Runs::default();
        runs.iter().zip(firsts).for_each(|(&[_, count], first)| numbers.push(first, count as usize));
        Ok((numbers, total))
    }
}

/// What is left of a run from a number on.
fn rest_behind(run: Option<Row>, end: u32) -> Option<Row> {
    let (number, count, owner) = run?;
    let gone = end.saturating_sub(number).min(count as u32);
    Some((number + gone, count - gone as usize, owner)).filter(|&(_, count, _)| count > 0)
}

/// Unknowns that ascend, each with the rank that has it, as runs.
pub(crate) fn in_runs(unknowns: &[(u32, u32)]) -> impl Iterator<Item = Row> {
    let goes_on = |a: &(u32, u32), b: &(u32, u32)| (a.0 + 1, a.1) == *b;
    unknowns.chunk_by(goes_on).map(|run| (run[0].0, run.len(), run[0].1))
}

/// How many are chosen in all runs of all ranks in front of each of these; and how many there are.
fn firsts_of_runs(comm: &dyn Comm, runs: &[[u32; 2]]) -> Result<(Vec<u32>, usize)> {
    let Some(messages) = comm.gather(Writer::new().put(runs).bytes())? else {
        let message = comm.receive(0)?;
        let mut message = Reader::new(&message);
        return Ok((message.take()?, message.one::<u64>()? as usize));
    };
    let mut all: Vec<([u32; 2], usize)> = Vec::new();
    for (rank, message) in messages.iter().enumerate() {
        all.extend(Reader::new(message).take::<[u32; 2]>()?.into_iter().map(|run| (run, rank)));
    }
    all.sort_unstable();
    let mut firsts = vec![Vec::new(); comm.size()];
    let mut total = 0;
    for ([_, count], rank) in all {
        firsts[rank].push(total);
        total += count;
    }
    for (rank, firsts) in firsts.iter().enumerate().skip(1) {
        comm.send(rank, &Writer::new().put(firsts).put(&[u64::from(total)]).bytes())?;
    }
    Ok((firsts.swap_remove(0), total as usize))
}
