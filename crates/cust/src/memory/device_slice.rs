//! A part of a buffer on the device.

use super::copy::{AsyncCopyDestination, CopyDestination, download, same_length, upload};
use super::{DeviceCopy, DevicePointer};
use crate::error::{CudaError, CudaResult, ToResult};
use crate::private::Sealed;
use crate::stream::Stream;
use crate::sys::{self, CUdeviceptr};
use bytemuck::{Pod, Zeroable};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::ptr::slice_from_raw_parts_mut;

/// Values that follow each other in device memory: what `[T]` is on the host.
///
/// It comes as `&DeviceSlice<T>` and `&mut DeviceSlice<T>`, which borrow a buffer. In cust 0.3 it is a
/// pointer and a length that can be copied, and used when the buffer is gone.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let _context = cust::quick_init()?;
/// let x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
/// let last: &DeviceSlice<f64> = x.index(1..);
/// assert_eq!(last.as_host_vec()?, [2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[repr(transparent)]
pub struct DeviceSlice<T: DeviceCopy> {
    kind: PhantomData<T>,
    /// A slice of nothing: a reference to it holds an address on the device and a length, and
    /// is never followed.
    place: [()],
}

/// Stands for the null pointer, which a reference cannot be.
const NOWHERE: CUdeviceptr = 1;

impl<T: DeviceCopy> DeviceSlice<T> {
    /// A slice by its address and length.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
    /// // SAFETY: the buffer has these two, and is there.
    /// let first = unsafe { DeviceSlice::from_raw_parts(x.as_device_ptr(), 2) };
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The memory has this many values, and is there as long as the reference is.
    pub unsafe fn from_raw_parts<'a>(pointer: DevicePointer<T>, len: usize) -> &'a DeviceSlice<T> {
        // SAFETY: the caller's promise.
        unsafe { DeviceSlice::from_raw_parts_mut(pointer, len) }
    }

    /// A slice by its address and length.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
    /// // SAFETY: the buffer has these two, is there, and is not used meanwhile.
    /// let first = unsafe { DeviceSlice::from_raw_parts_mut(x.as_device_ptr(), 2) };
    /// first.set_zero()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The memory has this many values, is there as long as the reference is, and nothing else uses it
    /// meanwhile.
    pub unsafe fn from_raw_parts_mut<'a>(pointer: DevicePointer<T>, len: usize) -> &'a mut DeviceSlice<T> {
        let place = pointer.as_raw().max(NOWHERE) as *mut ();
        // SAFETY: what is referred to has no bytes, and the address is not null.
        unsafe { &mut *(slice_from_raw_parts_mut(place, len) as *mut DeviceSlice<T>) }
    }

    /// Values in it.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// assert_eq!(DeviceBuffer::from_slice(&[1.0, 2.0])?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn len(&self) -> usize {
        self.place.len()
    }

    /// Whether there are none.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// assert!(DeviceBuffer::<f64>::zeroed(0)?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it is.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// // What a kernel gets.
    /// let pointer: DevicePointer<f64> = x.as_device_ptr();
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        match self.place.as_ptr() as CUdeviceptr {
            NOWHERE => DevicePointer::null(),
            address => DevicePointer::from_raw(address),
        }
    }

    /// A copy on the host.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// assert_eq!(x.as_host_vec()?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn as_host_vec(&self) -> CudaResult<Vec<T>>
    where
        T: Default,
    {
        let mut values = vec![T::default(); self.len()];
        self.copy_to(&mut values)?;
        Ok(values)
    }

    /// The values before `mid`, and the others.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
    /// let (first, others) = x.split_at(1);
    /// assert_eq!((first.len(), others.len()), (1, 2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// `mid` is beyond the end, as for slices.
    pub fn split_at(&self, mid: usize) -> (&DeviceSlice<T>, &DeviceSlice<T>) {
        (self.index(..mid), self.index(mid..))
    }

    /// The values before `mid`, and the others.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let mut x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0, 4.0])?;
    /// let (low, high) = x.split_at_mut(2);
    /// low.copy_from(&*high)?;
    /// assert_eq!(x.as_host_vec()?, [3.0, 4.0, 3.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// `mid` is beyond the end, as for slices.
    pub fn split_at_mut(&mut self, mid: usize) -> (&mut DeviceSlice<T>, &mut DeviceSlice<T>) {
        let (left, right) = (self.part(&(..mid)), self.part(&(mid..)));
        // SAFETY: they lie within this slice, which is borrowed, and not within each other.
        unsafe {
            (
                DeviceSlice::from_raw_parts_mut(left.0, left.1),
                DeviceSlice::from_raw_parts_mut(right.0, right.1),
            )
        }
    }

    /// A part of it: one value (as a slice), or a range.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
    /// assert_eq!(x.index(1).as_host_vec()?, [2.0]);
    /// assert_eq!(x.index(..2).as_host_vec()?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// It is not within the slice, as for slices.
    #[allow(clippy::should_implement_trait, reason = "cust's")]
    pub fn index<I: DeviceSliceIndex>(&self, index: I) -> &DeviceSlice<T> {
        let (pointer, len) = index.part_of(self);
        // SAFETY: it lies within this slice, which is borrowed.
        unsafe { DeviceSlice::from_raw_parts(pointer, len) }
    }

    /// The same, to be written.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let mut x = DeviceBuffer::from_slice(&[1.0, 2.0, 3.0])?;
    /// x.index_mut(1..).set_zero()?;
    /// assert_eq!(x.as_host_vec()?, [1.0, 0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// It is not within the slice, as for slices.
    #[allow(clippy::should_implement_trait, reason = "cust's")]
    pub fn index_mut<I: DeviceSliceIndex>(&mut self, index: I) -> &mut DeviceSlice<T> {
        let (pointer, len) = index.part_of(self);
        // SAFETY: it lies within this slice, which is borrowed.
        unsafe { DeviceSlice::from_raw_parts_mut(pointer, len) }
    }

    /// Address and length of a part.
    fn part(&self, range: &impl RangeBounds<usize>) -> (DevicePointer<T>, usize) {
        let start = match range.start_bound() {
            Bound::Included(&start) => Some(start),
            Bound::Excluded(&before) => before.checked_add(1),
            Bound::Unbounded => Some(0),
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last.checked_add(1),
            Bound::Excluded(&end) => Some(end),
            Bound::Unbounded => Some(self.len()),
        };
        let (Some(start), Some(end)) = (start, end) else { panic!("a range beyond the largest number") };
        assert!(
            start <= end && end <= self.len(),
            "{start}..{end} is not within a slice of {} values",
            self.len()
        );
        (self.as_device_ptr().wrapping_add(start), end - start)
    }

    /// Bytes in it.
    pub(super) fn bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }

    /// How often `value` fits into it.
    ///
    /// # Errors
    /// It does not end there, or does not begin where such a value may be.
    fn times<V>(&self) -> CudaResult<usize> {
        let size = size_of::<V>();
        let fits =
            self.bytes().is_multiple_of(size) && self.as_device_ptr().as_raw().is_multiple_of(size as u64);
        if fits { Ok(self.bytes() / size) } else { Err(CudaError::InvalidValue) }
    }
}

