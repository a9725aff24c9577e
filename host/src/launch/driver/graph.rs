//! Work that is recorded once and then queued as a whole (CUDA graphs).
//!
//! A launch costs the host some microseconds, and an iteration that launches a hundred short kernels is bound
//! by that. A graph of all of them is queued by one call.
//!
//! What is recorded goes to a stream made for it, by the one thread that records; other threads go on
//! queueing on the driver's stream.

use super::status::failed;
use crate::error::Result;
use crate::launch::switch::is_on;
use cust::context::{Context, CurrentContext};
use cust::stream::{Stream, StreamFlags};
use cust::sys::{self, CUgraph, CUgraphExec, CUresult, CUstream, CUstreamCaptureMode};
use std::cell::Cell;
use std::sync::Arc;

/// Set to `0` it keeps solvers from recording their iterations, for measurements. It is read when a
/// [`Driver`](super::Driver) is opened.
pub const GRAPHS_VARIABLE: &str = "WARPSOLVE_GRAPHS";

const SUCCESS: CUresult = CUresult::CUDA_SUCCESS;

/// Whether to record, as [`GRAPHS_VARIABLE`] says.
pub(super) fn from_env() -> bool {
    is_on(GRAPHS_VARIABLE)
}

/// A recording under way on this thread.
#[derive(Clone, Copy)]
pub(super) struct Recording {
    /// Where the context of the driver that records is: its identity.
    context: *const Context,
    /// Where its work goes.
    pub(super) stream: CUstream,
    /// Whether kernels may start before those in front of them have ended.
    pub(super) overlap: bool,
    launches: u64,
    /// Whether something was asked for that cannot be recorded.
    refused: bool,
}

thread_local! {
    static RECORDING: Cell<Option<Recording>> = const { Cell::new(None) };
}

/// What this thread records for the driver with that context.
pub(super) fn recording(context: &Arc<Context>) -> Option<Recording> {
    RECORDING.get().filter(|recording| recording.context == Arc::as_ptr(context))
}

/// Counts a kernel to the recording of this thread.
pub(super) fn count_launch() {
    let count = |recording: Recording| Recording { launches: recording.launches + 1, ..recording };
    RECORDING.set(RECORDING.get().map(count));
}

/// Spoils the recording of this thread.
pub(super) fn refuse() {
    RECORDING.set(RECORDING.get().map(|recording| Recording { refused: true, ..recording }));
}

/// Makes this thread record, until it is dropped.
struct Recorder {
    outer: Option<Recording>,
}

impl Recorder {
    fn start(recording: Recording) -> Recorder {
        Recorder { outer: RECORDING.replace(Some(recording)) }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        RECORDING.set(self.outer);
    }
}

/// Recorded work, ready to be launched.
pub(super) struct Recorded {
    pub(super) graph: CUgraphExec,
    /// The kernels in it.
    pub(super) launches: u64,
    context: Arc<Context>,
}

// SAFETY: any thread may use the handle while its context is current there.
unsafe impl Send for Recorded {}

impl Recorded {
    /// Whether it was recorded by the driver with that context.
    pub(super) fn is_of(&self, context: &Arc<Context>) -> bool {
        Arc::ptr_eq(&self.context, context)
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if CurrentContext::set_current(&*self.context).is_ok() {
            // SAFETY: the handle is owned. The driver keeps what is queued of it until that is carried out.
            unsafe { sys::cuGraphExecDestroy(self.graph) };
        }
    }
}

/// What was captured. Null where capturing failed.
struct Captured(CUgraph);

impl Drop for Captured {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the handle is owned, and executable graphs are copies of it.
            unsafe { sys::cuGraphDestroy(self.0) };
        }
    }
}

/// Records what `work` queues, in the context, which is current. None where the driver cannot, or `work` is
/// not made for it.
///
/// # Errors
/// Those of `work` that are its own.
pub(super) fn record(
    context: &Arc<Context>,
    overlap: bool,
    work: &mut dyn FnMut() -> Result<()>,
) -> Result<Option<Recorded>> {
    let stream = Stream::new(StreamFlags::DEFAULT, None).map_err(failed("cuStreamCreate"))?;
    // Relaxed: this thread may do what is no part of the graph, as loading a kernel that was not used before.
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the stream is of the current context, and nothing else uses it.
    if unsafe { sys::cuStreamBeginCapture_v2(stream.as_inner(), mode) } != SUCCESS {
        return Ok(None);
    }
    let recorder = Recorder::start(Recording {
        context: Arc::as_ptr(context),
        stream: stream.as_inner(),
        overlap,
        launches: 0,
        refused: false,
    });
    let worked = work();
    let (launches, refused) = RECORDING.get().map_or((0, true), |now| (now.launches, now.refused));
    drop(recorder);
    let mut captured = Captured(std::ptr::null_mut());
    // SAFETY: capturing has begun above; the handle is writable.
    let ended = unsafe { sys::cuStreamEndCapture(stream.as_inner(), &mut captured.0) };
    if refused {
        return Ok(None);
    }
    worked?;
    let mut graph = std::ptr::null_mut();
    // SAFETY: the graph is valid where capturing ended well; the handle is writable.
    let ready = ended == SUCCESS
        && !captured.0.is_null()
        && unsafe { sys::cuGraphInstantiateWithFlags(&mut graph, captured.0, 0) } == SUCCESS;
    Ok(ready.then(|| Recorded { graph, launches, context: Arc::clone(context) }))
}
