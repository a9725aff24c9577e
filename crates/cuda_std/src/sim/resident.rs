//! A block that has its place: what its threads are at, and its shared memory.

use super::copies::{Bulk, Copies};
use super::exchange::State;
use super::shared::SharedMemory;
use corosensei::{Coroutine, Yielder};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::Location;

/// A thread that has been started and has not exited.
pub(super) type Thread = Coroutine<u64, (), ()>;

/// The place of a block. Everything that changes is in cells, because a thread is suspended inside of the
/// methods it calls.
pub(super) struct Resident {
    /// The number of the block.
    pub block: Cell<u32>,
    pub states: Vec<Cell<State>>,
    /// Which threads have called `grid_dependency_wait`.
    pub waited: Vec<Cell<bool>>,
    /// How to suspend each thread.
    pub yielders: Vec<Cell<*const Yielder<u64, ()>>>,
    /// What each thread has asked for to be copied.
    pub copies: Vec<RefCell<Copies>>,
    /// The barriers of bulk copies, by the array that they are in.
    pub bulk: RefCell<HashMap<usize, Bulk>>,
    pub threads: RefCell<Vec<Option<Thread>>>,
    pub shared: SharedMemory,
    /// How often each thread has arrived at a barrier of the cluster, and how often it has waited there.
    pub arrived: Vec<Cell<u32>>,
    pub passed: Vec<Cell<u32>>,
    /// The last of the other blocks' accesses to its shared memory: how often the thread had arrived.
    pub remote: Cell<Option<(u32, &'static Location<'static>)>>,
}

impl Resident {
    /// For blocks of so many threads, with so many bytes of dynamic shared memory.
    pub fn new(threads: u32, shared_bytes: u32) -> Self {
        let threads = threads as usize;
        Self {
            block: Cell::new(0),
            states: vec![Cell::new(State::Exited); threads],
            waited: vec![Cell::new(false); threads],
            yielders: vec![Cell::new(std::ptr::null()); threads],
            copies: (0..threads).map(|_| RefCell::default()).collect(),
            bulk: RefCell::default(),
            threads: RefCell::new((0..threads).map(|_| None).collect()),
            shared: SharedMemory::new(shared_bytes),
            arrived: vec![Cell::new(0); threads],
            passed: vec![Cell::new(0); threads],
            remote: Cell::new(None),
        }
    }

    /// Takes a block, of which no thread has started.
    pub fn take(&self, block: u32) {
        self.block.set(block);
        self.states.iter().for_each(|state| state.set(State::Ready(0)));
        self.waited.iter().for_each(|waited| waited.set(false));
        self.copies.iter().for_each(|copies| drop(copies.take()));
        self.arrived.iter().chain(&self.passed).for_each(|count| count.set(0));
        self.remote.set(None);
        self.bulk.borrow_mut().clear();
        self.shared.clear();
    }

    /// Whether one of its threads can go on.
    pub fn can_run(&self) -> bool {
        self.states.iter().any(|state| matches!(state.get(), State::Ready(_)))
    }

    pub fn has_ended(&self) -> bool {
        self.states.iter().all(|state| matches!(state.get(), State::Exited))
    }

    /// Ends its threads where they are.
    pub fn clear(&self) {
        self.threads.borrow_mut().iter_mut().for_each(|thread| drop(thread.take()));
    }
}
