//! The operations of [`crate::backend::Algebra`] on a device, one file a concept.

mod aggregate;
mod blocks;
mod convert;
mod independent_set;
mod interpolate;
mod inverse;
mod product;
mod scan;
mod strength;
mod transpose;
