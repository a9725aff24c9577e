//! How far functions of two numbers are from the truth, over sampled pairs: rows of the book's tables.
//!
//! They come from `libm` and are the same in the simulator and on a device, to the same bits.
//! `cargo test --release -p worked-kernels-errors --test pairs -- --nocapture` prints what was found.

#[allow(dead_code, reason = "of one number")]
mod double_double;

use cuda_std::GpuFloat;
use double_double as dd;
use double_double::{Double, double};
use errors::error;

/// Magnitudes, between which samples lie evenly by their logarithms, and whether numbers below 0 are among
/// them.
#[derive(Clone, Copy)]
struct Range {
    from: f64,
    to: f64,
    both_signs: bool,
}

const fn up(from: f64, to: f64) -> Range {
    Range { from, to, both_signs: false }
}

const fn both(from: f64, to: f64) -> Range {
    Range { from, to, both_signs: true }
}

impl Range {
    /// The number at a fraction of the way, and of a sign that another fraction says.
    fn at(self, fraction: f64, sign: f64) -> f64 {
        // By the functions of `libm`, so that every host has the same samples.
        let [first, last] = [self.from, self.to].map(GpuFloat::ln);
        let x = GpuFloat::exp(first + (last - first) * fraction);
        if self.both_signs && sign < 0.5 { -x } else { x }
    }
}

/// Pairs without a pattern.
fn pairs(x: Range, y: Range, count: u32) -> impl Iterator<Item = (f64, f64)> {
    (0..count).map(move |k| {
        let fraction = |by: f64| (f64::from(k + 1) * by).fract();
        let x = x.at(fraction(0.618_033_988_749_895), fraction(0.414_213_562_373_095));
        (x, y.at(fraction(0.754_877_666_246_693), fraction(0.302_775_637_731_995)))
    })
}

fn atan2(y: Double, x: Double) -> Double {
    let angle = dd::atan(y / x);
    match (x.high < 0.0, y.high < 0.0) {
        (false, _) => angle,
        (true, false) => angle + dd::PI,
        (true, true) => angle - dd::PI,
    }
}

type Pair<T> = fn(T, T) -> T;

#[test]
fn no_pair_of_f32_is_farther_off_than_the_table_says() {
    let functions: [(&str, Pair<f32>, Pair<f64>, Range, Range, f32); 3] = [
        ("powf", GpuFloat::powf, GpuFloat::powf, up(1e-3, 1e3), both(1e-3, 12.0), 0.820),
        ("hypot", GpuFloat::hypot, GpuFloat::hypot, both(1e-15, 1e15), both(1e-15, 1e15), 0.835),
        ("atan2", GpuFloat::atan2, GpuFloat::atan2, both(1e-5, 1e5), both(1e-5, 1e5), 1.430),
    ];
    for (name, found, truth, x, y, largest) in functions {
        let of = |(x, y): (f64, f64)| {
            let (x, y) = (x as f32, y as f32);
            error(found(x, y), truth(x.into(), y.into()), false)
        };
        check(name, pairs(x, y, 1 << 18).map(of).fold(0.0, f32::max).into(), largest.into());
    }
}

#[test]
fn no_pair_of_f64_is_farther_off_than_the_table_says() {
    let functions: [(&str, Pair<f64>, Pair<Double>, Range, Range, f64); 3] = [
        ("powf", GpuFloat::powf, |x, y| dd::exp(y * dd::ln(x)), up(1e-3, 1e3), both(1e-3, 100.0), 0.792),
        (
            "hypot",
            GpuFloat::hypot,
            |x, y| (x * x + y * y).sqrt(),
            both(1e-100, 1e100),
            both(1e-100, 1e100),
            0.833,
        ),
        ("atan2", GpuFloat::atan2, atan2, both(1e-5, 1e5), both(1e-5, 1e5), 1.164),
    ];
    for (name, found, truth, x, y, largest) in functions {
        let of = |(x, y): (f64, f64)| truth(double(x), double(y)).error(found(x, y));
        check(name, pairs(x, y, 20_000).map(of).fold(0.0, f64::max), largest);
    }
}

/// The table is what was found, rounded up.
fn check(name: &str, found: f64, largest: f64) {
    println!("| `{name}` | {found:.4} |");
    assert!(found <= largest && found > largest - 0.002, "{name}: {found}, and the table says {largest}");
}
