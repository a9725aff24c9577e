//! Products of small matrices, against loops over their elements.

mod common;

use common::{memory, run, run_checked, vector};
use cuda_std::sim::FaultKind;
use cuda_std::{GlobalLoad, GlobalStore, bf16, kernel, mma, thread};

/// D = A B + C, for as many matrices as there are warps.
#[kernel]
unsafe fn product_f64(a: *const f64, b: *const f64, c: *const f64, d: *mut f64) {
    let (lane, warp) = (thread::thread_idx_x() as usize % 32, thread::index_x() / 32);
    let (g, t) = (lane / 4, lane % 4);
    let at = 64 * warp + 8 * g + 2 * t;
    let (a, b) = (a.ld(32 * warp + 4 * g + t), b.ld(32 * warp + 8 * t + g));
    let of_lane = mma::m8n8k4_f64(a, b, [c.ld(at), c.ld(at + 1)]);
    d.st(at, of_lane[0]);
    d.st(at + 1, of_lane[1]);
}

/// Numbers of both signs and many magnitudes.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let number = |i: usize| {
        let bits = (i as u64 + 1).wrapping_mul(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let fraction = (bits >> 11) as f64 / (1_u64 << 53) as f64 - 0.5;
        fraction * f64::from(1 << (bits % 7))
    };
    (0..count).map(number).collect()
}

#[test]
fn a_product_in_f64_is_a_chain_of_multiply_adds() {
    let warps = 5;
    let [a, b] = [3, 5].map(|seed| numbers(32 * warps, seed));
    let c = numbers(64 * warps, 7);
    let d = vector(vec![f64::NAN; 64 * warps]);
    let launch = product_f64 { a: a.as_ptr(), b: b.as_ptr(), c: c.as_ptr(), d: d.as_mut_ptr() };
    run_checked(&launch, 1, 32 * warps as u32, &memory([&a as _, &b as _, &c as _, &d as _])).unwrap();
    for (i, found) in d.iter().enumerate() {
        let (warp, row, column) = (i / 64, i % 64 / 8, i % 8);
        let term = |sum, k| f64::mul_add(a[32 * warp + 4 * row + k], b[32 * warp + 8 * k + column], sum);
        assert_eq!(*found, (0..4).fold(c[i], term), "{i}");
    }
}

/// D = A B + C, one warp.
#[kernel]
unsafe fn product_bf16(a: *const f32, b: *const f32, c: *const f32, d: *mut f32) {
    let lane = thread::thread_idx_x() as usize;
    let (g, t) = (lane / 4, lane % 4);
    let of_a = |row: usize, column: usize| bf16::from_f32(a.ld(16 * row + column));
    let of_b = |row: usize, column: usize| bf16::from_f32(b.ld(8 * row + column));
    let mut of_lane = ([bf16::ZERO; 8], [bf16::ZERO; 4], [0.0; 4]);
    for i in 0..8 {
        of_lane.0[i] = of_a(g + 8 * (i / 2 % 2), 2 * t + i % 2 + 8 * (i / 4));
    }
    for i in 0..4 {
        of_lane.1[i] = of_b(2 * t + i % 2 + 8 * (i / 2), g);
        of_lane.2[i] = c.ld(8 * (g + 8 * (i / 2)) + 2 * t + i % 2);
    }
    let result = mma::m16n8k16_bf16(of_lane.0, of_lane.1, of_lane.2);
    for (i, value) in result.into_iter().enumerate() {
        d.st(8 * (g + 8 * (i / 2)) + 2 * t + i % 2, value);
    }
}

#[test]
fn a_product_in_bf16_is_a_sum_in_f64() {
    let rounded = |count, seed| -> Vec<f32> {
        numbers(count, seed).into_iter().map(|x| bf16::from_f64(x).to_f32()).collect()
    };
    let (a, b) = (rounded(256, 3), rounded(128, 5));
    let c: Vec<f32> = numbers(128, 7).into_iter().map(|x| x as f32).collect();
    let d = vector(vec![f32::NAN; 128]);
    let launch = product_bf16 { a: a.as_ptr(), b: b.as_ptr(), c: c.as_ptr(), d: d.as_mut_ptr() };
    run_checked(&launch, 1, 32, &memory([&a as _, &b as _, &c as _, &d as _])).unwrap();
    for (i, found) in d.iter().enumerate() {
        let (row, column) = (i / 8, i % 8);
        let term = |k| f64::from(a[16 * row + k]) * f64::from(b[8 * k + column]);
        // Products of eight bits each are exact, and the sum nearly.
        let exact = f64::from(c[i]) + (0..16).map(term).sum::<f64>();
        let last = f64::from(f32::EPSILON) * exact.abs();
        assert!((f64::from(*found) - exact).abs() <= 0.5001 * last, "{i}: {found} {exact}");
    }
}

#[test]
fn a_warp_that_is_not_whole_is_a_fault() {
    let (x, d) = (vec![1.0; 64], vector(vec![0.0; 64]));
    let launch = product_f64 { a: x.as_ptr(), b: x.as_ptr(), c: x.as_ptr(), d: d.as_mut_ptr() };
    let fault = run(&launch, 1, 31, &memory([&x as _, &d as _])).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::InactiveLane { source_lane: 31, .. }), "{fault}");
    assert!(fault.to_string().contains("mma.rs"), "{fault}");
}
