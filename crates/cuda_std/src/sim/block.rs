//! Running the threads of a grid.

mod access;
mod bulk;
mod cluster;
mod copies;
mod limits;
mod meeting;

use super::copies::Copies;
use super::exchange::{Exchange, State};
use super::fault::{Fault, FaultKind};
use super::memory::Memory;
use super::options::{Options, Random};
use super::panic;
use super::race::Races;
use super::report::{self, Operation};
use super::resident::{Resident, Thread};
use super::shared::{SharedBase, SharedMemory};
#[cfg(unix)]
use super::stack;
use super::trace::Traces;
use crate::host::{Configuration, Dim3, Kernel};
use crate::lanes::WARP_SIZE;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::panic::Location;

thread_local! {
    /// The grid whose thread runs now on this host thread.
    static CURRENT: Cell<Option<&'static Grid<'static>>> = const { Cell::new(None) };
    /// Stacks for the next launch, and their size: making one takes several calls of the operating system.
    static STACKS: RefCell<(usize, Vec<DefaultStack>)> = const { RefCell::new((0, Vec::new())) };
}

/// The grid whose thread runs now, if any.
pub(super) fn current() -> Option<&'static Grid<'static>> {
    CURRENT.get()
}

/// A launch under way. Threads get at it through [`current`]; everything that changes is in cells,
/// because a thread is suspended inside of the methods it calls.
pub(super) struct Grid<'a> {
    kernel: &'a dyn Kernel,
    name: &'static str,
    configuration: Configuration,
    /// Threads in a block.
    block_size: u32,
    memory: &'a Memory,
    /// Places for blocks that run by turns, the blocks of a cluster side by side: for as many clusters as run
    /// at a time, or in a cooperative launch for all.
    residents: Vec<Resident>,
    /// Which of them runs.
    running: Cell<usize>,
    /// The thread of it that runs, or ran last.
    thread: Cell<u32>,
    /// Whether it goes on later, and another block now.
    preempted: Cell<bool>,
    random: Random,
    /// Accesses to memory since a thread waited or ended.
    accesses: Cell<u64>,
    /// Calls of the clock so far.
    ticks: Cell<u64>,
    /// The fault of the thread that ran last, and its place if it is an access.
    fault: RefCell<Option<FaultKind>>,
    place: Cell<Option<&'static Location<'static>>>,
    /// The accesses so far, if races are looked for.
    races: Option<RefCell<Races>>,
    /// What the threads do, if somebody asks.
    traces: Option<RefCell<Traces>>,
    options: Options,
}

impl<'a> Grid<'a> {
    pub fn new(
        kernel: &'a dyn Kernel,
        configuration: Configuration,
        memory: &'a Memory,
        options: &Options,
    ) -> Self {
        let block_size = configuration.block.count() as u32;
        let (blocks, in_cluster) = (configuration.grid.count(), configuration.cluster.count());
        let places = match configuration.cooperative {
            true => blocks,
            false => blocks.min(in_cluster * u64::from(options.blocks_at_once)).max(in_cluster),
        };
        Self {
            kernel,
            name: kernel.name(),
            configuration,
            block_size,
            memory,
            residents: (0..places).map(|_| Resident::new(block_size, configuration.shared_bytes)).collect(),
            running: Cell::new(0),
            thread: Cell::new(0),
            preempted: Cell::new(false),
            random: Random::of(options.order),
            accesses: Cell::new(0),
            ticks: Cell::new(0),
            fault: RefCell::new(None),
            place: Cell::new(None),
            races: options.races.then(RefCell::default),
            traces: report::is_wanted().then(RefCell::default),
            options: *options,
        }
    }

    /// The place of the block that runs.
    fn now(&self) -> &Resident {
        &self.residents[self.running.get()]
    }

    /// The number of the running thread in its block.
    pub fn thread(&self) -> u32 {
        self.thread.get()
    }

    /// The number of the block that runs.
    pub fn block(&self) -> u32 {
        self.now().block.get()
    }

    pub fn thread_idx(&self) -> Dim3 {
        self.configuration.block.place(self.thread())
    }

    pub fn block_idx(&self) -> Dim3 {
        self.configuration.grid.place(self.block())
    }

    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    pub fn shared(&self) -> &SharedMemory {
        &self.now().shared
    }

    /// The running block's array of that name, of elements of `size` bytes.
    pub fn shared_array(&self, name: &'static str, length: usize, size: usize) -> SharedBase {
        SharedBase { place: self.running.get(), array: self.shared().array(name, length, size), length }
    }

    /// The running block's dynamic shared memory as an array of elements of `size` bytes.
    pub fn dynamic_array(&self, size: usize) -> SharedBase {
        let (array, length) = self.shared().dynamic_array(size);
        SharedBase { place: self.running.get(), array, length }
    }

