//! The kernels in the simulator, beside what the host computes one after the other.

use cuda_std::atomic::{AtomicU32, AtomicU64};
use cuda_std::host::Configuration;
use cuda_std::sim::{self, Memory, Options, launch};
use kernels::nbody::Body;
use kernels::{
    clusters, histogram, matmul, nbody, pi, products, saxpy, scan, small, stencil, together, vadd,
};

/// Fractions without a pattern, from -1/2 to 1/2.
fn fractions(n: usize, by: f32) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * by).fract() - 0.5).collect()
}

fn integers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| i.wrapping_mul(2_654_435_769) ^ i << 7).collect()
}

/// Sizes about those of a block.
fn sizes(block: u32) -> [usize; 5] {
    let block = block as usize;
    [1, block - 1, block, block + 1, 3 * block + 17]
}

/// Memory of which the simulator knows these arrays.
macro_rules! memory {
    ($($array:expr),*) => {{
        let mut memory = Memory::new();
        $(memory.register($array.as_ptr() as u64, size_of_val(&$array[..]) as u64);)*
        memory
    }};
}

const RACES: Options = Options { races: true, order: sim::Order::Shuffled(19), ..Options::DEFAULT };

#[test]
fn vadd_adds() {
    for n in sizes(vadd::BLOCK) {
        let (a, b, mut c) = (fractions(n, 0.37), fractions(n, 0.71), vec![f32::NAN; n]);
        let (count, grid) = (n as u32, (n as u32).div_ceil(vadd::BLOCK));
        let (a_, b_, c_) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
        // SAFETY: a, b and c have n elements.
        unsafe { launch!(vadd::vadd<<<grid, (vadd::BLOCK)>>>(count, a_, b_, c_)) }.unwrap();
        assert_eq!(c, vadd::on_host(&a, &b));
    }
}

// ANCHOR: test
#[test]
fn saxpy_adds_a_multiple() {
    for n in sizes(saxpy::BLOCK) {
        let (x, mut y) = (fractions(n, 0.37), fractions(n, 0.71));
        let expected = saxpy::on_host(1.7, &x, &y);
        let grid = (n as u32).div_ceil(saxpy::BLOCK);
        // SAFETY: x and y have n elements.
        unsafe { launch!(saxpy::saxpy<<<grid, (saxpy::BLOCK)>>>(1.7, &x, y.as_mut_ptr())) }.unwrap();
        assert_eq!(y, expected);
    }
}
// ANCHOR_END: test

#[test]
fn matmul_multiplies() {
    for (m, n, k) in [(1, 1, 1), (16, 16, 16), (17, 31, 33), (37, 18, 5)] {
        let (a, b, mut c) = (fractions(m * k, 0.37), fractions(k * n, 0.71), vec![f32::NAN; m * n]);
        let tile = matmul::TILE;
        let grid = ((n as u32).div_ceil(tile), (m as u32).div_ceil(tile));
        let (rows, columns, inner) = (m as u32, n as u32, k as u32);
        // SAFETY: the matrices have these sizes.
        unsafe {
            launch!(matmul::matmul<<<grid, (tile, tile), (matmul::SHARED_BYTES)>>>(
                rows, columns, inner, a.as_ptr(), b.as_ptr(), c.as_mut_ptr()
            ))
        }
        .unwrap();
        for (found, expected) in c.iter().zip(matmul::on_host(m, n, k, &a, &b)) {
            assert!((f64::from(*found) - expected).abs() < 1e-6 * k as f64, "{found}, not {expected}");
        }
    }
}

#[test]
fn histogram_counts() {
    for n in sizes(histogram::BLOCK) {
        let (numbers, bins) = (integers(n), [const { AtomicU32::new(0) }; histogram::BINS]);
        // SAFETY: there are as many bins as threads in a block.
        unsafe { launch!(histogram::histogram<<<2, (histogram::BLOCK)>>>(&numbers, bins.as_ptr())) }.unwrap();
        assert_eq!(bins.map(AtomicU32::into_inner)[..], histogram::on_host(&numbers));
    }
}

#[test]
fn scan_sums() {
    // The last has more totals than a block has threads.
    for n in sizes(scan::BLOCK).into_iter().chain([(scan::BLOCK * scan::BLOCK) as usize + 5]) {
        let blocks = (n as u32).div_ceil(scan::BLOCK);
        let (x, mut y, mut totals) = (integers(n), vec![7; n], vec![7; blocks as usize]);
        let options = Options { races: n < 10_000, ..RACES };
        let memory = memory!(x, y, totals);
        let (n, x_, y_, totals_) = (n as u32, x.as_ptr(), y.as_mut_ptr(), totals.as_mut_ptr());
        let scan_blocks = scan::scan_blocks { n, x: x_, y: y_, totals: totals_ };
        sim::run(&scan_blocks, blocks, scan::BLOCK, &memory, &options).unwrap();
        let scan_totals = scan::scan_totals { n: blocks, x: totals_ };
        sim::run(&scan_totals, 1, scan::BLOCK, &memory, &options).unwrap();
        let add_totals = scan::add_totals { n, totals: totals_, y: y_ };
        sim::run(&add_totals, blocks, scan::BLOCK, &memory, &options).unwrap();
        assert!(y == scan::on_host(&x), "n = {n}");
    }
}

