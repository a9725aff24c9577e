//! Running the threads of a grid.

use super::exchange::{Exchange, State, exchange_result};
use super::fault::{Access, Fault, FaultKind, Place, Waiting};
use super::memory::Memory;
use super::options::Options;
use super::race::{Races, Stamp, Word};
use super::shared::SharedBase;
use crate::host::Kernel;
use crate::lanes::WARP_SIZE;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

/// Bytes of stack of a simulated thread; what is not touched takes no memory.
const STACK_BYTES: usize = 128 * 1024;

thread_local! {
    /// The grid whose thread runs now on this host thread.
    static CURRENT: Cell<Option<&'static Grid<'static>>> = const { Cell::new(None) };
    /// Stacks for the next launch: making one takes several calls of the operating system.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// The grid whose thread runs now, if any.
pub(super) fn current() -> Option<&'static Grid<'static>> {
    CURRENT.get()
}

/// A thread that has been started and has not exited.
type Thread = Coroutine<u64, (), ()>;

/// One array in shared memory: 4-byte cells, empty until written.
struct SharedArray {
    name: &'static str,
    cells: Vec<Option<u32>>,
}

/// A launch under way. Threads get at it through [`current`]; everything that changes is in cells,
/// because a thread is suspended inside of the methods it calls.
pub(super) struct Grid<'a> {
    kernel: &'a dyn Kernel,
    name: &'static str,
    size: u32,
    block_size: u32,
    memory: &'a Memory,
    /// The block that runs.
    block: Cell<u32>,
    /// The thread of it that runs, or ran last.
    thread: Cell<u32>,
    states: Vec<Cell<State>>,
    /// Which threads have called `grid_dependency_wait`.
    waited: Vec<Cell<bool>>,
    /// How to suspend each thread.
    yielders: Vec<Cell<*const Yielder<u64, ()>>>,
    shared: RefCell<Vec<SharedArray>>,
    /// The fault of the thread that ran last.
    fault: RefCell<Option<FaultKind>>,
    /// The accesses so far, if races are looked for.
    races: Option<RefCell<Races>>,
}

impl<'a> Grid<'a> {
    pub fn new(
        kernel: &'a dyn Kernel,
        size: u32,
        block_size: u32,
        memory: &'a Memory,
        options: &Options,
    ) -> Self {
        Self {
            kernel,
            name: kernel.name(),
            size,
            block_size,
            memory,
            block: Cell::new(0),
            thread: Cell::new(0),
            states: vec![Cell::new(State::Exited); block_size as usize],
            waited: vec![Cell::new(false); block_size as usize],
            yielders: vec![Cell::new(std::ptr::null()); block_size as usize],
            shared: RefCell::new(Vec::new()),
            fault: RefCell::new(None),
            races: options.races.then(RefCell::default),
        }
    }

    pub fn thread(&self) -> u32 {
        self.thread.get()
    }

    pub fn block(&self) -> u32 {
        self.block.get()
    }

    pub fn block_size(&self) -> u32 {
        self.block_size
    }

    pub fn size(&self) -> u32 {
        self.size
    }

    /// Suspends the running thread until its state is [`State::Ready`] again; returns the result.
    fn wait(&self, state: State) -> u64 {
        let thread = self.thread.get() as usize;
        self.states[thread].set(state);
        // SAFETY: the yielder lives on the stack of the running coroutine, which set it when it started.
        let yielder = unsafe { &*self.yielders[thread].get() };
        yielder.suspend(())
    }

    /// Ends the launch: the running thread did something wrong.
    pub fn fault(&self, kind: FaultKind) -> ! {
        *self.fault.borrow_mut() = Some(kind);
        self.wait(State::Exited);
        unreachable!("a thread went on after a fault")
    }