/// What [`DeviceSlice::index`] takes: a number, or a range of them.
///
/// ```no_run
/// # use cust::memory::*;
/// # use cust::prelude::{Stream, StreamFlags};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// fn length<T: DeviceCopy>(x: &DeviceSlice<T>, part: impl DeviceSliceIndex) -> usize {
///     x.index(part).len()
/// }
/// # let _context = cust::quick_init()?;
/// assert_eq!(length(&DeviceBuffer::from_slice(&[1, 2, 3])?, 1..=2), 2);
/// # Ok(())
/// # }
/// ```
pub trait DeviceSliceIndex {
    /// Address and length of the part.
    ///
    /// # Panics
    /// It is not within the slice.
    #[doc(hidden)]
    fn part_of<T: DeviceCopy>(self, slice: &DeviceSlice<T>) -> (DevicePointer<T>, usize);
}

impl DeviceSliceIndex for usize {
    fn part_of<T: DeviceCopy>(self, slice: &DeviceSlice<T>) -> (DevicePointer<T>, usize) {
        slice.part(&(self..=self))
    }
}

macro_rules! ranges {
    ($($kind:ty)*) => {
        $(
            impl DeviceSliceIndex for $kind {
                fn part_of<T: DeviceCopy>(self, slice: &DeviceSlice<T>) -> (DevicePointer<T>, usize) {
                    slice.part(&self)
                }
            }
        )*
    };
}

ranges! {
    std::ops::Range<usize> std::ops::RangeFrom<usize> std::ops::RangeFull std::ops::RangeInclusive<usize>
    std::ops::RangeTo<usize> std::ops::RangeToInclusive<usize>
}

impl<T: DeviceCopy> fmt::Debug for DeviceSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceSlice({:p}, {} values)", self.as_device_ptr(), self.len())
    }
}

