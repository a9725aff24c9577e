//! Ranks that are threads of one process.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use super::Comm;
use super::one_process::{Alarm, Item, OneProcess};
use crate::error::{Error, Result};

/// How often a rank that waits looks whether another has failed.
const LOOK: Duration = Duration::from_millis(20);
/// Times that a rank asks for a message before it sleeps: some microseconds, for what is nearly there. Asking
/// for longer gained nothing.
const TRIES: u32 = 100;

/// One rank of a team of threads.
pub struct Team {
    rank: usize,
    shared: Arc<Shared>,
}

struct Shared {
    size: usize,
    /// From each rank to each: that from `p` to `q` is at `p size + q`.
    boxes: Vec<Mailbox>,
    failure: OnceLock<(usize, String)>,
    /// Called when a rank fails.
    alarms: Mutex<Vec<Weak<Alarm>>>,
    /// What each rank [shares](OneProcess::share_items) now.
    items: Mutex<Vec<Option<Item>>>,
}

#[derive(Default)]
struct Mailbox {
    messages: Mutex<VecDeque<Vec<u8>>>,
    arrived: Condvar,
}

impl Team {
    /// A team of `size` ranks, which is one for each of as many threads.
    pub fn new(size: usize) -> Vec<Team> {
        let boxes = (0..size * size).map(|_| Mailbox::default()).collect();
        let (failure, alarms, items) = (OnceLock::new(), Mutex::default(), Mutex::new(vec![None; size]));
        let shared = Arc::new(Shared { size, boxes, failure, alarms, items });
        (0..size).map(|rank| Team { rank, shared: shared.clone() }).collect()
    }

    fn mailbox(&self, from: usize, to: usize) -> &Mailbox {
        &self.shared.boxes[from * self.shared.size + to]
    }

    fn check(&self) -> Result<()> {
        match self.shared.failure.get() {
            None => Ok(()),
            Some((rank, why)) => Err(Error::Rank { rank: *rank, message: why.clone() }),
        }
    }
}

/// The messages; a thread that panicked while it held them left them whole.
fn held(messages: &Mutex<VecDeque<Vec<u8>>>) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
    messages.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Comm for Team {
    fn rank(&self) -> usize {
        self.rank
    }
    fn size(&self) -> usize {
        self.shared.size
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<()> {
        self.check()?;
        let mailbox = self.mailbox(self.rank, to);
        held(&mailbox.messages).push_back(message.to_vec());
        mailbox.arrived.notify_one();
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>> {
        let mailbox = self.mailbox(from, self.rank);
        for _ in 0..TRIES {
            if let Some(message) = held(&mailbox.messages).pop_front() {
                return Ok(message);
            }
            std::hint::spin_loop();
        }
        let mut messages = held(&mailbox.messages);
        loop {
            if let Some(message) = messages.pop_front() {
                return Ok(message);
            }
            self.check()?;
            let woken = mailbox.arrived.wait_timeout(messages, LOOK);
            messages = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn exchange(&self, sends: &[(usize, &[u8])], receives: &mut [(usize, &mut [u8])]) -> Result<()> {
        for &(to, message) in sends {
            self.send(to, message)?;
        }
        for (from, place) in receives {
            let message = self.receive(*from)?;
            if message.len() != place.len() {
                let why = format!("{} bytes came where {} were expected", message.len(), place.len());
                return Err(Error::Rank { rank: *from, message: why });
            }
            place.copy_from_slice(&message);
        }
        Ok(())
    }

    fn all_gather(&self, mine: &[f64]) -> Result<Vec<f64>> {
        let ranks = 0..self.size();
        for to in ranks.clone().filter(|&to| to != self.rank) {
            self.send(to, bytemuck::cast_slice(mine))?;
        }
        let mut all = Vec::with_capacity(self.size() * mine.len());
        for from in ranks {
            if from == self.rank {
                all.extend_from_slice(mine);
            } else {
                all.extend(bytemuck::pod_collect_to_vec::<u8, f64>(&self.receive(from)?));
            }
        }
        Ok(all)
    }

    fn broadcast(&self, message: &mut Vec<u8>) -> Result<()> {
        if self.rank == 0 {
            return (1..self.size()).try_for_each(|to| self.send(to, message));
        }
        *message = self.receive(0)?;
        Ok(())
    }

    fn fail(&self, why: &str) {
        // The first failure is the cause of the others.
        let _ = self.shared.failure.set((self.rank, why.into()));
        self.shared.boxes.iter().for_each(|mailbox| mailbox.arrived.notify_all());
        let alarms = self.shared.alarms.lock().unwrap_or_else(PoisonError::into_inner);
        alarms.iter().filter_map(Weak::upgrade).for_each(|alarm| alarm());
    }

    fn one_process(&self) -> Option<&dyn OneProcess> {
        Some(self)
    }
}

impl OneProcess for Team {
    fn share_items(&self, mine: Item) -> Result<Vec<Item>> {
        let items = || self.shared.items.lock().unwrap_or_else(PoisonError::into_inner);
        items()[self.rank] = Some(mine);
        self.barrier()?;
        let all = items().iter().flatten().cloned().collect();
        // Nobody takes its own away before all have taken it.
        self.barrier()?;
        items()[self.rank] = None;
        Ok(all)
    }
    fn on_failure(&self, alarm: &Arc<Alarm>) {
        let mut alarms = self.shared.alarms.lock().unwrap_or_else(PoisonError::into_inner);
        if self.has_failed() {
            alarm();
        }
        alarms.retain(|alarm| alarm.strong_count() > 0);
        alarms.push(Arc::downgrade(alarm));
    }
    fn has_failed(&self) -> bool {
        self.shared.failure.get().is_some()
    }
}
