//! Pi by the midpoint rule.

/// The height of rectangle `i` of the midpoint rule for pi, each `step` wide: `4 / (1 + x^2)` at `x = (i +
/// 1/2) step`.
#[inline(always)]
pub fn height(i: usize, step: f64) -> f64 {
    let x = (i as f64 + 0.5) * step;
    4.0 / (1.0 + x * x)
}
