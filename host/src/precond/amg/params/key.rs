//! The macro that declares a key of the parameters once, and the types of values.

use crate::error::Error;

/// Declares `Params`: for each key its doc, type and default, what it takes, and where they are not trivial
/// the range `if` it is in, and what it goes `with`.
macro_rules! parameters {
    ($(
        $(#[doc = $line:literal])+
        $name:ident: $type:ty = $default:expr, takes $takes:literal
        $(, if $range:expr)? $(, with $by:literal where $used:expr)?;
    )+) => {
        /// The parameters of a hierarchy, of its smoothers and of its cycle.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        pub struct Params {
            $($(#[doc = $line])+ pub $name: $type,)+
        }

        impl Default for Params {
            fn default() -> Self {
                Params { $($name: $default),+ }
            }
        }

        impl Params {
            /// Every field.
            pub const KEYS: [Key; [$(stringify!($name)),+].len()] = [$(Key {
                name: stringify!($name),
                lines: &[$($line),+],
                takes: $takes,
                default: || Params::default().$name.written(),
                set: |params, text| {
                    params.$name = Value::read(text).map_err(|error| error.unwrap_or_else(|| refusal(stringify!($name))))?;
                    Ok(())
                },
                is_in_range: {
                    #[allow(unused_mut, unused_assignments)]
                    let mut check: fn(&Params) -> bool = |_| true;
                    $(check = |params| { let in_range: fn($type) -> bool = $range; in_range(params.$name) };)?
                    check
                },
                used_with: {
                    #[allow(unused_mut, unused_assignments)]
                    let mut with: (&'static str, fn(&Params) -> bool) = ("", |_| true);
                    $(with = ($by, $used);)?
                    with
                },
            }),+];
        }
    };
}

/// A type of a field.
pub(super) trait Value: Sized {
    /// The value of this text. The error is `None` where it is no value of the type.
    fn read(text: &str) -> std::result::Result<Self, Option<Error>>;
    /// The text of this value.
    fn written(&self) -> String;
}

macro_rules! plain_values {
    ($($type:ty),*) => {$(
        impl Value for $type {
            fn read(text: &str) -> std::result::Result<Self, Option<Error>> {
                text.parse().map_err(|_| None)
            }
            fn written(&self) -> String {
                format!("{self:?}")
            }
        }
    )*};
}
plain_values!(f64, u32, usize, bool);

impl<V: Value> Value for Option<V> {
    fn read(text: &str) -> std::result::Result<Self, Option<Error>> {
        if text == "auto" { Ok(None) } else { V::read(text).map(Some) }
    }
    fn written(&self) -> String {
        self.as_ref().map_or("auto".into(), V::written)
    }
}

/// [`Value`] for enums with names.
macro_rules! named_values {
    ($($type:ty),*) => {$(
        impl Value for $type {
            fn read(text: &str) -> std::result::Result<Self, Option<Error>> {
                text.parse().map_err(Some)
            }
            fn written(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

pub(super) use {named_values, parameters};
