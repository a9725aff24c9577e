//! The first look at a matrix, where it is going to be solved with: a device reads it tens of times as fast
//! as the host, and has to have it anyway.

use std::sync::Arc;

use super::memory::copied;
use super::ranks::{OnDevices, Ranks};
use super::setup::{Clock, Times};
use super::trial::Ahead;
use super::{Device, Options, Precision, size};
use crate::analysis::{Closer, Mirrored};
use crate::backend::gpu::Gpu;
use crate::error::{Error, Result};
use crate::matrix::{Csr, Survey, check};
use crate::setup::{DeviceCsr, KnownPattern};

/// With fewer entries the host is done before a device has begun.
const SMALL: usize = 50_000;

/// Where a matrix is looked at.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    Host,
    /// The device that is to solve with it.
    Device(&'a Device),
    /// The same, where the pattern of the matrix may be already.
    Again(&'a Device, &'a KnownPattern),
    /// Those of several ranks, of which the first has this one.
    Ranks(&'a Device, &'a Ranks),
}

/// The matrix where it was looked at, unless that was the host.
#[derive(Default)]
pub(super) enum Copied {
    #[default]
    Nowhere,
    Whole(DeviceCsr<f64>),
    OnRanks(OnDevices),
}

impl Copied {
    pub fn take(&mut self) -> Copied {
        std::mem::take(self)
    }
    /// On one device.
    pub fn whole(self) -> Option<DeviceCsr<f64>> {
        if let Copied::Whole(copy) = self { Some(copy) } else { None }
    }
    /// Its pattern on one device, as long as that is used.
    pub fn pattern(&self) -> Option<KnownPattern> {
        if let Copied::Whole(copy) = self { Some(copy.known_pattern()) } else { None }
    }
    /// On those of several ranks.
    pub fn on_ranks(self) -> Option<OnDevices> {
        if let Copied::OnRanks(copy) = self { Some(copy) } else { None }
    }
}

/// What a look has found.
pub(super) struct Look {
    pub survey: Survey,
    /// By 2 to this power the matrix was divided.
    pub divided: i32,
    /// The matrix that was looked at.
    pub copy: Copied,
    gpu: Option<Gpu>,
    /// What the host tries with a piece of the matrix meanwhile, where nobody has chosen.
    pub ahead: Option<Ahead>,
}

impl Look {
    /// Looks at a matrix at this place, or on the host where that is not worth it. A matrix of extreme size
    /// becomes one of ordinary size.
    ///
    /// # Errors
    /// [`Error::Matrix`](crate::Error::Matrix) and [`Error::NotFinite`](crate::Error::NotFinite) for a matrix
    /// that is not square or not finite; those of a device.
    pub fn at(a: &mut Arc<Csr<f64>>, place: Place, options: &Options, times: &mut Times) -> Result<Look> {
        check::check_square(a)?;
        let gpu = match place {
            Place::Device(device) | Place::Again(device, _) if is_worthwhile(a, options) => {
                let has_room = |gpu: &&Gpu| DeviceCsr::<f64>::has_room(gpu, a.n_rows(), a.nnz());
                device.gpu().filter(has_room).map(|gpu| (gpu, device))
            }
            _ => None,
        };
        let is_open = !options.name_a_way() && options.block_size == 1;
        let ahead = gpu.filter(|_| is_open).map(|_| Ahead::of(a));
        let on_ranks = match place {
            Place::Ranks(device, ranks) if is_worthwhile(a, options) => {
                ranks.look(a, device, options, times)?
            }
            _ => None,
        };
        let (survey, copy) = match (gpu, on_ranks) {
            (Some((gpu, device)), _) => {
                let clock = Clock::start(device);
                let filled = match place {
                    Place::Again(_, pattern) => pattern.filled(gpu, a)?,
                    _ => None,
                };
                let copy = filled.map_or_else(|| copied(gpu, a, 0..a.n_rows(), options), Ok)?;
                times.upload += clock.seconds();
                (copy.survey(gpu)?, Copied::Whole(copy))
            }
            (None, Some((found, copy))) => {
                (Survey::made((a.n_rows(), a.n_cols()), &found), Copied::OnRanks(copy))
            }
            (None, None) => (Survey::of(a), Copied::Nowhere),
        };
        if !survey.is_finite {
            check::check_finite(a)?;
        }
        let divided = size::of_matrix(&survey, options.precision);
        if divided != 0 {
            *a = size::divided(a, divided);
            return Ok(Look { divided, ..Look::at(a, place, options, times)? });
        }
        Ok(Look { survey, divided, copy, gpu: gpu.map(|(gpu, _)| gpu.clone()), ahead })
    }

    /// The matrix has become another one.
    pub fn forget(&mut self) {
        (self.copy, self.ahead) = (Copied::Nowhere, None);
    }

    /// Who looks once more at the matrix, which is `a`.
    pub fn closer<'a>(&'a self, a: &'a Csr<f64>) -> impl Closer<Error = Error> + use<'a> {
        let whole = if let Copied::Whole(copy) = &self.copy { Some(copy) } else { None };
        Again { a, copy: self.gpu.as_ref().zip(whole) }
    }
}

struct Again<'a> {
    a: &'a Csr<f64>,
    copy: Option<(&'a Gpu, &'a DeviceCsr<f64>)>,
}

impl Closer for Again<'_> {
    type Error = Error;

    fn mirrored(&self) -> Result<Mirrored> {
        let Some((gpu, copy)) = self.copy else {
            let Ok(mirrored) = self.a.mirrored();
            return Ok(mirrored);
        };
        copy.mirrored(gpu)
    }

    fn has_indefinite_pair(&self) -> Result<bool> {
        let Some((gpu, copy)) = self.copy else {
            let Ok(has_pair) = self.a.has_indefinite_pair();
            return Ok(has_pair);
        };
        copy.has_indefinite_pair(gpu)
    }
}

/// Whether a matrix is copied to devices to be looked at: where they will be asked for it in these numbers.
fn is_worthwhile(a: &Csr<f64>, options: &Options) -> bool {
    a.nnz() > SMALL && options.precision == Precision::F64 && options.format.is_none()
}
