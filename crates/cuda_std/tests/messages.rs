//! What kernels print, and what is said of those that fail.
#![allow(missing_docs)]

use cuda_std::prelude::*;
use cuda_std::sim::{captured, launch};

/// Greets.
#[kernel]
pub unsafe fn greet(name: &[u8]) {
    let place = thread::index_2d();
    cuda_std::println!("hello {} from ({}, {})", core::str::from_utf8_unchecked(name), place.x, place.y);
    cuda_std::print!("{:>4}|", place.x);
    cuda_std::println!();
}

#[test]
fn kernels_print_in_the_order_of_each_thread() {
    // SAFETY: takes no memory.
    let (result, text) = captured(|| unsafe { launch!(greet<<<1, (2, 2)>>>(b"you")) });
    result.unwrap();
    assert_eq!(text.lines().count(), 8);
    for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        assert!(text.contains(&format!("hello you from ({x}, {y})\n{x:>4}|\n")), "{text}");
    }
}

/// Fails in the way of that number in thread 3.
#[kernel]
pub unsafe fn fail(how: u32, data: &[u32]) {
    if thread::thread_idx_x() != 3 {
        return;
    }
    match how {
        0 => cuda_std::assert!(how > 0),
        1 => cuda_std::assert!(how > 1, "how is {how}"),
        2 => cuda_std::assert_eq!(how, 3),
        3 => cuda_std::assert_ne!(how, 3, "three"),
        4 => cuda_std::panic!("four at {}", thread::index_1d()),
        _ => cuda_std::assert!(data[how as usize] == 0),
    }
}

#[test]
fn failures_have_a_message_and_a_place() {
    let messages = [
        "panic: assertion failed: how > 0",
        "panic: how is 1",
        "panic: assertion `left == right` failed\n  left: 2\n right: 3",
        "panic: assertion `left != right` failed: three\n  left: 3\n right: 3",
        "panic: four at 3",
        "panic: index out of bounds: the len is 4 but the index is 5",
    ];
    let first = 34;
    for (how, message) in messages.iter().enumerate() {
        // SAFETY: indices of slices are checked.
        let fault = unsafe { launch!(fail<<<1, 32>>>(how as u32, &[0; 4])) }.unwrap_err();
        let place = format!("tests/messages.rs:{}:", first + how);
        let text = fault.to_string();
        assert!(text.starts_with(&format!("kernel fail, block 0, thread 3: {message}, at ")), "{text}");
        assert!(text.contains(&place), "{text} is not at {place}");
    }
}

/// Reads one too many.
#[kernel]
pub unsafe fn beyond(x: *const f32, y: *mut f32) {
    use cuda_std::memory::*;
    let i = thread::index_x();
    y.st(i, x.ld(i + 1));
}

#[test]
fn faults_of_memory_have_a_place() {
    let (x, mut y) = ([1.0; 8], [0.0; 8]);
    let mut memory = cuda_std::sim::Memory::new();
    memory.register(x.as_ptr() as u64, 32);
    memory.register(y.as_ptr() as u64, 32);
    let launch = beyond { x: x.as_ptr(), y: y.as_mut_ptr() };
    let fault = cuda_std::sim::run(&launch, 1, 8, &memory, &Default::default()).unwrap_err();
    assert_eq!((fault.thread, fault.place.unwrap().line()), (7, 69), "{fault}");
}
