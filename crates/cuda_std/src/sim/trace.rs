//! What the lanes of a warp do between two waits, and what of it they do together.

use super::cost::{Cost, LaneAccess, collisions, sectors, wavefronts};
use super::loops::{Loops, Visit};
use super::report::{Line, Operation};
use crate::lanes::WARP_SIZE;
use std::collections::{BTreeSet, HashMap};
use std::panic::Location;

/// What a thread did. The first of a thread is its start or what it waited for last, the last its end or
/// what it waits for.
#[derive(Debug, Clone, Copy)]
struct Event {
    /// Its number in [`Traces::lines`].
    line: u32,
    address: u64,
    bytes: u32,
}

/// What the threads of the block that runs have done and is not counted yet, and the counts.
#[derive(Debug, Default)]
pub(super) struct Traces {
    /// By thread of the block that runs.
    threads: Vec<Vec<Event>>,
    /// The block that runs, and those of the others.
    block: u32,
    others: HashMap<u32, Vec<Vec<Event>>>,
    /// The counts, an entry for each place and operation.
    lines: Vec<Line>,
    /// The numbers of lines by where their places are in the program; some places are there more than once.
    numbers: HashMap<(usize, Operation), u32>,
    /// By line: the rank of its line of the source, which others may be on too.
    ranks: Vec<u32>,
}

/// An access that some lanes of a warp make together, or a wait.
struct Together {
    line: u32,
    lanes: Vec<LaneAccess>,
    /// What the first lane that went on did next.
    next: Option<usize>,
    /// Whether another lane did something else.
    parts: bool,
}

impl Traces {
    pub fn start_block(&mut self, block: u32, threads: u32) {
        self.resume_block(block);
        self.threads = vec![Vec::new(); threads as usize];
        for thread in 0..threads {
            self.note(thread, None, Operation::Start, 0, 0);
        }
    }

    /// Goes on with a block.
    pub fn resume_block(&mut self, block: u32) {
        let before = std::mem::take(&mut self.threads);
        // Of a block that has ended there is nothing left but its end.
        self.others.insert(std::mem::replace(&mut self.block, block), before);
        self.threads = self.others.remove(&block).unwrap_or_default();
    }

    /// Notes what a thread does.
    pub fn note(
        &mut self,
        thread: u32,
        place: Option<&'static Location<'static>>,
        operation: Operation,
        address: u64,
        bytes: u32,
    ) {
        let line = self.line(place, operation);
        self.threads[thread as usize].push(Event { line, address, bytes });
    }

    fn line(&mut self, place: Option<&'static Location<'static>>, operation: Operation) -> u32 {
        let key = (place.map_or(0, |place| std::ptr::from_ref(place) as usize), operation);
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let known = self.lines.iter().position(|line| (line.place, line.operation) == (place, operation));
        let number = known.unwrap_or_else(|| {
            self.lines.push(Line::new(place, operation));
            self.lines.len() - 1
        });
        self.numbers.insert(key, number as u32);
        number as u32
    }

    /// Numbers the lines of the source anew, if there are new ones; the end is behind all.
    fn rank(&mut self) {
        if self.ranks.len() == self.lines.len() {
            return;
        }
        let of_source = |line: &Line| {
            let place = line.place.map(|place| (place.file(), place.line()));
            (line.operation == Operation::End, place)
        };
        let all: BTreeSet<_> = self.lines.iter().map(of_source).collect();
        let rank = |line: &Line| all.range(..of_source(line)).count() as u32;
        self.ranks = self.lines.iter().map(rank).collect();
    }

    /// Counts what the warp did that begins with thread `first`, up to what its lanes wait for now.
    pub fn finish_warp(&mut self, first: u32) {
        self.rank();
        let last = self.threads.len().min((first + WARP_SIZE) as usize);
        let lanes = &self.threads[first as usize..last];
        let visit = |event: &Event| Visit { line: self.ranks[event.line as usize], place: event.line };
        let visits: Vec<Vec<Visit>> = lanes.iter().map(|events| events.iter().map(visit).collect()).collect();
        for together in align(lanes, &visits) {
            self.lines[together.line as usize].count(&together);
        }
        for events in &mut self.threads[first as usize..last] {
            // What they wait for begins the next part.
            events.drain(..events.len().saturating_sub(1));
        }
    }

    /// The lines with counts.
    pub fn into_lines(self) -> Vec<Line> {
        self.lines
    }
}

/// What lanes did in the same rounds of the same loops at the same place is done together.
fn align(lanes: &[Vec<Event>], visits: &[Vec<Visit>]) -> Vec<Together> {
    let loops = Loops::of(visits.iter().map(Vec::as_slice));
    let mut all: Vec<Together> = Vec::new();
    let mut numbers: HashMap<(u32, u64), usize> = HashMap::new();
    for (lane, (events, visits)) in lanes.iter().zip(visits).enumerate() {
        let mut before: Option<usize> = None;
        for (event, rounds) in events.iter().zip(loops.rounds(visits)) {
            let number = *numbers.entry((event.line, rounds)).or_insert_with(|| {
                all.push(Together { line: event.line, lanes: Vec::new(), next: None, parts: false });
                all.len() - 1
            });
            let Event { address, bytes, .. } = *event;
            all[number].lanes.push(LaneAccess { lane: lane as u32, address, bytes });
            if let Some(before) = before.replace(number) {
                let next = all[before].next.get_or_insert(number);
                all[before].parts |= *next != number;
            }
        }
    }
    all
}

impl Line {
    fn count(&mut self, together: &Together) {
        let cost = match self.operation {
            Operation::GlobalLoad | Operation::GlobalStore | Operation::GlobalAtomic => {
                sectors(&together.lanes)
            }
            Operation::SharedLoad | Operation::SharedStore => wavefronts(&together.lanes, false),
            Operation::SharedAtomic => wavefronts(&together.lanes, true),
            Operation::Start | Operation::Wait | Operation::End => Cost { moved: 0, least: 0 },
        };
        self.partings += u64::from(together.parts);
        if self.operation.is_access() {
            self.requests += 1;
            self.threads += together.lanes.len() as u64;
            self.moved += cost.moved;
            self.least += cost.least;
        }
        if matches!(self.operation, Operation::GlobalAtomic | Operation::SharedAtomic) {
            self.collisions += collisions(&together.lanes);
        }
    }
}
