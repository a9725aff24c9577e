//! The kernels in the simulator, which needs no GPU.

use cuda_std::sim::launch;
use kernels::{BLOCK, saxpy};

#[test]
fn saxpy_adds_a_multiple() {
    // Also sizes that blocks do not divide.
    for n in [1_u32, 255, 256, 257, 1000] {
        let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
        let mut y: Vec<f32> = (0..n).map(|i| i as f32 * 0.25 - 1.0).collect();
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 1.5 * x + y).collect();
        let blocks = n.div_ceil(BLOCK);
        // SAFETY: x and y have n elements.
        unsafe { launch!(saxpy<<<blocks, BLOCK>>>(1.5, &x, y.as_mut_ptr())) }.unwrap();
        assert_eq!(y, expected);
    }
}
