//! Variables of the environment that switch something off, for measurements.

use std::ffi::OsStr;

/// Whether what a variable stands for is on: only `0` switches it off.
pub(crate) fn is_on(variable: &str) -> bool {
    leaves_on(std::env::var_os(variable).as_deref())
}

/// The same of what a variable is set to.
pub(crate) fn leaves_on(setting: Option<&OsStr>) -> bool {
    setting.is_none_or(|setting| setting != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_zero_switches_it_off() {
        for (setting, expected) in [(None, true), (Some("0"), false), (Some("1"), true), (Some(""), true)] {
            assert_eq!(leaves_on(setting.map(OsStr::new)), expected, "{setting:?}");
        }
    }
}
