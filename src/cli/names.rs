//! Options whose values have names: shells complete them, and a wrong one is refused by the type's own error,
//! which knows the nearest name.

use std::error::Error as StdError;
use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};

/// Reads a `T` from its name.
#[derive(Clone)]
pub struct Names<T> {
    lists: &'static [&'static [&'static str]],
    read: PhantomData<fn() -> T>,
}

/// A parser of `T`, whose names are those of the `lists`.
pub fn named<T>(lists: &'static [&'static [&'static str]]) -> Names<T> {
    Names { lists, read: PhantomData }
}

impl<T> TypedValueParser for Names<T>
where
    T: FromStr<Err: Into<Box<dyn StdError + Send + Sync>>> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        T::from_str.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.lists.iter().copied().flatten().copied().map(PossibleValue::new)))
    }
}