/// Filling, by a pattern of 1, 2 or 4 bytes; nothing happens where there are no bytes.
///
/// Unlike in cust 0.3, bytes that the pattern does not divide, or an address that it does not, are
/// [`CudaError::InvalidValue`], not a panic.
macro_rules! fills {
    ($($value:ty: $now:ident = $driver_now:ident, $queued:ident = $driver_queued:ident;)*) => {
        impl<T: DeviceCopy + Pod> DeviceSlice<T> {
            $(
                /// Fills it with a pattern.
                ///
                /// ```no_run
                /// # use cust::memory::*;
                /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
                /// # let _context = cust::quick_init()?;
                /// let mut x = DeviceBuffer::<u32>::zeroed(1000)?;
                #[doc = concat!("x.", stringify!($now), "(7)?;")]
                /// # Ok(())
                /// # }
                /// ```
                ///
                /// # Errors
                /// The pattern does not fit ([`CudaError::InvalidValue`], where cust 0.3 panics), or the
                /// driver's.
                pub fn $now(&mut self, value: $value) -> CudaResult<()> {
                    let (to, count) = (self.as_device_ptr().as_raw(), self.times::<$value>()?);
                    if count == 0 {
                        return Ok(());
                    }
                    // SAFETY: these are the bytes of the slice, and all bytes are values.
                    unsafe { sys::$driver_now(to, value, count) }.to_result()
                }

                /// Queues filling it with a pattern.
                ///
                /// ```no_run
                /// # use cust::{memory::*, prelude::{Stream, StreamFlags}};
                /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
                /// # let _context = cust::quick_init()?;
                /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
                /// let mut x = DeviceBuffer::<u32>::zeroed(1000)?;
                /// // SAFETY: it is there, and not used, until the stream has done it.
                #[doc = concat!("unsafe { x.", stringify!($queued), "(7, &stream)? };")]
                /// stream.synchronize()?;
                /// # Ok(())
                /// # }
                /// ```
                ///
                /// # Safety
                /// Until the stream has done this, it is there and not used.
                ///
                /// # Errors
                /// The pattern does not fit ([`CudaError::InvalidValue`], where cust 0.3 panics), or the
                /// driver's.
                pub unsafe fn $queued(&mut self, value: $value, stream: &Stream) -> CudaResult<()> {
                    let (to, count) = (self.as_device_ptr().as_raw(), self.times::<$value>()?);
                    if count == 0 {
                        return Ok(());
                    }
                    // SAFETY: as above; the caller vouches for the time until it is done.
                    unsafe { sys::$driver_queued(to, value, count, stream.as_inner()) }.to_result()
                }
            )*
        }
    };
}

fills! {
    u8: set_8 = cuMemsetD8_v2, set_8_async = cuMemsetD8Async;
    u16: set_16 = cuMemsetD16_v2, set_16_async = cuMemsetD16Async;
    u32: set_32 = cuMemsetD32_v2, set_32_async = cuMemsetD32Async;
}

impl<T: DeviceCopy + Zeroable> DeviceSlice<T> {
    /// The bytes of it.
    fn as_bytes_mut(&mut self) -> &mut DeviceSlice<u8> {
        // SAFETY: the same memory. What is written to it here is zeros.
        unsafe { DeviceSlice::from_raw_parts_mut(self.as_device_ptr().cast(), self.bytes()) }
    }

    /// Makes all of it zero.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// let mut x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// x.set_zero()?;
    /// assert_eq!(x.as_host_vec()?, [0.0; 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The driver's.
    pub fn set_zero(&mut self) -> CudaResult<()> {
        self.as_bytes_mut().set_8(0)
    }

    /// Queues writing zeros to all of it.
    ///
    /// ```no_run
    /// # use cust::memory::*;
    /// # use cust::prelude::{Stream, StreamFlags};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let _context = cust::quick_init()?;
    /// # let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    /// # let mut x = DeviceBuffer::from_slice(&[1.0, 2.0])?;
    /// // SAFETY: it is there, and not used, until the stream has done it.
    /// unsafe { x.set_zero_async(&stream)? };
    /// stream.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// Until the stream has done this, it is there and not used.
    ///
    /// # Errors
    /// The driver's.
    pub unsafe fn set_zero_async(&mut self, stream: &Stream) -> CudaResult<()> {
        // SAFETY: the caller's promise.
        unsafe { self.as_bytes_mut().set_8_async(0, stream) }
    }
}

impl<T: DeviceCopy> Sealed for DeviceSlice<T> {}

impl<T, I> CopyDestination<I> for DeviceSlice<T>
where
    T: DeviceCopy,
    I: AsRef<[T]> + AsMut<[T]> + ?Sized,
{
    fn copy_from(&mut self, source: &I) -> CudaResult<()> {
        same_length(self.len(), source.as_ref().len())?;
        // SAFETY: that many values are there.
        unsafe { upload(self.as_device_ptr().as_raw(), source.as_ref(), None) }
    }

    fn copy_to(&self, destination: &mut I) -> CudaResult<()> {
        same_length(self.len(), destination.as_mut().len())?;
        // SAFETY: that many values are there.
        unsafe { download(destination.as_mut(), self.as_device_ptr().as_raw(), None) }
    }
}

impl<T, I> AsyncCopyDestination<I> for DeviceSlice<T>
where
    T: DeviceCopy,
    I: AsRef<[T]> + AsMut<[T]> + ?Sized,
{
    unsafe fn async_copy_from(&mut self, source: &I, stream: &Stream) -> CudaResult<()> {
        same_length(self.len(), source.as_ref().len())?;
        // SAFETY: that many values are there; the caller vouches for the time until it is done.
        unsafe { upload(self.as_device_ptr().as_raw(), source.as_ref(), Some(stream)) }
    }

    unsafe fn async_copy_to(&self, destination: &mut I, stream: &Stream) -> CudaResult<()> {
        same_length(self.len(), destination.as_mut().len())?;
        // SAFETY: that many values are there; the caller vouches for the time until it is done.
        unsafe { download(destination.as_mut(), self.as_device_ptr().as_raw(), Some(stream)) }
    }
}
