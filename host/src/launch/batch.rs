//! Launches of one kernel that do not depend on each other, made at once.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use cuda_std::{BATCH, host};

/// Bytes of a word: no argument asks for a larger alignment.
const WORD: usize = size_of::<u64>();

/// Sets of arguments of a [batched](host::Kernel::batched) kernel.
pub struct Batch {
    name: &'static str,
    /// Bytes of a set.
    size: usize,
    count: usize,
    /// Room for [`BATCH`] sets, one after the other.
    arguments: Vec<MaybeUninit<u64>>,
}

impl Batch {
    /// One launch.
    pub fn of(first: host::Batched) -> Self {
        let (name, size) = (first.name(), first.size());
        let arguments = vec![MaybeUninit::new(0); (BATCH * size).div_ceil(WORD)];
        let mut batch = Batch { name, size, count: 0, arguments };
        batch.add(first);
        batch
    }

    /// One more; not where it is of another kernel, or there is no room.
    #[must_use]
    pub fn takes(&mut self, next: host::Batched) -> bool {
        let takes = next.name() == self.name && self.count < BATCH;
        if takes {
            self.add(next);
        }
        takes
    }

    fn add(&mut self, set: host::Batched) {
        let place = self.arguments.as_mut_ptr().cast::<u8>().wrapping_add(self.count * self.size);
        // SAFETY: there is room for as many sets, of the same size since the kernel is the same.
        unsafe { set.write(place.cast()) };
        self.count += 1;
    }

    /// The kernel's entry point for several launches.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Launches.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The one argument of that entry point: what `cuLaunchKernel` takes.
    pub(super) fn argument(&self) -> *mut c_void {
        self.arguments.as_ptr().cast_mut().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::host::Kernel;
    use cuda_std::kernel;

    /// y = a
    #[kernel(batched)]
    unsafe fn put(a: u32, y: *mut f64) {
        *y = f64::from(a);
    }

    /// y = 0
    #[kernel(batched)]
    unsafe fn clear(y: *mut f64) {
        *y = 0.0;
    }

    #[test]
    fn sets_of_one_kernel_lie_one_after_the_other() {
        let y = std::ptr::without_provenance_mut::<f64>(64);
        let set = |a: u32| put { a, y };
        let mut batch = Batch::of(set(0).batched().unwrap());
        assert!(!batch.takes(clear { y }.batched().unwrap()));
        for a in 1..BATCH as u32 {
            assert!(batch.takes(set(a).batched().unwrap()));
        }
        assert!(!batch.takes(set(9).batched().unwrap()), "there is no room");
        assert_eq!((batch.name(), batch.count()), ("put_batch", BATCH));
        for a in 0..BATCH {
            let set = batch.argument().cast::<put>().wrapping_add(a);
            // SAFETY: that many were added.
            assert_eq!(unsafe { ((*set).a, (*set).y) }, (a as u32, y));
        }
    }
}
