//! Launches of several columns as one.

use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuda_std::host::Kernel;

use crate::backend::columns::AtOnce;
use crate::error::Result;
use crate::launch::{Address, Batch, Launch, notice};

/// Launches that wait to be made as one, where columns do the same at once: each takes a part of the device,
/// and the time from one launch to the next.
pub(crate) struct Together {
    device: Arc<dyn Launch>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether launches may wait.
    is_open: bool,
    waiting: Option<Waiting>,
}

/// Launches of one kernel.
struct Waiting {
    batch: Batch,
    grid: [u32; 2],
    bytes: Option<u64>,
    /// What tells the columns apart.
    columns: Vec<Address>,
    caller: &'static Location<'static>,
}

impl Together {
    /// On a device that takes batches.
    pub fn on(device: &Arc<dyn Launch>) -> Option<Arc<Together>> {
        let together = || Arc::new(Together { device: device.clone(), state: Mutex::default() });
        device.takes_batches().then(together)
    }

    /// Whether the kernel of a column, on so many blocks of so many threads, waits here from now on. If not,
    /// what is to run before it is queued.
    #[track_caller]
    pub fn takes(
        &self,
        column: Address,
        bytes: Option<u64>,
        grid: [u32; 2],
        kernel: &dyn Kernel,
    ) -> Result<bool> {
        let mut state = self.state();
        if !state.is_open {
            return Ok(false);
        }
        let Some(set) = kernel.batched() else {
            self.queue(&mut state)?;
            return Ok(false);
        };
        if let Some(waiting) = &mut state.waiting
            && waiting.grid == grid
            && !waiting.columns.contains(&column)
            && waiting.batch.takes(set)
        {
            waiting.columns.push(column);
            waiting.bytes = waiting.bytes.zip(bytes).map(|(bytes, more)| bytes + more);
            return Ok(true);
        }
        self.queue(&mut state)?;
        let (batch, columns, caller) = (Batch::of(set), vec![column], Location::caller());
        state.waiting = Some(Waiting { batch, grid, bytes, columns, caller });
        Ok(true)
    }

    /// Queues what waits.
    fn queue(&self, state: &mut State) -> Result<()> {
        let Some(Waiting { batch, grid: [grid, block], bytes, caller, .. }) = state.waiting.take() else {
            return Ok(());
        };
        let blocks = grid * batch.count() as u32;
        notice::launch(self.device.info(), batch.name(), [blocks, block], caller);
        // SAFETY: whoever launched each of them has vouched for it, and they are of different columns.
        unsafe { self.device.launch_batch(bytes, grid, block, &batch) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AtOnce for Together {
    fn begin(&self) {
        self.state().is_open = true;
    }

    fn end(&self) -> Result<()> {
        let mut state = self.state();
        state.is_open = false;
        self.queue(&mut state)
    }
}
