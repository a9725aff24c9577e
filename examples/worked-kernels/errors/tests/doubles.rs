//! How far functions of `f64` are from the truth, over samples: the table of the book.
//!
//! They come from `libm` and are the same in the simulator and on a device, to the same bits.
//! `cargo test -p worked-kernels-errors --test doubles -- --nocapture` prints what was found.

mod double_double;

use cuda_std::{FloatExt, GpuFloat};
use double_double as dd;
use double_double::{Double, double};

/// Samples of each function.
const SAMPLES: u32 = 3000;

struct Measured {
    name: &'static str,
    /// Magnitudes, between which samples lie evenly by their logarithms.
    from: f64,
    to: f64,
    /// Whether numbers below 0 are among them.
    both_signs: bool,
    found: fn(f64) -> f64,
    /// The truth; it may begin with what was found.
    truth: fn(Double, f64) -> Double,
    /// The largest error, rounded up.
    largest: f64,
}

impl Measured {
    fn samples(&self) -> impl Iterator<Item = f64> {
        // By the functions of `libm`, so that every host has the same samples.
        let [first, last] = [self.from, self.to].map(GpuFloat::ln);
        (0..SAMPLES).map(move |k| {
            // Fractions without a pattern.
            let fraction = |by: f64| (f64::from(k + 1) * by).fract();
            let x = GpuFloat::exp(first + (last - first) * fraction(0.618_033_988_749_895));
            if self.both_signs && fraction(0.414_213_562_373_095) < 0.5 { -x } else { x }
        })
    }

    /// The largest error of the samples.
    fn error(&self) -> f64 {
        let error = |x: f64| {
            let found = (self.found)(x);
            (self.truth)(double(x), found).error(found)
        };
        self.samples().map(error).fold(0.0, f64::max)
    }
}

macro_rules! measured {
    ($($name:literal $from:literal to $to:literal $($both:ident)?, |$x:ident| $found:expr,
       |$y:ident $(, $z:ident)?| $truth:expr, $largest:literal;)*) => {
        [$(Measured {
            name: $name,
            from: $from,
            to: $to,
            both_signs: !concat!($(stringify!($both)),*).is_empty(),
            found: |$x| $found,
            truth: measured!(@ |$y $(, $z)?| $truth),
            largest: $largest,
        }),*]
    };
    (@ |$y:ident| $truth:expr) => { |$y, _| $truth };
    (@ |$y:ident, $z:ident| $truth:expr) => { |$y, $z| $truth };
}

