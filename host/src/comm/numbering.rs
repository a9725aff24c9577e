//! The unknowns that a rank has or looks at, by their numbers in the whole vector.

use std::sync::OnceLock;

use bytemuck::{AnyBitPattern, NoUninit};

use super::{Comm, Reader, Writer, all_to_all, received};
use crate::error::Result;
use crate::parallel::*;

/// Unknowns of one rank, and some of others, in the order of their numbers. A matrix whose columns are such
/// unknowns has its entries in the order in which the whole matrix has them.
#[derive(Debug)]
pub struct Numbering {
    /// The number of each in the whole vector, ascending.
    numbers: Vec<u32>,
    /// The rank that has it.
    owners: Vec<u32>,
    /// Places of this rank's own, and of those of others.
    own: Vec<u32>,
    others: Vec<u32>,
    /// Unknowns of all ranks.
    total: usize,
    halo: OnceLock<Halo>,
}

/// What is exchanged so that a rank has the elements of others that it looks at.
#[derive(Debug)]
pub(crate) struct Halo {
    /// Ranks that look at own unknowns, and which: their places here.
    pub sends: Vec<(usize, Vec<u32>)>,
    /// Ranks whose unknowns are looked at here, and the places of those.
    pub receives: Vec<(usize, Vec<u32>)>,
}

impl Halo {
    /// The places of all that is exchanged, ascending; and the same with places in this list.
    pub fn alone(&self) -> (Vec<u32>, Halo) {
        let lists = self.sends.iter().chain(&self.receives);
        let mut all: Vec<u32> = lists.flat_map(|(_, places)| places).copied().collect();
        all.sort_unstable();
        all.dedup();
        let position = |place: &u32| all.binary_search(place).unwrap_or(0) as u32;
        let of = |lists: &Vec<(usize, Vec<u32>)>| {
            lists.iter().map(|(rank, places)| (*rank, places.iter().map(position).collect())).collect()
        };
        let (sends, receives) = (of(&self.sends), of(&self.receives));
        (all, Halo { sends, receives })
    }

    /// Overwrites the elements of others with what their ranks have. All ranks call this.
    pub fn update<U: NoUninit + AnyBitPattern>(&self, comm: &dyn Comm, elements: &mut [U]) -> Result<()> {
        for (place, element) in exchanged(comm, &self.sends, &self.receives, elements)? {
            elements[place] = element;
        }
        Ok(())
    }

    /// Makes elements 0 where any rank has 0 for them, on all ranks, which call this.
    pub fn settle(&self, comm: &dyn Comm, elements: &mut [u32]) -> Result<()> {
        for (place, element) in exchanged(comm, &self.receives, &self.sends, elements)? {
            if element == 0 {
                elements[place] = 0;
            }
        }
        self.update(comm, elements)
    }

    /// What others have for the unknowns that are received, one rank after the other, `per_row` numbers each;
    /// `sent` are those of this rank's. All ranks call this.
    pub fn received(&self, comm: &dyn Comm, sent: &[f64], per_row: usize) -> Result<Vec<f64>> {
        let Halo { sends, receives } = self;
        let mut first = 0;
        let messages = sends.iter().map(|(to, places)| {
            let part = &sent[per_row * first..per_row * (first + places.len())];
            first += places.len();
            (*to, bytemuck::cast_slice(part))
        });
        let messages: Vec<(usize, &[u8])> = messages.collect();
        let counts: Vec<(usize, usize)> =
            receives.iter().map(|(from, places)| (*from, per_row * places.len())).collect();
        received(comm, &messages, &counts)
    }
}

impl Numbering {
    /// Of `rank`, which has those of its unknowns among these that `owners` says; `total` is their number
    /// over all ranks. It looks at no unknown without having all of its own.
    pub fn new(rank: usize, numbers: Vec<u32>, owners: Vec<u32>, total: usize) -> Self {
        debug_assert!(numbers.is_sorted() && numbers.len() == owners.len());
        let places = || (0..numbers.len() as u32).into_par_iter().with_min_len(MANY);
        let is_own = |&place: &u32| owners[place as usize] as usize == rank;
        let (own, others) =
            (places().filter_collect(is_own), places().filter_collect(|place| !is_own(place)));
        Numbering { numbers, owners, own, others, total, halo: OnceLock::new() }
    }

