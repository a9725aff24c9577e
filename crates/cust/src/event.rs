//! Events: marks in streams. A program can wait for one, and measure the time between two.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::prelude::*;
//!
//! let _context = cust::quick_init()?;
//! let stream = Stream::new(StreamFlags::DEFAULT, None)?;
//! let (start, end) = (Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?);
//! start.record(&stream)?;
//! // Kernels are queued here.
//! end.record(&stream)?;
//! end.synchronize()?;
//! println!("{:?}", end.elapsed(&start)?);
//! # Ok(())
//! # }
//! ```

use crate::context::Owner;
use crate::error::{CudaError, CudaResult, DropResult, ToResult};
use crate::stream::{Stream, StreamWaitEventFlags};
use crate::sys::{self, CUevent};
use std::borrow::Borrow;
use std::time::Duration;

bitflags::bitflags! {
    /// What an event is for.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // Only for one stream to wait for another.
    /// let event = Event::new(EventFlags::DISABLE_TIMING)?;
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct EventFlags: u32 {
        /// The default.
        const DEFAULT = 0x0;
        /// A thread that waits for it sleeps.
        const BLOCKING_SYNC = 0x1;
        /// It records no time, and costs less.
        const DISABLE_TIMING = 0x2;
        /// Other processes may use it. It records no time.
        const INTERPROCESS = 0x4;
    }
}

/// Whether what was queued before an event is done.
///
/// ```no_run
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// # let event = Event::new(EventFlags::DEFAULT)?;
/// if event.query()? == EventStatus::NotReady {
///     println!("still at work");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventStatus {
    /// All of it is done.
    Ready,
    /// Some of it is not.
    NotReady,
}

/// An event. It keeps its context.
///
/// ```no_run
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
/// let done = Event::new(EventFlags::DEFAULT)?;
/// done.record(&stream)?;
/// done.synchronize()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Event {
    /// Null once it is given back.
    event: CUevent,
    owner: Owner,
}

// SAFETY: any thread may use the handle; the driver locks what is behind it.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Makes an event in the current context.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let event = Event::new(EventFlags::BLOCKING_SYNC)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn new(flags: EventFlags) -> CudaResult<Event> {
        let mut event = std::ptr::null_mut();
        // SAFETY: `event` is writable.
        unsafe { sys::cuEventCreate(&mut event, flags.bits()) }.to_result()?;
        Ok(Event { event, owner: Owner::current() })
    }

    /// Puts it behind what is queued on the stream now.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # let event = Event::new(EventFlags::DEFAULT)?;
    /// event.record(&stream)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The stream is of another context.
    pub fn record(&self, stream: &Stream) -> CudaResult<()> {
        // SAFETY: both handles are alive.
        unsafe { sys::cuEventRecord(self.event, stream.as_inner()) }.to_result()
    }

    /// Whether what is in front of it is done. An event that was never recorded is ready.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let event = Event::new(EventFlags::DEFAULT)?;
    /// while event.query()? == EventStatus::NotReady {
    ///     std::thread::yield_now();
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The fault of a kernel that ran before.
    pub fn query(&self) -> CudaResult<EventStatus> {
        // SAFETY: the handle is alive.
        match unsafe { sys::cuEventQuery(self.event) }.to_result() {
            Ok(()) => Ok(EventStatus::Ready),
            Err(CudaError::NotReady) => Ok(EventStatus::NotReady),
            Err(error) => Err(error),
        }
    }

    /// Waits until what is in front of it is done.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # let event = Event::new(EventFlags::DEFAULT)?;
    /// event.record(&stream)?;
    /// event.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The fault of a kernel that ran before.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: the handle is alive.
        unsafe { sys::cuEventSynchronize(self.event) }.to_result()
    }

    /// Milliseconds since `start`, to about half a microsecond.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let (start, end) = (Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?);
    /// println!("{:.3} ms", end.elapsed_time_f32(&start)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// One of the two was not recorded, has not been reached ([`CudaError::NotReady`]), or records no time.
    pub fn elapsed_time_f32(&self, start: &Event) -> CudaResult<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: both handles are alive, and `milliseconds` is writable.
        unsafe { sys::cuEventElapsedTime(&mut milliseconds, start.event, self.event) }.to_result()?;
        Ok(milliseconds)
    }

    /// The time since `start`; nothing where `start` came later.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let (start, end) = (Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?);
    /// let gigabytes_per_second = 1.0 / end.elapsed(&start)?.as_secs_f64();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Event::elapsed_time_f32`].
    pub fn elapsed(&self, start: &Event) -> CudaResult<Duration> {
        let nanoseconds = f64::from(self.elapsed_time_f32(start)?) * 1e6;
        Ok(Duration::from_nanos(nanoseconds as u64))
    }

    /// The driver's handle.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let event = Event::new(EventFlags::DEFAULT)?;
    /// // SAFETY: the event is alive.
    /// let status = unsafe { cust::sys::cuEventQuery(event.as_inner()) };
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_inner(&self) -> CUevent {
        self.event
    }

    fn destroy(&mut self) -> CudaResult<()> {
        if !self.event.is_null() {
            // SAFETY: the handle is owned. What waits for the event goes on waiting.
            self.owner.enter(|| unsafe { sys::cuEventDestroy_v2(self.event) }.to_result())?;
            self.event = std::ptr::null_mut();
        }
        Ok(())
    }

    /// Gives it back, and returns the driver's answer.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let event = Event::new(EventFlags::DEFAULT)?;
    /// if let Err((error, _event)) = Event::drop(event) {
    ///     println!("the driver says {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's, with the event.
    pub fn drop(mut event: Event) -> DropResult<Event> {
        event.destroy().map_err(|error| (error, event))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = self.destroy();
    }
}

impl Stream {
    /// Lets what is queued from now on wait for an event, which may be of another stream or device. The event
    /// may be dropped at once; unlike in cust 0.3 it can also be borrowed.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use cust::stream::StreamWaitEventFlags;
    /// # let _context = cust::quick_init()?;
    /// # let copies = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # let kernels = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # let copied = Event::new(EventFlags::DISABLE_TIMING)?;
    /// copied.record(&copies)?;
    /// // Kernels that are queued from now on find the copies done.
    /// kernels.wait_event(&copied, StreamWaitEventFlags::DEFAULT)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn wait_event<E: Borrow<Event>>(&self, event: E, flags: StreamWaitEventFlags) -> CudaResult<()> {
        // SAFETY: both handles are alive.
        unsafe { sys::cuStreamWaitEvent(self.as_inner(), event.borrow().as_inner(), flags.bits()) }
            .to_result()
    }
}
