//! Running kernels on vectors.
#![allow(dead_code, missing_docs)] // every test crate uses some of it

use std::cell::UnsafeCell;
use std::ops::Deref;

use cuda_std::host::Kernel;
use cuda_std::sim::{self, Fault, FaultKind, Memory, Options};

/// A memory with these vectors in it.
pub fn memory<'a>(vectors: impl IntoIterator<Item = &'a dyn Bytes>) -> Memory {
    let mut memory = Memory::new();
    vectors.into_iter().for_each(|v| {
        let (address, bytes) = v.range();
        memory.register(address, bytes);
    });
    memory
}

pub trait Bytes {
    fn range(&self) -> (u64, u64);
}

/// Numbers that kernels may write while the test holds on to them.
#[derive(Debug)]
pub struct Vector<T>(Vec<UnsafeCell<T>>);

pub fn vector<T>(values: Vec<T>) -> Vector<T> {
    Vector(values.into_iter().map(UnsafeCell::new).collect())
}

impl<T> Vector<T> {
    pub fn as_mut_ptr(&self) -> *mut T {
        UnsafeCell::raw_get(self.0.as_ptr())
    }

    pub fn as_ptr(&self) -> *const T {
        self.as_mut_ptr()
    }
}

impl<T> Deref for Vector<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the elements are initialised, and no kernel runs while a test looks at them.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.0.len()) }
    }
}

impl<T> Bytes for Vector<T> {
    fn range(&self) -> (u64, u64) {
        self.0.range()
    }
}

impl<T> Bytes for Vec<T> {
    fn range(&self) -> (u64, u64) {
        (self.as_ptr() as u64, size_of_val(self.as_slice()) as u64)
    }
}

pub fn run(kernel: &dyn Kernel, grid: u32, block: u32, memory: &Memory) -> Result<(), Fault> {
    sim::run(kernel, grid, block, memory, &Options::default())
}

pub fn run_checked(kernel: &dyn Kernel, grid: u32, block: u32, memory: &Memory) -> Result<(), Fault> {
    sim::run(kernel, grid, block, memory, &Options { races: true, ..Options::default() })
}

/// The fault of a launch without race checks, as (block, thread, kind).
pub fn fault(kernel: &dyn Kernel, grid: u32, block: u32, memory: &Memory) -> (u32, u32, FaultKind) {
    let fault = run(kernel, grid, block, memory).expect_err("the kernel is wrong");
    assert_eq!(fault.kernel, kernel.name());
    (fault.block, fault.thread, fault.kind)
}

/// The race of a launch.
pub fn race(kernel: &dyn Kernel, grid: u32, block: u32, memory: &Memory) -> Fault {
    run(kernel, grid, block, memory).expect("wrong only in what it races for");
    let fault = run_checked(kernel, grid, block, memory).expect_err("the kernel races");
    assert!(matches!(fault.kind, FaultKind::Race { .. }), "{fault}");
    fault
}
