//! Memory that the host reads and writes itself, and the device too.

use super::malloc::{cuda_free_locked, cuda_free_unified, cuda_malloc_locked, cuda_malloc_unified};
use super::{DeviceCopy, UnifiedPointer};
use crate::context::Owner;
use crate::error::{CudaResult, DropResult};
use crate::private::Sealed;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Values in page-locked memory of the host: the device copies them by itself. It keeps its context.
pub type LockedBuffer<T> = HostBuffer<T, PageLocked>;

/// Values that host and device see at the same address. It keeps its context.
///
/// The host must not look at them while a kernel uses them, which is for those to see to who launch it.
pub type UnifiedBuffer<T> = HostBuffer<T, Unified>;

/// A kind of memory.
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// /// 1, 2, 3, .. in either kind of memory.
/// fn count<M: HostMemory>(len: usize) -> cust::error::CudaResult<HostBuffer<u32, M>> {
///     HostBuffer::from_slice(&Vec::from_iter(1..=len as u32))
/// }
/// # Ok(())
/// # }
/// ```
pub trait HostMemory: Sealed + Debug {
    /// Takes memory for `len` values, which have bytes.
    ///
    /// # Safety
    /// It is written before it is read.
    ///
    /// # Errors
    /// There is not enough memory.
    #[doc(hidden)]
    unsafe fn take<T: DeviceCopy>(len: usize) -> CudaResult<*mut T>;

    /// Gives it back.
    ///
    /// # Safety
    /// It was taken here, and nothing uses it later.
    ///
    /// # Errors
    /// The driver's.
    #[doc(hidden)]
    unsafe fn give_back<T: DeviceCopy>(pointer: *mut T) -> CudaResult<()>;
}

/// Page-locked memory of the host.
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let x: HostBuffer<f64, PageLocked> = LockedBuffer::new(&0.0, 1000)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub enum PageLocked {}

impl Sealed for PageLocked {}
impl HostMemory for PageLocked {
    unsafe fn take<T: DeviceCopy>(len: usize) -> CudaResult<*mut T> {
        // SAFETY: the caller's promise.
        unsafe { cuda_malloc_locked(len) }
    }

    unsafe fn give_back<T: DeviceCopy>(pointer: *mut T) -> CudaResult<()> {
        // SAFETY: the caller's promise.
        unsafe { cuda_free_locked(pointer) }
    }
}

/// Memory that the driver moves to where it is used.
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let x: HostBuffer<f64, Unified> = UnifiedBuffer::new(&0.0, 1000)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub enum Unified {}

impl Sealed for Unified {}
impl HostMemory for Unified {
    unsafe fn take<T: DeviceCopy>(len: usize) -> CudaResult<*mut T> {
        // SAFETY: the caller's promise.
        unsafe { cuda_malloc_unified(len) }.map(|mut pointer| pointer.as_raw_mut())
    }

    unsafe fn give_back<T: DeviceCopy>(pointer: *mut T) -> CudaResult<()> {
        // SAFETY: the caller's promise.
        unsafe { cuda_free_unified(UnifiedPointer::wrap(pointer)) }
    }
}

/// Values in one of the kinds of memory: a [`LockedBuffer`] or a [`UnifiedBuffer`].
///
/// ```no_run
/// # use cust::memory::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let mut x = UnifiedBuffer::from_slice(&[1.0, 2.0, 3.0])?;
/// // A kernel gets `x.as_unified_ptr()`; the host uses it like a slice.
/// x[0] = 7.0;
/// assert_eq!(x.iter().sum::<f64>(), 12.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct HostBuffer<T: DeviceCopy, M: HostMemory> {
    /// Dangling where there are no bytes.
    pointer: NonNull<T>,
    len: usize,
    /// Whether there is memory to give back.
    taken: bool,
    owner: Owner,
    memory: PhantomData<M>,
}

// SAFETY: it owns the values.
unsafe impl<T: Send + DeviceCopy, M: HostMemory> Send for HostBuffer<T, M> {}
// SAFETY: as above.
unsafe impl<T: Sync + DeviceCopy, M: HostMemory> Sync for HostBuffer<T, M> {}