#[test]
fn stencil_steps() {
    for (nx, ny, nz) in [(1, 1, 1), (33, 5, 7), (32, 4, 4), (2, 9, 3)] {
        let (u, mut v) = (fractions(nx * ny * nz, 0.37), vec![f32::NAN; nx * ny * nz]);
        let memory = memory!(u, v);
        let (x, y, z) = (nx as u32, ny as u32, nz as u32);
        let block = stencil::BLOCK;
        let grid = (x.div_ceil(block.0), y.div_ceil(block.1), z.div_ceil(block.2));
        let kernel = stencil::heat_step { nx: x, ny: y, nz: z, c: 0.1, u: u.as_ptr(), v: v.as_mut_ptr() };
        sim::run(&kernel, grid, block, &memory, &RACES).unwrap();
        assert_eq!(v, stencil::on_host(nx, ny, nz, 0.1, &u));
    }
}

#[test]
fn pi_is_near() {
    let (draws, blocks, hits) = (50, 3, AtomicU64::new(0));
    // SAFETY: `hits` is a number.
    unsafe { launch!(pi::pi<<<blocks, (pi::BLOCK)>>>(2011, draws, &raw const hits)) }.unwrap();
    let (hits, threads) = (hits.into_inner(), blocks * pi::BLOCK);
    assert_eq!(hits, pi::on_host(2011, draws, threads));
    // The deviation is sqrt(pi (4 - pi) / points).
    let points = f64::from(2 * draws * threads);
    assert!((4.0 * hits as f64 / points - std::f64::consts::PI).abs() < 4.0 * (2.7 / points).sqrt());
}

#[test]
fn nbody_pulls() {
    for n in [1, 2, 255, 300] {
        let [x, y, z, w] = [0.37, 0.71, 0.13, 0.59].map(|by| fractions(n, by));
        let bodies: Vec<Body> = (0..n).map(|i| Body { x: x[i], y: y[i], z: z[i], w: w[i] + 1.0 }).collect();
        let mut found = vec![Body { x: f32::NAN, ..bodies[0] }; n];
        let grid = (n as u32).div_ceil(nbody::BLOCK);
        // SAFETY: there is an acceleration for each body.
        unsafe { launch!(nbody::nbody<<<grid, (nbody::BLOCK)>>>(&bodies, found.as_mut_ptr())) }.unwrap();
        for (found, expected) in found.iter().zip(nbody::on_host(&bodies, &bodies)) {
            let size = expected.iter().map(|a| a.abs()).fold(1.0, f64::max);
            for (found, expected) in [found.x, found.y, found.z].into_iter().zip(expected) {
                assert!((f64::from(found) - expected).abs() < 1e-5 * size, "{found}, not {expected}");
            }
        }
    }
}

#[test]
fn blocks_relax_together() {
    let (blocks, steps) = (3, 5);
    let mut expected: Vec<f64> =
        (0..blocks * together::BLOCK).map(|i| (f64::from(i) * 0.37).fract()).collect();
    let (mut x, mut barrier) = (expected.clone(), [0_u32]);
    let memory = memory!(x, barrier);
    let kernel = together::relax { steps, x: x.as_mut_ptr(), barrier: barrier.as_mut_ptr() };
    let configuration = Configuration { cooperative: true, ..Configuration::new(blocks, together::BLOCK) };
    sim::run_configured(&kernel, configuration, &memory, &RACES).unwrap();
    together::relax_on_host(steps, &mut expected);
    assert_eq!(x, expected);
}

