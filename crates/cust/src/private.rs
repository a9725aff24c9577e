//! Keeps traits of this crate from being implemented elsewhere.

pub trait Sealed {}
