//! A kernel for each thing that the test `ptx` looks at.
#![allow(clippy::missing_safety_doc)]

mod atomics;
mod exchanges;
mod numbers;
mod places;