    /// The shared memory that an array is in.
    fn memory_of(&self, base: SharedBase) -> &SharedMemory {
        &self.residents[base.place].shared
    }

    /// What the running thread has asked for to be copied.
    fn copies(&self) -> &RefCell<Copies> {
        &self.now().copies[self.thread() as usize]
    }

    /// How often the clock was asked.
    pub fn tick(&self) -> u64 {
        self.ticks.replace(self.ticks.get() + 1)
    }

    /// Whether an address is on the stack of the running thread. Its yielder is at the beginning.
    pub fn is_local(&self, address: u64) -> bool {
        let beginning = self.now().yielders[self.thread() as usize].get() as u64;
        beginning.abs_diff(address) < self.stack_bytes() as u64
    }

    /// The lanes of the running thread's warp that have not exited.
    pub fn active_lanes(&self) -> u32 {
        let first = self.thread() & !(WARP_SIZE - 1);
        let lanes = self.now().states[first as usize..].iter().take(WARP_SIZE as usize).enumerate();
        let active = lanes.filter(|(_, state)| !matches!(state.get(), State::Exited));
        active.fold(0, |mask, (lane, _)| mask | 1 << lane)
    }

    /// Suspends the running thread until its state is [`State::Ready`] again; returns the result.
    fn wait(&self, state: State) -> u64 {
        let thread = self.thread.get() as usize;
        self.now().states[thread].set(state);
        if let Some(place) = state.place() {
            self.accesses.set(0);
            self.note(Some(place), Operation::Wait, 0, 0);
        }
        // SAFETY: the yielder lives on the stack of the running coroutine, which set it when it started.
        let yielder = unsafe { &*self.now().yielders[thread].get() };
        yielder.suspend(())
    }

    /// Ends the launch: the running thread did something wrong.
    pub fn fault(&self, kind: FaultKind) -> ! {
        *self.fault.borrow_mut() = Some(kind);
        self.wait(State::Exited);
        unreachable!("a thread went on after a fault")
    }

    /// Ends the launch: the running thread's access to memory is wrong.
    #[track_caller]
    fn fault_here(&self, kind: FaultKind) -> ! {
        self.fault_at(Location::caller(), kind)
    }

    /// Ends the launch: an access to memory, there in the source, is wrong.
    fn fault_at(&self, place: &'static Location<'static>, kind: FaultKind) -> ! {
        self.place.set(Some(place));
        self.fault(kind)
    }

    /// Meets the whole block; returns how many threads gave `true`.
    #[track_caller]
    pub fn barrier(&self, vote: bool) -> u32 {
        self.wait(State::Barrier(vote, Location::caller())) as u32
    }

    /// Meets the whole grid.
    #[track_caller]
    pub fn grid_barrier(&self) {
        if !self.configuration.cooperative {
            self.fault_here(FaultKind::NotCooperative);
        }
        self.wait(State::Grid(Location::caller()));
    }

    /// Meets the lanes of `mask`; returns what `exchange` gives this lane.
    #[track_caller]
    pub fn meet(&self, mask: u32, exchange: Exchange) -> u64 {
        let (lane, place) = (self.thread.get() % WARP_SIZE, Location::caller());
        if mask & (1 << lane) == 0 {
            let call = format!("{} at {place}", exchange.call());
            self.fault(FaultKind::NotInMask { call, lane, mask });
        }
        self.wait(State::Warp(mask, exchange, place))
    }

    fn in_races(&self, act: impl FnOnce(&mut Races)) {
        if let Some(races) = &self.races {
            act(&mut races.borrow_mut());
        }
    }

    fn in_traces(&self, act: impl FnOnce(&mut Traces)) {
        if let Some(traces) = &self.traces {
            act(&mut traces.borrow_mut());
        }
    }

    /// Notes what the running thread does.
    fn note(
        &self,
        place: Option<&'static Location<'static>>,
        operation: Operation,
        address: u64,
        bytes: u64,
    ) {
        self.in_traces(|traces| traces.note(self.thread(), place, operation, address, bytes as u32));
    }