    #[track_caller]
    pub fn barrier(&self) {
        self.wait(State::Barrier(Location::caller()));
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

    /// Notes that the running thread has waited for the grid in front.
    pub fn waited(&self) {
        self.waited[self.thread.get() as usize].set(true);
    }

    /// Notes that what the block did so far comes before what its next atomic operation announces.
    pub fn fence(&self) {
        self.in_races(Races::pass_fence);
    }

    fn in_races(&self, act: impl FnOnce(&mut Races)) {
        if let Some(races) = &self.races {
            act(&mut races.borrow_mut());
        }
    }

    /// Faults unless `size` bytes at `address` may be accessed through a pointer to `base`, now.
    pub fn check_global(&self, access: Access, base: u64, address: u64, size: u64) {
        if let Err(kind) = self.memory.check(access, base, address, size) {
            self.fault(kind);
        }
        // A plain load may be of what no kernel writes; any other cannot.
        if access != Access::Read && !self.waited[self.thread.get() as usize].get() {
            self.fault(FaultKind::AccessBeforeWait { access });
        }
        let Some(races) = &self.races else { return };
        if access == Access::Atomic {
            races.borrow_mut().synchronise(address);
        }
        for word in address / 4..(address + size) / 4 {
            let entered = races.borrow_mut().enter(Word::Global(word), access, self.thread());
            if let Err(other) = entered {
                self.fault(race(access, other, self.memory.place(word * 4)));
            }
        }
    }

    /// The number of the block's array of that name, made if there is none.
    pub fn shared_array(&self, name: &'static str, length: usize) -> usize {
        let mut shared = self.shared.borrow_mut();
        if let Some(number) = shared.iter().position(|a| a.name == name) {
            return number;
        }
        shared.push(SharedArray { name, cells: vec![None; 2 * length] });
        shared.len() - 1
    }

    /// The cells of element `i`, of `N` cells, of a shared array.
    fn shared_cells<const N: usize>(&self, access: Access, base: SharedBase, i: usize) -> Range<usize> {
        if i >= base.length {
            let (array, length) = (self.shared_name(base), base.length as u64);
            self.fault(FaultKind::SharedOutOfBounds { access, array, index: i as u64, length });
        }
        let cells = i * N..(i + 1) * N;
        let Some(races) = &self.races else { return cells };
        for cell in cells.clone() {
            let word = Word::Shared(base.array as u32, cell as u32);
            let entered = races.borrow_mut().enter(word, access, self.thread());
            if let Err(other) = entered {
                let place = Place::Shared { array: self.shared_name(base), offset: cell as u64 * 4 };
                self.fault(race(access, other, place));
            }
        }
        cells
    }

    fn shared_name(&self, base: SharedBase) -> &'static str {
        self.shared.borrow()[base.array].name
    }

    pub fn load_shared<const N: usize>(&self, base: SharedBase, i: usize) -> [u32; N] {
        let cells = self.shared_cells::<N>(Access::Read, base, i);
        let mut words = [None; N];
        words.copy_from_slice(&self.shared.borrow()[base.array].cells[cells]);
        words.map(|word| self.written(word, base, i))
    }

    /// What is in a cell of element `i`, which must have been written.
    fn written(&self, cell: Option<u32>, base: SharedBase, i: usize) -> u32 {
        cell.unwrap_or_else(|| {
            let array = self.shared_name(base);
            self.fault(FaultKind::UnwrittenShared { array, index: i as u64 })
        })
    }

    /// Element `i`, one cell, for an access that others may make at the same time.
    pub fn load_shared_word(&self, access: Access, base: SharedBase, i: usize) -> u32 {
        let cells = self.shared_cells::<1>(access, base, i);
        let cell = self.shared.borrow()[base.array].cells[cells.start];
        self.written(cell, base, i)
    }

    /// Sets element `i`, one cell, as the second half of an atomic operation.
    pub fn set_shared_word(&self, base: SharedBase, i: usize, word: u32) {
        self.shared.borrow_mut()[base.array].cells[i] = Some(word);
    }

    pub fn store_shared<const N: usize>(&self, base: SharedBase, i: usize, words: [u32; N]) {
        let cells = self.shared_cells::<N>(Access::Write, base, i);
        self.shared.borrow_mut()[base.array].cells[cells].copy_from_slice(&words.map(Some));
    }

