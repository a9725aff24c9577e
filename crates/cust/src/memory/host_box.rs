//! One value that the host reads and writes itself, and the device too.

use super::host::{HostBuffer, HostMemory, PageLocked, Unified};
use super::{DeviceCopy, UnifiedPointer};
use crate::error::{CudaResult, DropResult};
use crate::private::Sealed;
use std::borrow::{Borrow, BorrowMut};
use std::fmt::{self, Display};
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// A value in page-locked memory of the host. It keeps its context.
pub type LockedBox<T> = HostBox<T, PageLocked>;

/// A value that host and device see at the same address. It keeps its context.
///
/// The host must not look at it while a kernel uses it, which is for those to see to who launch it.
pub type UnifiedBox<T> = HostBox<T, Unified>;

/// A value in one of the kinds of memory: a [`LockedBox`] or a [`UnifiedBox`].
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let mut limit = UnifiedBox::new(100_u32)?;
/// // A kernel gets `limit.as_unified_ptr()`; the host uses it like a number.
/// *limit += 1;
/// assert_eq!(*limit, 101);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct HostBox<T: DeviceCopy, M: HostMemory> {
    /// Of one value.
    buffer: HostBuffer<T, M>,
}

impl<T: DeviceCopy, M: HostMemory> HostBox<T, M> {
    /// Memory for a value.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // SAFETY: written next.
    /// let mut count = unsafe { LockedBox::<u32>::uninitialized()? };
    /// *count = 0;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It is written before it is read.
    ///
    /// # Errors
    /// There is not enough memory.
    pub unsafe fn uninitialized() -> CudaResult<Self> {
        // SAFETY: the caller's promise.
        Ok(HostBox { buffer: unsafe { HostBuffer::uninitialized(1) }? })
    }

    /// Gives it back, and returns the driver's answer.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let count = LockedBox::new(&0_u32)?;
    /// if let Err((error, _count)) = LockedBox::drop(count) {
    ///     println!("the driver says {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's, with the box.
    pub fn drop(this: Self) -> DropResult<Self> {
        HostBuffer::drop(this.buffer).map_err(|(error, buffer)| (error, HostBox { buffer }))
    }
}

impl<T: DeviceCopy> LockedBox<T> {
    /// A copy of the value.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let count = LockedBox::new(&7_u32)?;
    /// assert_eq!(*count, 7);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(value: &T) -> CudaResult<Self> {
        Ok(HostBox { buffer: HostBuffer::new(value, 1)? })
    }

    /// Takes over memory.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let pointer = LockedBox::new(&7_u32)?.into_raw();
    /// // SAFETY: the box gave it away.
    /// let count = unsafe { LockedBox::from_raw(pointer) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It came from [`cuda_malloc_locked`](super::cuda_malloc_locked) in the current context, has a value,
    /// and nothing else gives it back.
    pub unsafe fn from_raw(pointer: *mut T) -> Self {
        // SAFETY: the caller's promise.
        HostBox { buffer: unsafe { HostBuffer::<T, PageLocked>::from_raw_parts(pointer, 1) } }
    }

    /// Its memory, which is not given back any more.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let pointer = LockedBox::new(&7_u32)?.into_raw();
    /// // SAFETY: nothing uses it later.
    /// unsafe { cuda_free_locked(pointer)? };
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_raw(self) -> *mut T {
        ManuallyDrop::new(self).as_raw()
    }

    /// Where it is.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let count = LockedBox::new(&7_u32)?;
    /// // SAFETY: the box is there.
    /// assert_eq!(unsafe { *count.as_raw() }, 7);
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_raw(&self) -> *mut T {
        self.buffer.as_ptr().cast_mut()
    }
}

impl<T: DeviceCopy> UnifiedBox<T> {
    /// With a value.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let count = UnifiedBox::new(7_u32)?;
    /// assert_eq!(*count, 7);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(value: T) -> CudaResult<Self> {
        Ok(HostBox { buffer: HostBuffer::new(&value, 1)? })
    }

    /// Takes over memory.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let pointer = UnifiedBox::into_unified(UnifiedBox::new(7_u32)?).as_raw_mut();
    /// // SAFETY: the box gave it away.
    /// let count = unsafe { UnifiedBox::from_raw(pointer) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// As for [`from_unified`](Self::from_unified).
    pub unsafe fn from_raw(pointer: *mut T) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_unified(UnifiedPointer::wrap(pointer)) }
    }

    /// Takes over memory.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let pointer = UnifiedBox::into_unified(UnifiedBox::new(7_u32)?);
    /// // SAFETY: the box gave it away.
    /// let count = unsafe { UnifiedBox::from_unified(pointer) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It came from [`cuda_malloc_unified`](super::cuda_malloc_unified) in the current context, has a value,
    /// and nothing else gives it back.
    pub unsafe fn from_unified(pointer: UnifiedPointer<T>) -> Self {
        // SAFETY: the caller's promise.
        HostBox { buffer: unsafe { HostBuffer::<T, Unified>::from_raw_parts(pointer, 1) } }
    }

    /// Its memory, which is not given back any more.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let pointer = UnifiedBox::into_unified(UnifiedBox::new(7_u32)?);
    /// // SAFETY: nothing uses it later.
    /// unsafe { cuda_free_unified(pointer)? };
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_unified(this: Self) -> UnifiedPointer<T> {
        ManuallyDrop::new(this).as_unified_ptr()
    }

    /// Where it is.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let count = UnifiedBox::new(7_u32)?;
    /// // What a kernel gets.
    /// let pointer = count.as_unified_ptr();
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_unified_ptr(&self) -> UnifiedPointer<T> {
        // SAFETY: the memory came from there.
        unsafe { UnifiedPointer::wrap(self.buffer.as_ptr().cast_mut()) }
    }

    /// The value, for as long as the program runs.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let limit: &'static mut u32 = UnifiedBox::leak(UnifiedBox::new(100)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn leak<'a>(this: Self) -> &'a mut T
    where
        T: 'a,
    {
        // SAFETY: the memory holds a value, and nothing gives it back.
        unsafe { &mut *Self::into_unified(this).as_raw_mut() }
    }
}

impl<T: DeviceCopy, M: HostMemory> Deref for HostBox<T, M> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.buffer[0]
    }
}

impl<T: DeviceCopy, M: HostMemory> DerefMut for HostBox<T, M> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.buffer[0]
    }
}

impl<T: DeviceCopy, M: HostMemory> AsRef<T> for HostBox<T, M> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: DeviceCopy, M: HostMemory> AsMut<T> for HostBox<T, M> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: DeviceCopy, M: HostMemory> Borrow<T> for HostBox<T, M> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: DeviceCopy, M: HostMemory> BorrowMut<T> for HostBox<T, M> {
    fn borrow_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: DeviceCopy + Display, M: HostMemory> Display for HostBox<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: DeviceCopy + PartialEq, M: HostMemory> PartialEq for HostBox<T, M> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: DeviceCopy, M: HostMemory> Sealed for HostBox<T, M> {}