    /// Runs all blocks.
    pub fn run(&self) -> Result<(), Fault> {
        // SAFETY: only the lifetime changes; the reference is taken back below, before `self` ends, and
        // until then only coroutines use it that are dropped before.
        let unbounded = unsafe { std::mem::transmute::<&Grid<'a>, &'static Grid<'static>>(self) };
        assert!(current().is_none(), "a kernel cannot launch a kernel");
        CURRENT.set(Some(unbounded));
        #[cfg(unix)]
        stack::watch(Grid::name_small_stack);
        let (size, mut stacks) = STACKS.take();
        if size != self.stack_bytes() {
            stacks.clear();
        }
        let result = self.run_blocks(&mut stacks);
        // Where a fault has ended the launch, there are threads left.
        self.residents.iter().for_each(Resident::clear);
        if let Some(traces) = &self.traces {
            let lines = traces.take().into_lines();
            report::enter(self.name, &self.configuration, self.now().shared.total_bytes(), lines);
        }
        STACKS.set((self.stack_bytes(), stacks));
        CURRENT.set(None);
        let (block, thread, place) = (self.block(), self.thread(), self.place.get());
        result.map_err(|kind| Fault { kernel: self.name, block, thread, place, kind })
    }

    fn run_blocks(&self, stacks: &mut Vec<DefaultStack>) -> Result<(), FaultKind> {
        let clusters = (self.configuration.grid.count() / self.configuration.cluster.count()) as u32;
        let mut blocks =
            self.options.order.of(clusters).flat_map(|cluster| self.blocks_of(cluster)).peekable();
        while blocks.peek().is_some() {
            for (place, block) in blocks.by_ref().take(self.residents.len()).enumerate() {
                self.running.set(place);
                self.start_block(block);
            }
            self.run_residents(stacks)?;
        }
        Ok(())
    }

    /// Runs the blocks that have a place to their ends.
    fn run_residents(&self, stacks: &mut Vec<DefaultStack>) -> Result<(), FaultKind> {
        loop {
            for place in 0..self.residents.len() {
                self.running.set(place);
                if self.now().can_run() {
                    self.in_races(|races| races.resume_block(self.block()));
                    self.in_traces(|traces| traces.resume_block(self.block()));
                    self.run_block(stacks)?;
                }
            }
            if self.residents.iter().any(Resident::can_run) {
                continue;
            }
            if !self.complete_cluster_barriers()? && !self.complete_grid_barrier()? {
                return Ok(());
            }
        }
    }

    /// Gives a block the place that is current.
    fn start_block(&self, block: u32) {
        self.now().take(block);
        self.in_races(|races| races.start_block(block, self.block_size));
        self.in_traces(|traces| traces.start_block(block, self.block_size));
    }

    /// Runs the threads of the current block, warp by warp, from barrier to barrier, to their end, to where
    /// they wait for other blocks, or to where one of them lets another block go on.
    fn run_block(&self, stacks: &mut Vec<DefaultStack>) -> Result<(), FaultKind> {
        let mut threads = self.now().threads.borrow_mut();
        loop {
            for first in (0..self.block_size).step_by(WARP_SIZE as usize) {
                let warp = first..(first + WARP_SIZE).min(self.block_size);
                loop {
                    for thread in warp.clone() {
                        self.run_thread(thread, &mut threads[thread as usize], stacks)?;
                        if self.preempted.take() {
                            return Ok(());
                        }
                    }
                    self.in_traces(|traces| traces.finish_warp(first));
                    if !self.complete_exchanges(warp.clone())? {
                        break;
                    }
                }
            }
            if !self.complete_copies() && !self.complete_barrier()? {
                return Ok(());
            }
        }
    }

    /// Lets a thread go on, if it can, until it waits or exits.
    fn run_thread(
        &self,
        thread: u32,
        slot: &mut Option<Thread>,
        stacks: &mut Vec<DefaultStack>,
    ) -> Result<(), FaultKind> {
        let State::Ready(result) = self.now().states[thread as usize].get() else { return Ok(()) };
        self.thread.set(thread);
        let coroutine = match slot {
            Some(coroutine) => coroutine,
            None => slot.insert(self.start(stacks.pop())?),
        };
        let outcome = panic::catch(|| coroutine.resume(result));
        if let Some(kind) = self.fault.take() {
            return Err(kind);
        }
        match outcome {
            Ok(CoroutineResult::Yield(())) => return Ok(()),
            Ok(CoroutineResult::Return(())) if !self.now().waited[thread as usize].get() => {
                return Err(FaultKind::NoWait);
            }
            Ok(CoroutineResult::Return(())) => {
                self.now().states[thread as usize].set(State::Exited);
                self.accesses.set(0);
                self.note(None, Operation::End, 0, 0);
                self.check_end()?;
            }
            Err(panic) => return Err(panic),
        }
        stacks.extend(slot.take().map(Coroutine::into_stack));
        Ok(())
    }

    /// A coroutine for the current thread.
    fn start(&self, stack: Option<DefaultStack>) -> Result<Thread, FaultKind> {
        let stack = match stack {
            Some(stack) => stack,
            None => DefaultStack::new(self.stack_bytes())
                .map_err(|error| FaultKind::NoStack { error: error.to_string() })?,
        };
        let body = |yielder: &Yielder<u64, ()>, _| {
            self.now().yielders[self.thread.get() as usize].set(yielder);
            // SAFETY: whoever launched the kernel vouches for its arguments.
            unsafe { self.kernel.run() }
        };
        // SAFETY: the coroutine borrows `self` and is dropped by `run`, which borrows it too.
        Ok(unsafe { Coroutine::with_stack_unchecked(stack, body) })
    }
}
