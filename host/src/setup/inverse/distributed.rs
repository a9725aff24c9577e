//! [`Inverses`] on several ranks: there are none. The coarsest matrix is rank 0's.

use cuda_std::Real;

use super::Inverses;
use crate::backend::distributed::{Borders, Distributed};
use crate::setup::Parts;

impl<T: Real, B: Parts<T> + Borders<T>> Inverses<T> for Distributed<B> {}
