//! [`Inverses`] on several ranks: there are none. The coarsest matrix is rank 0's.

use cuda_std::Real;

use super::Inverses;
use crate::backend::distributed::{Borders, Distributed};
use crate::setup::Algebra;

impl<T: Real, B: Algebra<T> + Borders<T>> Inverses<T> for Distributed<B> {}
