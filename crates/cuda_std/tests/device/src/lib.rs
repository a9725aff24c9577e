//! A kernel for each thing that the test `ptx` looks at.
#![allow(clippy::missing_safety_doc)]

mod atomics;
mod clusters;
mod exchanges;
mod numbers;
mod places;
