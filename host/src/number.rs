//! Numbers in messages and reports.

/// Digits that are told.
const DIGITS: i32 = 7;

/// A point or a vector: "(1, 0.5, 0)".
pub fn vector(v: [f64; 3]) -> String {
    format!("({})", v.map(plain).join(", "))
}

/// A number with 7 digits at most, as people write it: 41.66667, 0.05, 210000. Only where it would have many
/// zeros it has an exponent: 1e-8.
///
/// ```
/// use warpsolve_host::number::plain;
/// assert_eq!([125.0 / 3.0, -0.05, 210_000.0, 1e-8, 2.5e12].map(plain), ["41.66667", "-0.05", "210000", "1e-8", "2.5e12"]);
/// ```
pub fn plain(x: f64) -> String {
    let trimmed = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    };
    match x.abs() {
        size if (1e-4..1e9).contains(&size) => {
            let decimals = (DIGITS - 1 - size.log10().floor() as i32).max(0) as usize;
            trimmed(format!("{x:.decimals$}"))
        }
        size if size > 0.0 && size.is_finite() => {
            let text = format!("{x:.*e}", DIGITS as usize - 1);
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{}e{exponent}", trimmed(digits.to_string()))
        }
        // 0, NaN, infinity
        _ => format!("{x}"),
    }
}
