//! Allocation and printing in a kernel: the way of a number to 1 by Collatz's rule.

use cuda_std::prelude::*;

/// The steps of each number; thread 0 prints its way.
#[kernel]
pub unsafe fn collatz(starts: &[u32], steps: *mut u32) {
    let i = thread::index_1d() as usize;
    if i >= starts.len() {
        return;
    }
    let mut way: Vec<u64> = Vec::new();
    let mut n = u64::from(starts[i]);
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        way.push(n);
    }
    if i == 0 {
        println!("{} goes {way:?}", starts[i]);
    }
    unsafe { *steps.add(i) = way.len() as u32 };
}