fn all() -> Vec<Measured> {
    measured! {
        "sqrt" 1e-300 to 1e300, |x| GpuFloat::sqrt(x), |y| y.sqrt(), 0.5;
        "cbrt" 1e-300 to 1e300 both, |x| GpuFloat::cbrt(x), |y| dd::cbrt(y), 0.500;
        "exp" 1e-10 to 700.0 both, |x| GpuFloat::exp(x), |y| dd::exp(y), 0.720;
        "exp2" 1e-10 to 1000.0 both, |x| GpuFloat::exp2(x), |y| dd::exp2(y), 0.500;
        "exp_m1" 1e-10 to 700.0 both, |x| GpuFloat::exp_m1(x), |y| dd::exp_m1(y), 0.707;
        "ln" 1e-300 to 1e300, |x| GpuFloat::ln(x), |y| dd::ln(y), 0.476;
        "ln near 1" 0.5 to 2.0, |x| GpuFloat::ln(x), |y| dd::ln(y), 0.730;
        "ln_1p" 1e-10 to 1e300, |x| GpuFloat::ln_1p(x), |y| dd::ln_1p(y), 0.598;
        "log2" 1e-3 to 1e3, |x| GpuFloat::log2(x), |y| dd::log2(y), 0.579;
        "log10" 1e-3 to 1e3, |x| GpuFloat::log10(x), |y| dd::log10(y), 0.573;
        "sin" 1e-5 to 1e4 both, |x| GpuFloat::sin(x), |y| dd::sin(y), 0.620;
        "cos" 1e-5 to 1e4 both, |x| GpuFloat::cos(x), |y| dd::cos(y), 0.607;
        "tan" 1e-5 to 1e4 both, |x| GpuFloat::tan(x), |y| dd::tan(y), 0.761;
        "asin" 1e-5 to 1.0 both, |x| GpuFloat::asin(x), |y| dd::asin(y), 0.735;
        "acos" 1e-5 to 1.0 both, |x| GpuFloat::acos(x), |y| dd::acos(y), 0.777;
        "atan" 1e-5 to 1e5 both, |x| GpuFloat::atan(x), |y| dd::atan(y), 0.654;
        "sinh" 1e-5 to 300.0 both, |x| GpuFloat::sinh(x), |y| dd::sinh(y), 1.386;
        "cosh" 1e-5 to 300.0 both, |x| GpuFloat::cosh(x), |y| dd::cosh(y), 1.119;
        "tanh" 1e-5 to 30.0 both, |x| GpuFloat::tanh(x), |y| dd::tanh(y), 1.556;
        "asinh" 1e-5 to 1e5 both, |x| GpuFloat::asinh(x), |y| dd::asinh(y), 1.109;
        "acosh" 1.0001 to 1e5, |x| GpuFloat::acosh(x), |y| dd::acosh(y), 1.194;
        "atanh" 1e-5 to 0.9999 both, |x| GpuFloat::atanh(x), |y| dd::atanh(y), 1.313;
        "sinpi" 1e-5 to 1e5 both, |x| x.sinpi(), |y| dd::sinpi(y), 1.330;
        "cospi" 1e-5 to 1e5 both, |x| x.cospi(), |y| dd::cospi(y), 1.584;
        "rcbrt" 1e-300 to 1e300 both, |x| x.rcbrt(), |y| dd::rcbrt(y), 1.374;
        "error_function" 1e-5 to 5.0 both, |x| x.error_function(), |y| dd::erf(y), 0.831;
        "complementary_error_function" 1e-3 to 25.0, |x| x.complementary_error_function(), |y| dd::erfc(y), 2.177;
        "scaled_complementary_error_function" 1e-3 to 1e3, |x| x.scaled_complementary_error_function(),
            |y| dd::erfcx(y), 2.583;
        "inv_complementary_error_function" 1e-200 to 0.9, |x| x.inv_complementary_error_function(),
            |y, found| dd::erfcinv(y, found), 4.011;
        "norm_cdf" 1e-3 to 30.0 both, |x| x.norm_cdf(), |y| dd::norm_cdf(y), 1.865;
        "inv_norm_cdf" 1e-200 to 0.45, |x| x.inv_norm_cdf(), |y, found| dd::inv_norm_cdf(y, found), 3.884;
        "gamma" 0.1 to 170.0, |x| FloatExt::gamma(x), |y| dd::gamma(y), 5.705;
        "log_gamma" 3.0 to 1e6, |x| x.log_gamma(), |y| dd::log_gamma(y), 1.246;
        "j0" 1e-3 to 2.0, |x| x.j0(), |y| dd::bessel_j(0, y), 1.945;
        "j1" 1e-3 to 3.0, |x| x.j1(), |y| dd::bessel_j(1, y), 2.329;
        "y0" 1e-3 to 0.7, |x| x.y0(), |y| dd::bessel_y0(y), 3.026;
        "y1" 1e-3 to 2.0, |x| x.y1(), |y| dd::bessel_y1(y), 6.492;
    }
    .into()
}

#[test]
fn no_sample_is_farther_off_than_the_table_says() {
    let mut wrong = Vec::new();
    for measured in all() {
        let Measured { name, from, to, both_signs, largest, .. } = measured;
        let error = measured.error();
        let sign = if both_signs { "±" } else { "" };
        println!("| `{name}` | {sign}{from:e} to {to:e} | {error:.3} |");
        // Neither is it all exact, and the table is what was found, rounded up.
        if !(error <= largest && error > largest - 0.002) {
            wrong.push(format!("{name}: {error}, and the table says {largest}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_truth_has_more_digits() {
    // By the digits of tables.
    for (name, found, high, low) in [
        ("exp 1", dd::exp(double(1.0)), std::f64::consts::E, 1.445_646_891_729_250_2e-16),
        ("ln 10", dd::ln(double(10.0)), std::f64::consts::LN_10, -2.170_756_223_382_249e-16),
        ("4 atan 1", dd::atan(double(1.0)).scaled(2), dd::PI.high, dd::PI.low),
        ("2 asin 1/2 * 3", dd::asin(double(0.5)) * double(6.0), dd::PI.high, dd::PI.low),
        ("gamma 1/2 squared", dd::gamma(double(0.5)) * dd::gamma(double(0.5)), dd::PI.high, dd::PI.low),
        ("tanh atanh", dd::tanh(dd::atanh(double(0.3))), 0.3, 0.0),
        ("sinh asinh", dd::sinh(dd::asinh(double(7.0))), 7.0, 0.0),
        ("cosh acosh", dd::cosh(dd::acosh(double(7.0))), 7.0, 0.0),
        ("erf + erfc", dd::erf(double(2.5)) + dd::erfc(double(2.5)), 1.0, 0.0),
    ] {
        let distance = found - Double { high, low };
        assert!(distance.high.abs() < 1e-28 * high, "{name}: {found:?}");
    }
    // A Wronskian: J_1 Y_0 - J_0 Y_1 = 2 / (pi x).
    let x = double(1.7);
    let left = dd::bessel_j(1, x) * dd::bessel_y0(x) - dd::bessel_j(0, x) * dd::bessel_y1(x);
    let right = double(2.0) / (dd::PI * x);
    assert!((left - right).high.abs() < 1e-28, "{left:?} {right:?}");
}
