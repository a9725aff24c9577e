//! The kernels in the simulator.

use cuda_std::glam::{USizeVec2, Vec3};
use cuda_std::sim::launch;
use rust_cuda_kernels::*;
use sha2::{Digest, Sha256, Sha512};

/// Fractions without a pattern.
fn numbers(n: usize, by: f32) -> Vec<f32> {
    (0..n).map(|i| (i as f32 * by).fract() - 0.5).collect()
}

#[test]
fn vecadd_adds() {
    let (a, b, mut c) = (numbers(1000, 0.37), numbers(1000, 0.71), vec![f32::NAN; 1000]);
    // SAFETY: all have 1000 elements.
    unsafe { launch!(vecadd<<<1000_u32.div_ceil(128), 128>>>(&a, &b, c.as_mut_ptr())) }.unwrap();
    assert!((0..1000).all(|i| c[i] == a[i] + b[i]));
}

#[test]
fn both_products_multiply() {
    let (m, n, k) = (37, 50, 41);
    let (a, b, c) = (numbers(m * k, 0.37), numbers(k * n, 0.71), numbers(m * n, 0.13));
    let (mut naive, mut tiled) = (c.clone(), c.clone());
    let grid = (n.div_ceil(16) as u32, m.div_ceil(16) as u32);
    // SAFETY: the matrices have these sizes.
    unsafe {
        launch!(gemm<<<grid, (16, 16)>>>(&a, &b, naive.as_mut_ptr(), m, n, k, 2.0, -0.5)).unwrap();
        launch!(gemm_tiled<<<grid, (16, 16)>>>(&a, &b, tiled.as_mut_ptr(), m, n, k, 2.0, -0.5)).unwrap();
    }
    for i in 0..m * n {
        let (row, col) = (i / n, i % n);
        let sum: f64 = (0..k).map(|l| f64::from(a[row * k + l]) * f64::from(b[l * n + col])).sum();
        let expected = 2.0 * sum - 0.5 * f64::from(c[i]);
        assert!((f64::from(naive[i]) - expected).abs() < 1e-5, "{i}");
        assert!((f64::from(tiled[i]) - expected).abs() < 1e-5, "{i}");
    }
}

#[test]
fn hashes_are_those_of_the_host() {
    let text: Vec<u8> = (0..1000_u32).map(|i| (i * i / 3) as u8).collect();
    let mut hashes = [[0; 32]; 10];
    let mut hash = [0; 64];
    // SAFETY: there are ten messages.
    unsafe {
        launch!(sha256<<<1, 32>>>(&text, 100, hashes.as_mut_ptr())).unwrap();
        launch!(sha512_of_two<<<1, 1>>>(&text[..300], &text[300..], &raw mut hash)).unwrap();
    }
    for (message, hash) in text.chunks(100).zip(hashes) {
        assert_eq!(hash[..], Sha256::digest(message)[..]);
    }
    assert_eq!(hash[..], Sha512::digest(&text)[..]);
}

#[test]
fn numbers_go_to_one() {
    let mut steps = [0; 4];
    // SAFETY: there are four numbers.
    unsafe { launch!(collatz<<<1, 32>>>(&[6, 1, 27, 97], steps.as_mut_ptr())) }.unwrap();
    assert_eq!(steps, [8, 0, 111, 118]);
}

#[test]
fn the_path_tracer_sees_a_sphere_under_a_sky() {
    let (width, height) = (24, 16);
    let materials = [Material::Diffuse(Vec3::new(0.8, 0.1, 0.1)), Material::Metallic(Vec3::splat(0.9), 0.0)];
    let spheres = [
        Sphere { center: Vec3::new(0.0, 0.0, -1.0), radius: 0.5, material: 0 },
        Sphere { center: Vec3::new(1.1, 0.0, -1.0), radius: 0.5, material: 1 },
    ];
    let scene = Scene { spheres: &spheres, materials: &materials };
    let view = View {
        bounds: USizeVec2::new(width, height),
        origin: Vec3::ZERO,
        lower_left: Vec3::new(-1.5, -1.0, -1.0),
        horizontal: Vec3::new(3.0, 0.0, 0.0),
        vertical: Vec3::new(0.0, 2.0, 0.0),
    };
    let mut picture = vec![Vec3::NAN; width * height];
    let mut bytes = vec![[0; 3]; width * height];
    let grid = (width.div_ceil(8) as u32, height.div_ceil(8) as u32);
    // SAFETY: the pictures have the size of the view.
    unsafe {
        launch!(path_tracer<<<grid, (8, 8)>>>(picture.as_mut_ptr(), view, &scene, 16)).unwrap();
        launch!(to_bytes<<<grid, (8, 8)>>>(picture.as_ptr(), bytes.as_mut_ptr(), view)).unwrap();
    }
    let at = |x: usize, y: usize| picture[y * width + x];
    // Red in the middle, and the sky bluer above than below.
    assert!(at(12, 8).x > 3.0 * at(12, 8).z, "{}", at(12, 8));
    assert!(at(0, 15).x < at(0, 0).x && at(0, 15).z > 0.99, "{} {}", at(0, 15), at(0, 0));
    // The mirror shows some of the red.
    assert!((0..height).any(|y| at(17, y).x > 1.5 * at(17, y).z));
    assert_eq!(bytes[0][2], (picture[0].z.sqrt() * 255.0) as u8);
}
