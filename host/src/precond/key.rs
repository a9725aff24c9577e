//! Parameters of a preconditioner that are set by `key=value`, each key declared once: its field, type,
//! default, what it takes and means, its range, and what it goes with.

use crate::error::{Error, Result};
use crate::named::unknown;

/// The description of a field of `P`.
pub struct Key<P: 'static> {
    /// The field, and the key.
    pub name: &'static str,
    /// What it is, line by line.
    pub(super) lines: &'static [&'static str],
    /// The values it takes.
    pub takes: &'static str,
    /// Its default as it would be written; "auto" for `None`.
    pub default: fn() -> String,
    /// The field as it would be written.
    pub(crate) written: fn(&P) -> String,
    pub(super) set: fn(&mut P, &str) -> Result<()>,
    pub(super) is_in_range: fn(&P) -> bool,
    /// Whether anything uses it, and what would; "" for what is always used.
    pub(super) used_with: (&'static str, fn(&P) -> bool),
}

impl<P> Clone for Key<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Key<P> {}

impl<P> Key<P> {
    /// What it is, in one line of Markdown.
    pub fn doc(&self) -> String {
        self.lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    /// [`Error::Option`] with the permitted range, where the field is out of it.
    pub(super) fn check(&self, params: &P) -> Result<()> {
        if (self.is_in_range)(params) { Ok(()) } else { Err(refusal(self.name, self.takes)) }
    }
}

/// Sets the field `key`; "auto" is `None`.
pub(super) fn set<P>(keys: &[Key<P>], params: &mut P, key: &str, value: &str) -> Result<()> {
    let Some(known) = keys.iter().find(|known| known.name == key) else {
        return Err(unknown("key", key, &keys.iter().map(|known| known.name).collect::<Vec<_>>()));
    };
    (known.set)(params, value)
}

/// What the field `key` needs of the others to mean anything, where they are not so.
pub(super) fn needs<P>(keys: &[Key<P>], params: &P, key: &str) -> Option<&'static str> {
    let (by, is_used) = keys.iter().find(|known| known.name == key)?.used_with;
    (!is_used(params)).then_some(by)
}

pub(super) fn refusal(name: &str, takes: &str) -> Error {
    Error::Option(format!("{name} takes {takes}"))
}

/// Declares `Params`: for each key its doc, type and default, what it takes, and where they are not trivial
/// the range `if` it is in, and what it goes `with`.
macro_rules! parameters {
    ($(#[$doc:meta])* $params:ident; $(
        $(#[doc = $line:literal])+
        $name:ident: $type:ty = $default:expr, takes $takes:literal
        $(, if $range:expr)? $(, with $by:literal where $used:expr)?;
    )+) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize)]
        pub struct $params {
            $($(#[doc = $line])+ pub $name: $type,)+
        }

        impl Default for $params {
            fn default() -> Self {
                $params { $($name: $default),+ }
            }
        }

        impl $params {
            /// Every field.
            pub const KEYS: [$crate::precond::Key<$params>; [$(stringify!($name)),+].len()] = [$($crate::precond::Key {
                name: stringify!($name),
                lines: &[$($line),+],
                takes: $takes,
                default: || $crate::precond::key::Value::written(&<$params>::default().$name),
                written: |params| $crate::precond::key::Value::written(&params.$name),
                set: |params, text| {
                    params.$name = $crate::precond::key::Value::read(text)
                        .map_err(|error| error.unwrap_or_else(|| $crate::precond::key::refusal(stringify!($name), $takes)))?;
                    Ok(())
                },
                is_in_range: {
                    #[allow(unused_mut, unused_assignments)]
                    let mut check: fn(&$params) -> bool = |_| true;
                    $(check = |params| { let in_range: fn($type) -> bool = $range; in_range(params.$name) };)?
                    check
                },
                used_with: {
                    #[allow(unused_mut, unused_assignments)]
                    let mut with: (&'static str, fn(&$params) -> bool) = ("", |_| true);
                    $(with = ($by, $used);)?
                    with
                },
            }),+];

            /// Sets the field `key`; "auto" is `None`.
            ///
            /// # Errors
            /// [`Error::Option`](crate::Error::Option) for an unknown key, with the nearest known one, and
            /// for a value of another type. Ranges are looked at by `check`.
            pub fn set(&mut self, key: &str, value: &str) -> $crate::error::Result<()> {
                $crate::precond::key::set(&Self::KEYS, self, key, value)
            }

            /// What the field `key` needs of the others to mean anything, where they are not so.
            pub fn needs(&self, key: &str) -> Option<&'static str> {
                $crate::precond::key::needs(&Self::KEYS, self, key)
            }
        }
    };
}

/// A type of a field.
pub(crate) trait Value: Sized {
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
        impl $crate::precond::key::Value for $type {
            fn read(text: &str) -> std::result::Result<Self, Option<$crate::error::Error>> {
                text.parse().map_err(Some)
            }
            fn written(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

pub(super) use {named_values, parameters};
