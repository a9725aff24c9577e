//! Kernels as they are written for rust-cuda compile and run in the simulator.
#![allow(missing_docs)]

use cuda_std::prelude::*;
use cuda_std::sim::launch;

/// c = a + b
#[kernel]
#[allow(improper_ctypes_definitions, clippy::missing_safety_doc)]
pub unsafe fn add(a: &[f32], b: &[f32], c: *mut f32) {
    let idx = thread::index_1d() as usize;
    if idx < a.len() {
        // SAFETY: c has as many elements as a.
        let elem = unsafe { &mut *c.add(idx) };
        *elem = a[idx] + b[idx];
    }
}

#[test]
fn slices_are_arguments() {
    let a: Vec<f32> = (0..1000).map(|i| i as f32 * 0.5).collect();
    let b: Vec<f32> = (0..1000).map(|i| 3.0 - i as f32).collect();
    let mut c = vec![0.0; 1000];
    // SAFETY: all have 1000 elements.
    unsafe { launch!(add<<<8, 128>>>(&a, &b, c.as_mut_ptr())) }.unwrap();
    assert!((0..1000).all(|i| c[i] == a[i] + b[i]));
}

mod transpose {
    use cuda_std::{address_space, kernel, thread};

    /// B = A^T by tiles in shared memory, A of `rows` rows.
    #[kernel]
    pub unsafe fn transpose(a: &[f32], b: *mut f32, rows: usize) {
        const TILE: usize = 8;

        #[address_space(shared)]
        static mut PART: [[f32; TILE + 1]; TILE] = [[0.0; TILE + 1]; TILE];

        let columns = a.len() / rows;
        let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
        let first = [thread::block_idx_y() as usize * TILE, thread::block_idx_x() as usize * TILE];
        if first[0] + y < rows && first[1] + x < columns {
            PART[y][x] = a[(first[0] + y) * columns + first[1] + x];
        }
        thread::sync_threads();
        if first[1] + y < columns && first[0] + x < rows {
            *b.add((first[1] + y) * rows + first[0] + x) = PART[x][y];
        }
    }
}
pub use transpose::transpose;

#[test]
fn kernels_have_names_of_modules_and_blocks_two_dimensions() {
    let (rows, columns) = (19_usize, 30_usize);
    let a: Vec<f32> = (0..rows * columns).map(|i| i as f32).collect();
    let mut b = vec![f32::NAN; a.len()];
    let grid = (columns.div_ceil(8) as u32, rows.div_ceil(8) as u32);
    // SAFETY: b has the size of a.
    unsafe { launch!(transpose<<<grid, (8, 8)>>>(&a, b.as_mut_ptr(), rows)) }.unwrap();
    assert!((0..a.len()).all(|i| b[i % columns * rows + i / columns] == a[i]));
}

/// d reversed, within a block.
#[kernel]
pub unsafe fn reverse_array(d: *mut i32, n: usize) {
    let s = cuda_std::shared_array![i32; 64];
    let t = thread::thread_idx_x() as usize;
    let tr = n - t - 1;
    *s.add(t) = *d.add(t);
    thread::sync_threads();
    *d.add(t) = *s.add(tr);
}

#[test]
fn shared_arrays_are_pointers() {
    let mut d: Vec<i32> = (0..64).collect();
    // SAFETY: d has 64 elements.
    unsafe { launch!(reverse_array<<<1, 64>>>(d.as_mut_ptr(), 64)) }.unwrap();
    assert_eq!(d, (0..64).rev().collect::<Vec<_>>());
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Viewport<'a> {
    pub bounds: [usize; 2],
    pub colors: &'a [f32],
}

/// A struct by value that borrows, a reference, and a dynamic array in shared memory.
#[kernel]
pub unsafe fn shade(out: *mut f32, view: Viewport, scale: &f32) {
    let idx = thread::index_2d();
    if idx.x as usize >= view.bounds[0] || idx.y as usize >= view.bounds[1] {
        return;
    }
    let scratch = cuda_std::shared::dynamic_shared_mem::<f32>();
    let t = (thread::thread_idx_y() * thread::block_dim_x() + thread::thread_idx_x()) as usize;
    *scratch.add(t) = view.colors[idx.x as usize % view.colors.len()];
    *out.add(idx.y as usize * view.bounds[0] + idx.x as usize) = *scale * *scratch.add(t);
}

#[test]
fn structs_borrow_and_shared_memory_is_dynamic() {
    let mut out = vec![0.0; 35];
    let view = Viewport { bounds: [7, 5], colors: &[1.0, 2.0, 4.0] };
    // SAFETY: out has the size of the view.
    unsafe { launch!(shade<<<(2, 2), (4, 4), 64>>>(out.as_mut_ptr(), view, &0.5)) }.unwrap();
    assert!((0..35).all(|i| out[i] == [0.5, 1.0, 2.0][i % 7 % 3]), "{out:?}");
}

/// Every thread of a grid has another index.
#[kernel]
pub unsafe fn indices(out: *mut [u32; 4]) {
    let place = thread::index_3d();
    *out.add(thread::index() as usize) = [place.x, place.y, place.z, thread::first().into()];
}

#[test]
fn indices_have_three_dimensions() {
    let mut out = vec![[u32::MAX; 4]; 2 * 3 * 2 * 4 * 2 * 3];
    // SAFETY: there are as many threads as elements.
    unsafe { launch!(indices<<<(2, 3, 2), (4, 2, 3)>>>(out.as_mut_ptr())) }.unwrap();
    assert_eq!(out.iter().filter(|place| place[3] == 1).count(), 1);
    assert_eq!(out[0], [0, 0, 0, 1]);
    assert_eq!(out[4 * 2 * 3 + 1], [5, 0, 0, 0]);
    let mut places: Vec<_> = out.iter().map(|&[x, y, z, _]| [z, y, x]).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), out.len());
    assert_eq!(places.last(), Some(&[5, 5, 7]));
}
