//! The number types of VTK's arrays.

use crate::io::scan::{Number, Scanner};
use warpsolve_host::error::Result;

/// A type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// Numbers of any type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    /// Integers. Those too large for `i64` have become negative, which an index may not be.
    Whole(Vec<i64>),
    /// Floating-point numbers.
    Real(Vec<f64>),
}

impl Kind {
    /// The type with this name in a VTU file (`Int32`) or a legacy file (`unsigned_int`).
    pub fn named(name: &str) -> Option<Kind> {
        Some(match name.to_lowercase().as_str() {
            "int8" | "char" | "signed_char" | "vtktypeint8" => Kind::I8,
            "uint8" | "unsigned_char" | "vtktypeuint8" => Kind::U8,
            "int16" | "short" | "vtktypeint16" => Kind::I16,
            "uint16" | "unsigned_short" | "vtktypeuint16" => Kind::U16,
            // In legacy files vtkIdType has 32 bits.
            "int32" | "int" | "vtkidtype" | "vtktypeint32" => Kind::I32,
            "uint32" | "unsigned_int" | "vtktypeuint32" => Kind::U32,
            "int64" | "long" | "vtktypeint64" => Kind::I64,
            "uint64" | "unsigned_long" | "vtktypeuint64" => Kind::U64,
            "float32" | "float" => Kind::F32,
            "float64" | "double" => Kind::F64,
            _ => return None,
        })
    }

    /// Bytes of a number.
    pub fn size(self) -> usize {
        match self {
            Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
        }
    }

    /// The next `n` numbers of a file. `what` names them in messages.
    pub fn read(self, from: &mut Scanner, n: usize, what: &str) -> Result<Values> {
        Ok(match self {
            Kind::I8 => whole::<i8>(from.numbers(n, what)?, i64::from),
            Kind::U8 => whole::<u8>(from.numbers(n, what)?, i64::from),
            Kind::I16 => whole::<i16>(from.numbers(n, what)?, i64::from),
            Kind::U16 => whole::<u16>(from.numbers(n, what)?, i64::from),
            Kind::I32 => whole::<i32>(from.numbers(n, what)?, i64::from),
            Kind::U32 => whole::<u32>(from.numbers(n, what)?, i64::from),
            Kind::I64 => Values::Whole(from.numbers(n, what)?),
            Kind::U64 => whole::<u64>(from.numbers(n, what)?, |value| value as i64),
            Kind::F32 => Values::Real(from.numbers::<f32>(n, what)?.into_iter().map(f64::from).collect()),
            Kind::F64 => Values::Real(from.numbers(n, what)?),
        })
    }
}

fn whole<T: Number>(numbers: Vec<T>, widen: impl Fn(T) -> i64) -> Values {
    Values::Whole(numbers.into_iter().map(widen).collect())
}

impl Values {
    pub fn into_real(self) -> Vec<f64> {
        match self {
            Values::Whole(values) => values.into_iter().map(|value| value as f64).collect(),
            Values::Real(values) => values,
        }
    }

    /// The numbers if they are integers.
    pub fn into_whole(self) -> Option<Vec<i64>> {
        match self {
            Values::Whole(values) => Some(values),
            Values::Real(_) => None,
        }
    }

    /// Entry `i`, if it is an integer that fits into 32 bits, signed or not.
    pub fn whole(&self, i: usize) -> Option<i32> {
        match self {
            Values::Whole(values) => i32::try_from(values[i]).ok(),
            Values::Real(values) => Some(values[i] as i32).filter(|&whole| f64::from(whole) == values[i]),
        }
    }

    /// Entries 3 i to 3 i + 2.
    pub fn vector(&self, i: usize) -> [f64; 3] {
        [0, 1, 2].map(|axis| match self {
            Values::Whole(values) => values[3 * i + axis] as f64,
            Values::Real(values) => values[3 * i + axis],
        })
    }
}