#[test]
fn blocks_of_a_cluster_share_their_memory() {
    let configuration = |clusters: u32, cluster: u32| Configuration {
        cluster: cluster.into(),
        ..Configuration::new(clusters * cluster, clusters::BLOCK)
    };
    let x: Vec<u32> = (0..5003_u32).map(|i| i.wrapping_mul(2_654_435_769) >> 7).collect();
    let mut bins = vec![0_u32; clusters::BINS];
    let memory = memory!(x, bins);
    let kernel = clusters::cluster_histogram { n: x.len() as u32, x: x.as_ptr(), bins: bins.as_mut_ptr() };
    sim::run_configured(&kernel, configuration(2, clusters::CLUSTER), &memory, &RACES).unwrap();
    assert_eq!(bins, clusters::histogram_on_host(&x));

    let x: Vec<f64> = fractions(10 * clusters::BLOCK as usize, 0.37).into_iter().map(f64::from).collect();
    let mut y = vec![f64::NAN; x.len()];
    let memory = memory!(x, y);
    let kernel = clusters::pass_on { shift: 3, x: x.as_ptr(), y: y.as_mut_ptr() };
    sim::run_configured(&kernel, configuration(2, 5), &memory, &RACES).unwrap();
    assert_eq!(y, clusters::pass_on_on_host(5, 3, &x));
}

#[test]
fn tiles_are_turned_in_bulk() {
    // At a multiple of 16 bytes.
    let numbers = fractions(5 * 1024 + 4, 0.37);
    let first = numbers.as_ptr().align_offset(16);
    let x = &numbers[first..first + 5 * 1024];
    let mut y = vec![f32::NAN; x.len()];
    let memory = memory!(x, y);
    let kernel = clusters::turn_in_bulk { tiles: 5, x: x.as_ptr(), y: y.as_mut_ptr() };
    sim::run(&kernel, 1, clusters::BLOCK, &memory, &RACES).unwrap();
    assert_eq!(y, clusters::turn_on_host(x));
}

#[test]
fn small_matrices_are_multiplied() {
    let of = |count: usize, step: f32| fractions(count, step);
    let wide = |count, step| of(count, step).into_iter().map(|x| f64::from(x) / 3.0).collect::<Vec<f64>>();
    let (a, b, c) = (wide(3 * 32, 0.37), wide(3 * 32, 0.59), wide(3 * 64, 0.83));
    let mut d = vec![f64::NAN; 3 * 64];
    let memory = memory!(a, b, c, d);
    let kernel = products::product_f64 { a: a.as_ptr(), b: b.as_ptr(), c: c.as_ptr(), d: d.as_mut_ptr() };
    sim::run(&kernel, 1, 96, &memory, &RACES).unwrap();
    assert_eq!(d, products::product_f64_on_host(&a, &b, &c));

    let (a, b, c) = (of(2 * 256, 0.37), of(2 * 128, 0.59), of(2 * 128, 0.83));
    let mut d = vec![f32::NAN; 2 * 128];
    let memory = memory!(a, b, c, d);
    let kernel = products::product_bf16 { a: a.as_ptr(), b: b.as_ptr(), c: c.as_ptr(), d: d.as_mut_ptr() };
    sim::run(&kernel, 1, 64, &memory, &RACES).unwrap();
    for (i, (exact, magnitude)) in products::product_bf16_on_host(&a, &b, &c).into_iter().enumerate() {
        let bound = 0.5001 * f64::from(f32::EPSILON) * magnitude;
        assert!((f64::from(d[i]) - exact).abs() <= bound, "{i}: {} {exact}", d[i]);
    }
}

#[test]
fn tiles_are_turned() {
    let x = fractions(9 * 512, 0.37);
    let mut y = vec![f32::NAN; x.len()];
    let memory = memory!(x, y);
    let kernel = together::turn_tiles { tiles: 9, x: x.as_ptr(), y: y.as_mut_ptr() };
    sim::run(&kernel, 1, together::BLOCK, &memory, &RACES).unwrap();
    assert_eq!(y, together::turn_on_host(&x));
}

#[test]
fn numbers_of_one_and_two_bytes() {
    use cuda_std::{bf16, f16};

    let x: Vec<u8> = (0..4 * small::BLOCK * 3).map(|i| (i * 31 + i / 7) as u8).collect();
    let n = x.len() / 4;
    let (mut sums, mut products, mut short) = (vec![0; n], vec![f16::ZERO; n], vec![bf16::ZERO; n]);
    let (x_, sums_) = (x.as_ptr(), sums.as_mut_ptr());
    let (products_, short_) = (products.as_mut_ptr(), short.as_mut_ptr());
    // SAFETY: a thread for each four bytes.
    unsafe { launch!(small::fours<<<3, (small::BLOCK)>>>(x_, sums_, products_, short_)) }.unwrap();
    let expected = small::fours_on_host(&x);
    assert!((0..n).all(|i| (sums[i], products[i], short[i]) == expected[i]));

    let mut turned = x.clone();
    let memory = memory!(turned);
    let kernel = small::turn { x: turned.as_mut_ptr() };
    sim::run_configured(&kernel, Configuration::new(12, small::BLOCK), &memory, &RACES).unwrap();
    assert_eq!(turned, small::turn_on_host(&x));
}