    /// Of `rank`: all unknowns among these, each as its number and the rank that has it, but for those that
    /// have the largest number, which stands for none.
    pub(crate) fn of_all(rank: usize, unknowns: &[[u32; 2]], total: usize) -> Self {
        let unknowns = unknowns.par_iter().with_min_len(MANY).map(|unknown| *unknown);
        let mut all = unknowns.filter_collect(|&[number, _]| number != u32::MAX);
        all.sort_unstable();
        all.dedup();
        let (numbers, owners) = all.iter().map(|&[number, owner]| (number, owner)).unzip();
        Numbering::new(rank, numbers, owners, total)
    }

    /// The rank's own alone.
    pub(crate) fn of_own(&self, rank: usize) -> Self {
        Numbering::new(rank, self.own_numbers(), vec![rank as u32; self.own.len()], self.total)
    }

    /// These and `more`, ascending numbers with the ranks that have them; and where each of these is there.
    pub(crate) fn united(&self, rank: usize, more: &[(u32, u32)]) -> (Self, Vec<u32>) {
        let most = self.len() + more.len();
        let (mut numbers, mut owners) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let mut places: Vec<u32> = Vec::with_capacity(self.len());
        let mut first = 0;
        // Whole runs of these between two that are new.
        for &(new, its) in more {
            let run = first..first + self.numbers[first..].partition_point(|&number| number < new);
            places.extend(numbers.len() as u32..(numbers.len() + run.len()) as u32);
            numbers.extend_from_slice(&self.numbers[run.clone()]);
            owners.extend_from_slice(&self.owners[run.clone()]);
            first = run.end;
            if self.numbers.get(first) != Some(&new) {
                numbers.push(new);
                owners.push(its);
            }
        }
        places.extend(numbers.len() as u32..(numbers.len() + self.len() - first) as u32);
        numbers.extend_from_slice(&self.numbers[first..]);
        owners.extend_from_slice(&self.owners[first..]);
        (Numbering::new(rank, numbers, owners, self.total), places)
    }

    /// Those of nodes of `block` unknowns each, all of whose unknowns these are.
    pub(crate) fn of_nodes(&self, rank: usize, block: usize) -> Self {
        let numbers = self.numbers.iter().step_by(block).map(|&number| number / block as u32).collect();
        let owners = self.owners.iter().step_by(block).copied().collect();
        Numbering::new(rank, numbers, owners, self.total / block)
    }

    /// The unknowns of these, which are nodes of `block` each.
    pub fn written_out(&self, rank: usize, block: usize) -> Self {
        let of_node = |&node: &u32| node * block as u32..(node + 1) * block as u32;
        let numbers = self.numbers.iter().flat_map(of_node).collect();
        let owners = self.owners.iter().flat_map(|&owner| std::iter::repeat_n(owner, block)).collect();
        Numbering::new(rank, numbers, owners, self.total * block)
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }
    /// Unknowns of all ranks.
    pub fn total(&self) -> usize {
        self.total
    }
    /// The number of each, ascending.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }
    pub(crate) fn owners(&self) -> &[u32] {
        &self.owners
    }
    /// Places of this rank's own, ascending.
    pub fn own(&self) -> &[u32] {
        &self.own
    }
    /// Places of others' unknowns, ascending.
    pub(crate) fn others(&self) -> &[u32] {
        &self.others
    }
    /// The numbers of this rank's own.
    pub(crate) fn own_numbers(&self) -> Vec<u32> {
        self.own.par_iter().with_min_len(MANY).map(|&place| self.numbers[place as usize]).collect()
    }
    /// The number of each, with the rank that has it.
    pub(crate) fn with_owners(&self) -> Vec<(u32, u32)> {
        let places = (0..self.len()).into_par_iter().with_min_len(MANY);
        places.map(|place| (self.numbers[place], self.owners[place])).collect()
    }
    /// Whether there are none but its own.
    pub(crate) fn is_own(&self) -> bool {
        self.others.is_empty()
    }
    /// Where the unknown of this number is.
    pub(crate) fn place(&self, number: u32) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    /// What is exchanged. All ranks call this.
    pub(crate) fn halo(&self, comm: &dyn Comm) -> Result<&Halo> {
        if let Some(halo) = self.halo.get() {
            return Ok(halo);
        }
        let mut places = vec![Vec::new(); comm.size()];
        for &place in &self.others {
            places[self.owners[place as usize] as usize].push(place);
        }
        let asked = |places: &Vec<u32>| {
            let numbers: Vec<u32> = places.iter().map(|&place| self.numbers[place as usize]).collect();
            if numbers.is_empty() { Vec::new() } else { Writer::new().put(&numbers).bytes() }
        };
        let mut sends = Vec::new();
        for (to, message) in all_to_all(comm, places.iter().map(asked).collect())?.iter().enumerate() {
            if !message.is_empty() {
                let numbers: Vec<u32> = Reader::new(message).take()?;
                let place = |&number: &u32| self.place(number).map(|place| place as u32);
                sends.push((to, numbers.iter().filter_map(place).collect()));
            }
        }
        let receives = places.into_iter().enumerate().filter(|(_, places)| !places.is_empty()).collect();
        Ok(self.halo.get_or_init(|| Halo { sends, receives }))
    }