    /// Runs all blocks.
    pub fn run(&self) -> Result<(), Fault> {
        // SAFETY: only the lifetime changes; the reference is taken back below, before `self` ends, and
        // until then only coroutines use it that are dropped before.
        let unbounded = unsafe { std::mem::transmute::<&Grid<'a>, &'static Grid<'static>>(self) };
        assert!(current().is_none(), "a kernel cannot launch a kernel");
        CURRENT.set(Some(unbounded));
        let mut stacks = STACKS.take();
        let result = (0..self.size).try_for_each(|block| {
            self.block.set(block);
            self.run_block(&mut stacks)
        });
        STACKS.set(stacks);
        CURRENT.set(None);
        result.map_err(|kind| Fault { kernel: self.name, block: self.block(), thread: self.thread(), kind })
    }

    /// Runs the threads of the current block, warp by warp, from barrier to barrier.
    fn run_block(&self, stacks: &mut Vec<DefaultStack>) -> Result<(), FaultKind> {
        let mut threads: Vec<Option<Thread>> = (0..self.block_size).map(|_| None).collect();
        self.states.iter().for_each(|s| s.set(State::Ready(0)));
        self.waited.iter().for_each(|waited| waited.set(false));
        for array in self.shared.borrow_mut().iter_mut() {
            array.cells.fill(None);
        }
        self.in_races(|races| races.start_block(self.block(), self.block_size));
        loop {
            for first in (0..self.block_size).step_by(WARP_SIZE as usize) {
                let warp = first..(first + WARP_SIZE).min(self.block_size);
                loop {
                    for thread in warp.clone() {
                        self.run_thread(thread, &mut threads[thread as usize], stacks)?;
                    }
                    if !self.complete_exchanges(warp.clone())? {
                        break;
                    }
                }
            }
            if !self.complete_barrier()? {
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
        let State::Ready(result) = self.states[thread as usize].get() else { return Ok(()) };
        self.thread.set(thread);
        let coroutine = match slot {
            Some(coroutine) => coroutine,
            None => slot.insert(self.start(stacks.pop())?),
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| coroutine.resume(result)));
        if let Some(kind) = self.fault.take() {
            return Err(kind);
        }
        match outcome {
            Ok(CoroutineResult::Yield(())) => return Ok(()),
            Ok(CoroutineResult::Return(())) if !self.waited[thread as usize].get() => {
                return Err(FaultKind::NoWait);
            }
            Ok(CoroutineResult::Return(())) => self.states[thread as usize].set(State::Exited),
            Err(payload) => return Err(FaultKind::Panic { message: message(&*payload) }),
        }
        stacks.extend(slot.take().map(Coroutine::into_stack));
        Ok(())
    }

    /// A coroutine for the current thread.
    fn start(&self, stack: Option<DefaultStack>) -> Result<Thread, FaultKind> {
        let stack = match stack {
            Some(stack) => stack,
            None => DefaultStack::new(STACK_BYTES)
                .map_err(|e| FaultKind::Panic { message: format!("no memory for a thread's stack: {e}") })?,
        };
        let body = |yielder: &Yielder<u64, ()>, _| {
            self.yielders[self.thread.get() as usize].set(yielder);
            // SAFETY: whoever launched the kernel vouches for its arguments.
            unsafe { self.kernel.run() }
        };
        // SAFETY: the coroutine borrows `self` and is dropped by `run_block`, which borrows it too.
        Ok(unsafe { Coroutine::with_stack_unchecked(stack, body) })
    }

    /// Gives the lanes whose partners have all come their results; returns whether there were any.
    fn complete_exchanges(&self, warp: Range<u32>) -> Result<bool, FaultKind> {
        let mut lanes = [State::Exited; WARP_SIZE as usize];
        for thread in warp.clone() {
            lanes[(thread - warp.start) as usize] = self.states[thread as usize].get();
        }
        let mut complete = 0u32;
        for lane in 0..warp.len() as u32 {
            let State::Warp(mask, exchange, _) = lanes[lane as usize] else { continue };
            // Lanes that have met share their mask, so one of them answers for all.
            if complete & (1 << lane) == 0 {
                let wanted = |i: &u32| mask & (1 << i) != 0;
                let mut others = (0..WARP_SIZE).filter(wanted).map(|i| &lanes[i as usize]);
                if !others.all(|other| other.meets(&lanes[lane as usize])) {
                    continue;
                }
                complete |= mask;
                if let Exchange::Sync = exchange {
                    self.in_races(|races| races.sync_warp(warp.start));
                }
            }
            self.thread.set(warp.start + lane);
            let result = exchange_result(&lanes, lane, warp.len() as u32)?;
            self.states[(warp.start + lane) as usize].set(State::Ready(result));
        }
        Ok(complete != 0)
    }

    /// Lets everybody go on if all wait at one barrier; returns whether there is anybody left.
    fn complete_barrier(&self) -> Result<bool, FaultKind> {
        let mut waiting: Vec<Waiting> = Vec::new();
        let (mut exited, mut barriers) = (0, 0);
        for (thread, state) in self.states.iter().enumerate() {
            let (call, place) = match state.get() {
                State::Barrier(place) => {
                    barriers += 1;
                    ("sync_threads", place)
                }
                State::Warp(_, exchange, place) => (exchange.call(), place),
                State::Exited => {
                    exited += 1;
                    continue;
                }
                State::Ready(_) => unreachable!("every thread that can run has run"),
            };
            match waiting.iter_mut().find(|w| w.call == call && w.place == place) {
                Some(group) => group.threads.push(thread as u32),
                None => waiting.push(Waiting { call, place, threads: vec![thread as u32] }),
            }
        }
        if exited == self.block_size {
            return Ok(false);
        }
        if barriers < self.block_size || waiting.len() > 1 {
            self.thread.set(waiting[0].threads[0]);
            return Err(FaultKind::Divergence { waiting, exited });
        }
        self.in_races(Races::pass_barrier);
        self.states.iter().for_each(|s| s.set(State::Ready(0)));
        Ok(true)
    }
}

fn race(access: Access, other: Stamp, place: Place) -> FaultKind {
    let Stamp { access: other_access, block: other_block, thread: other_thread, .. } = other;
    FaultKind::Race { access, other_access, other_block, other_thread, place }
}

/// The text of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| s.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "of unknown cause".into())
}