impl<T: DeviceCopy, M: HostMemory> HostBuffer<T, M> {
    /// `len` times the value.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = LockedBuffer::new(&1.5, 1000)?;
    /// assert_eq!(x[999], 1.5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(value: &T, len: usize) -> CudaResult<Self> {
        // SAFETY: all of it is written next.
        let buffer = unsafe { Self::uninitialized(len) }?;
        for i in 0..len {
            // SAFETY: within the buffer.
            unsafe { buffer.pointer.add(i).write(*value) };
        }
        Ok(buffer)
    }

    /// A copy of the slice.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = LockedBuffer::from_slice(&[1.0, 2.0])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn from_slice(slice: &[T]) -> CudaResult<Self> {
        // SAFETY: all of it is written next.
        let buffer = unsafe { Self::uninitialized(slice.len()) }?;
        // SAFETY: that many values are there, elsewhere than those of the slice.
        unsafe { buffer.pointer.as_ptr().copy_from_nonoverlapping(slice.as_ptr(), slice.len()) };
        Ok(buffer)
    }

    /// Memory for this many values.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // SAFETY: a copy from the device fills it before anybody reads it.
    /// let mut x = unsafe { LockedBuffer::<f64>::uninitialized(1000)? };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It is written before it is read.
    ///
    /// # Errors
    /// There is not enough memory.
    pub unsafe fn uninitialized(len: usize) -> CudaResult<Self> {
        let pointer = match len > 0 && size_of::<T>() > 0 {
            // SAFETY: the caller's promise.
            true => unsafe { M::take(len) }?,
            false => std::ptr::null_mut(),
        };
        Ok(Self::of(pointer, len))
    }

    /// A buffer of memory that was taken, or of none.
    fn of(pointer: *mut T, len: usize) -> Self {
        let taken = len > 0 && size_of::<T>() > 0;
        let pointer = NonNull::new(pointer).unwrap_or(NonNull::dangling());
        HostBuffer { pointer, len, taken, owner: Owner::current(), memory: PhantomData }
    }

    /// All of it.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = LockedBuffer::from_slice(&[1.0, 2.0])?;
    /// assert_eq!(x.as_slice(), [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_slice(&self) -> &[T] {
        self
    }

    /// All of it.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let mut x = LockedBuffer::from_slice(&[1.0, 2.0])?;
    /// x.as_mut_slice().fill(0.5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self
    }

    fn free(&mut self) -> CudaResult<()> {
        if self.taken {
            // SAFETY: the memory is owned.
            self.owner.enter(|| unsafe { M::give_back(self.pointer.as_ptr()) })?;
            self.taken = false;
        }
        Ok(())
    }

    /// Gives it back, and returns the driver's answer.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let x = LockedBuffer::from_slice(&[1.0, 2.0])?;
    /// if let Err((error, _x)) = LockedBuffer::drop(x) {
    ///     println!("the driver says {error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's, with the buffer.
    pub fn drop(mut buffer: Self) -> DropResult<Self> {
        buffer.free().map_err(|error| (error, buffer))
    }
}

impl<T: DeviceCopy> LockedBuffer<T> {
    /// Takes over memory.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // SAFETY: the buffer is written before it is read, and alone gives the memory back.
    /// let mut x = unsafe { LockedBuffer::from_raw_parts(cuda_malloc_locked::<f64>(1000)?, 1000) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It came from [`cuda_malloc_locked`] in the current context, has this many values, and nothing else
    /// gives it back.
    pub unsafe fn from_raw_parts(pointer: *mut T, len: usize) -> LockedBuffer<T> {
        HostBuffer::of(pointer, len)
    }
}

impl<T: DeviceCopy> UnifiedBuffer<T> {
    /// Takes over memory.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// // SAFETY: the buffer is written before it is read, and alone gives the memory back.
    /// let mut x = unsafe { UnifiedBuffer::from_raw_parts(cuda_malloc_unified::<f64>(1000)?, 1000) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// It came from [`cuda_malloc_unified`] in the current context, has this many values, and nothing else
    /// gives it back.
    pub unsafe fn from_raw_parts(mut pointer: UnifiedPointer<T>, len: usize) -> UnifiedBuffer<T> {
        HostBuffer::of(pointer.as_raw_mut(), len)
    }

    /// Where it is.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let mut x = UnifiedBuffer::from_slice(&[1.0, 2.0])?;
    /// // What a kernel gets.
    /// let pointer = x.as_unified_ptr();
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_unified_ptr(&mut self) -> UnifiedPointer<T> {
        // SAFETY: the memory came from there, if there is any.
        unsafe { UnifiedPointer::wrap(self.as_mut_ptr()) }
    }
}

impl<T: DeviceCopy, M: HostMemory> Deref for HostBuffer<T, M> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: that many values are there, borrowed with the buffer.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy, M: HostMemory> DerefMut for HostBuffer<T, M> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: that many values are there, borrowed with the buffer.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.len) }
    }
}

impl<T: DeviceCopy, M: HostMemory> AsRef<[T]> for HostBuffer<T, M> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: DeviceCopy, M: HostMemory> AsMut<[T]> for HostBuffer<T, M> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: DeviceCopy, M: HostMemory> Drop for HostBuffer<T, M> {
    fn drop(&mut self) {
        let _ = self.free();
    }
}

impl<T: DeviceCopy, M: HostMemory> Sealed for HostBuffer<T, M> {}