    /// [`Halo::update`] of elements that are there for all of these.
    pub(crate) fn update<U: NoUninit + AnyBitPattern>(
        &self,
        comm: &dyn Comm,
        elements: &mut [U],
    ) -> Result<()> {
        self.halo(comm)?.update(comm, elements)
    }

    /// The numbers that own unknowns get if those that are `chosen`, by their places, are numbered over all
    /// ranks in the order that they have now; and how many there are. All ranks call this.
    pub(crate) fn renumbered(&self, comm: &dyn Comm, chosen: &[u32]) -> Result<(Vec<u32>, usize)> {
        let number = |k: usize| self.numbers[self.own[k] as usize];
        let is_first = |&k: &usize| k == 0 || number(k) != number(k - 1) + 1;
        let firsts = (0..self.own.len()).into_par_iter().with_min_len(MANY).filter_collect(is_first);
        // Runs of consecutive unknowns: where they begin, and how many are chosen.
        let chosen_before = |k: usize| match self.own.get(k) {
            Some(&place) => chosen.partition_point(|&chosen| chosen < place),
            None => chosen.len(),
        };
        let ends = firsts.iter().copied().skip(1).chain([self.own.len()]);
        let run = |(first, end)| [number(first), (chosen_before(end) - chosen_before(first)) as u32];
        let mut runs: Vec<[u32; 2]> = firsts.iter().copied().zip(ends).map(run).collect();
        runs.retain(|&[_, count]| count > 0);
        let (firsts, total) = firsts_of_runs(comm, &runs)?;
        let numbers = runs.iter().zip(firsts).flat_map(|(&[_, count], first)| first..first + count);
        Ok((numbers.collect(), total))
    }
}

/// The elements at the places of `sends` go there; those that come, with the places of `receives`.
fn exchanged<U: NoUninit + AnyBitPattern>(
    comm: &dyn Comm,
    sends: &[(usize, Vec<u32>)],
    receives: &[(usize, Vec<u32>)],
    elements: &[U],
) -> Result<Vec<(usize, U)>> {
    let of = |places: &Vec<u32>| places.iter().map(|&place| elements[place as usize]).collect::<Vec<U>>();
    let sent: Vec<(usize, Vec<U>)> = sends.iter().map(|(to, places)| (*to, of(places))).collect();
    let messages: Vec<(usize, &[u8])> =
        sent.iter().map(|(to, elements)| (*to, bytemuck::cast_slice(elements))).collect();
    let counts: Vec<(usize, usize)> = receives.iter().map(|(from, places)| (*from, places.len())).collect();
    let received: Vec<U> = received(comm, &messages, &counts)?;
    let places = receives.iter().flat_map(|(_, places)| places).map(|&place| place as usize);
    Ok(places.zip(received).collect())
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
