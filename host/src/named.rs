//! Choices with names, as command lines and configurations spell them.

use crate::error::Error;

/// The error for a `name` that is none of `names`, with the nearest of them.
pub fn unknown(what: &str, name: &str, names: &[&str]) -> Error {
    Error::Option(format!("unknown {what} '{name}'{} there are {}", hint(name, names), names.join(", ")))
}

/// "; did you mean 'tet'?" with the one of `names` that begins so, or the nearest, or ";" where none is near.
pub(crate) fn hint(name: &str, names: &[&str]) -> String {
    let name = name.to_lowercase();
    let begins_so = |known: &&&str| name.len() > 2 && known.starts_with(&name);
    let distance = |known: &&&str| strsim::osa_distance(&name, known);
    match names.iter().min_by_key(|known| (!begins_so(known), distance(known))) {
        Some(nearest) if begins_so(&nearest) || distance(&nearest) <= nearest.len() / 2 => {
            format!("; did you mean '{nearest}'?")
        }
        _ => ";".into(),
    }
}

#[doc(hidden)]
pub use serde;

/// An enum whose variants have names: its `Display`, `FromStr`, `Serialize`, `ALL` and `NAMES` in one place.
/// What it is called in messages comes first; a name that is unknown is refused with the
/// [nearest](crate::named::unknown).
///
/// ```
/// warpsolve_host::named! {
///     /// Which way is up.
///     "axis" Axis {
///         /// To the right.
///         X = "x",
///         /// Upwards.
///         Y = "y",
///     }
/// }
/// assert_eq!("y".parse::<Axis>().unwrap(), Axis::Y);
/// assert_eq!(Axis::X.to_string(), "x");
/// assert_eq!(Axis::ALL, [Axis::X, Axis::Y]);
/// assert_eq!("z".parse::<Axis>().unwrap_err().to_string(), "unknown axis 'z'; there are x, y");
/// ```
#[macro_export]
macro_rules! named {
    ($(#[$doc:meta])* $what:literal $enum:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:expr,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $enum {
            $($(#[$variant_doc])* $variant,)*
        }
        impl $enum {
            /// All of them.
            pub const ALL: &[$enum] = &[$($enum::$variant),*];
            /// Every name.
            pub const NAMES: &[&str] = &[$($name),*];
        }
        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.pad(match self { $($enum::$variant => $name,)* })
            }
        }
        impl std::str::FromStr for $enum {
            type Err = $crate::error::Error;
            fn from_str(name: &str) -> $crate::error::Result<Self> {
                let mut named = Self::ALL.iter().zip(Self::NAMES);
                let found = named.find(|(_, known)| **known == name);
                found.map(|(variant, _)| *variant).ok_or_else(|| $crate::named::unknown($what, name, Self::NAMES))
            }
        }
        impl $crate::named::serde::Serialize for $enum {
            fn serialize<S: $crate::named::serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}
pub use named;
