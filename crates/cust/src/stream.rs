//! Streams: queues of work for the device, each carried out in order.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use cust::prelude::*;
//!
//! let _context = cust::quick_init()?;
//! # let module = Module::from_ptx("", &[])?;
//! let stream = Stream::new(StreamFlags::DEFAULT, None)?;
//! // SAFETY: the kernels take nothing.
//! unsafe {
//!     launch!(module.first<<<8, 32, 0, stream>>>())?;
//!     // Begins when the first has ended.
//!     launch!(module.second<<<8, 32, 0, stream>>>())?;
//! }
//! stream.synchronize()?;
//! # Ok(())
//! # }
//! ```

use crate::context::Owner;
use crate::error::{CudaResult, DropResult, ToResult};
use crate::sys::{self, CUstream};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

bitflags::bitflags! {
    /// How a stream and the legacy stream are in order.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct StreamFlags: u32 {
        /// What is queued on the legacy stream waits for this one, and the other way round.
        const DEFAULT = 0x00;
        /// They do not wait for each other. [`Stream::new`] does not take it, as in cust 0.3.
        const NON_BLOCKING = 0x01;
    }
}

bitflags::bitflags! {
    /// Flags of [`Stream::wait_event`].
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use cust::stream::StreamWaitEventFlags;
    /// # let _context = cust::quick_init()?;
    /// # let (stream, event) = (Stream::new(StreamFlags::DEFAULT, None)?, Event::new(EventFlags::DEFAULT)?);
    /// stream.wait_event(&event, StreamWaitEventFlags::DEFAULT)?;
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct StreamWaitEventFlags: u32 {
        /// The default.
        const DEFAULT = 0x0;
    }
}

/// A stream. It keeps its context.
///
/// ```no_run
/// # use cust::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// // Work on these two may be done at the same time.
/// let one = Stream::new(StreamFlags::DEFAULT, None)?;
/// let other = Stream::new(StreamFlags::DEFAULT, None)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Stream {
    /// Null once it is given back.
    stream: CUstream,
    owner: Owner,
}

// SAFETY: any thread may use the handle; the driver locks what is behind it.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// Makes a stream in the current context, with priority 0 if none is given.
    ///
    /// [`StreamFlags::NON_BLOCKING`] is dropped, as cust 0.3 does: copies that name no stream, as that of
    /// [`DeviceBuffer::from_slice`](crate::memory::DeviceBuffer::from_slice), go to the legacy stream, and
    /// may still be under way when they return. A kernel on a stream that does not wait for them would read
    /// too early.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // In front of those with priority 0.
    /// let stream = Stream::new(StreamFlags::DEFAULT, Some(-1))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn new(flags: StreamFlags, priority: Option<i32>) -> CudaResult<Stream> {
        let flags = flags.difference(StreamFlags::NON_BLOCKING);
        let mut stream = std::ptr::null_mut();
        // SAFETY: `stream` is writable.
        unsafe { sys::cuStreamCreateWithPriority(&mut stream, flags.bits(), priority.unwrap_or(0)) }
            .to_result()?;
        Ok(Stream { stream, owner: Owner::current() })
    }

    /// Its flags.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// assert_eq!(stream.get_flags()?, StreamFlags::DEFAULT);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn get_flags(&self) -> CudaResult<StreamFlags> {
        let mut flags = 0;
        // SAFETY: the handle is alive, and `flags` is writable.
        unsafe { sys::cuStreamGetFlags(self.stream, &mut flags) }.to_result()?;
        Ok(StreamFlags::from_bits_truncate(flags))
    }

    /// Its priority, which is the nearest to the one asked for that the device has.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// assert_eq!(stream.get_priority()?, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn get_priority(&self) -> CudaResult<i32> {
        let mut priority = 0;
        // SAFETY: the handle is alive, and `priority` is writable.
        unsafe { sys::cuStreamGetPriority(self.stream, &mut priority) }.to_result()?;
        Ok(priority)
    }

    /// Queues a call on the host, on a thread of the driver. It must not call the driver. What it panics with
    /// is lost.
    ///
    /// Unlike in cust 0.3 it must not borrow (`'static`): nothing makes the caller wait for it.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// let (send, receive) = std::sync::mpsc::channel();
    /// stream.add_callback(Box::new(move || {
    ///     let _ = send.send("done");
    /// }))?;
    /// assert_eq!(receive.recv()?, "done");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn add_callback<T>(&self, callback: Box<T>) -> CudaResult<()>
    where
        T: FnOnce() + Send + 'static,
    {
        let callback = Box::into_raw(callback);
        // SAFETY: the driver calls the function once, with this pointer.
        let status = unsafe { sys::cuLaunchHostFunc(self.stream, Some(call::<T>), callback.cast()) };
        status.to_result().inspect_err(|_| {
            // SAFETY: it was not queued, and so is not called.
            drop(unsafe { Box::from_raw(callback) });
        })
    }

    /// Waits until all that is queued is done.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// // The error of a kernel that failed comes here.
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The fault of a kernel that ran before.
    pub fn synchronize(&self) -> CudaResult<()> {
        // SAFETY: the handle is alive.
        unsafe { sys::cuStreamSynchronize(self.stream) }.to_result()
    }

    /// The driver's handle.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// // SAFETY: the stream is alive.
    /// let status = unsafe { cust::sys::cuStreamSynchronize(stream.as_inner()) };
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_inner(&self) -> CUstream {
        self.stream
    }

    fn destroy(&mut self) -> CudaResult<()> {
        if !self.stream.is_null() {
            // SAFETY: the handle is owned. What is queued is carried out.
            self.owner.enter(|| unsafe { sys::cuStreamDestroy_v2(self.stream) }.to_result())?;
            self.stream = std::ptr::null_mut();
        }
        Ok(())
    }

    /// Gives it back, and returns the driver's answer. What is queued is carried out.
    ///
    /// ```no_run
    /// # use cust::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// if let Err((error, _stream)) = Stream::drop(stream) {
    ///     println!("the driver says {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's, with the stream.
    pub fn drop(mut stream: Stream) -> DropResult<Stream> {
        stream.destroy().map_err(|error| (error, stream))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.destroy();
    }
}

/// What the driver calls for [`Stream::add_callback`].
///
/// # Safety
/// `callback` comes from `Box::<T>::into_raw`, and this is called once.
unsafe extern "system" fn call<T: FnOnce()>(callback: *mut c_void) {
    // SAFETY: the caller's promise.
    let callback = unsafe { Box::from_raw(callback.cast::<T>()) };
    // A panic must not unwind into the driver.
    let _ = catch_unwind(AssertUnwindSafe(callback));
}
