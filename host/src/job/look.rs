//! The first look at a matrix, where it is going to be solved with: a device reads it tens of times as fast
//! as the host, and has to have it anyway.

use std::sync::Arc;
use std::time::Instant;

use super::setup::Times;
use super::trial::Ahead;
use super::{Device, Options, Precision, size};
use crate::analysis::{Closer, Mirrored};
use crate::backend::gpu::buffer::check_reach;
use crate::backend::gpu::{Gpu, check_memory};
use crate::error::{Error, Result};
use crate::matrix::{Csr, Survey, check};
use crate::setup::DeviceCsr;

/// With fewer entries the host is done before a device has begun.
const SMALL: usize = 50_000;

/// What a look has found.
pub(super) struct Look {
    pub survey: Survey,
    /// By 2 to this power the matrix was divided.
    pub divided: i32,
    /// The matrix that was looked at, where that is on a device.
    pub copy: Option<DeviceCsr<f64>>,
    gpu: Option<Gpu>,
    /// What the host tries with a piece of the matrix meanwhile, where nobody has chosen.
    pub ahead: Option<Ahead>,
}

impl Look {
    /// Looks at a matrix on the device that is to solve with it, where there is one. A matrix of extreme size
    /// becomes one of ordinary size.
    ///
    /// # Errors
    /// [`Error::Matrix`](crate::Error::Matrix) and [`Error::NotFinite`](crate::Error::NotFinite) for a matrix
    /// that is not square or not finite; those of a device.
    pub fn at(
        a: &mut Arc<Csr<f64>>,
        device: Option<&Device>,
        options: &Options,
        times: &mut Times,
    ) -> Result<Look> {
        check::check_square(a)?;
        let gpu = device.and_then(Device::gpu).filter(|gpu| is_worthwhile(a, gpu, options));
        let is_open = !options.name_a_way() && options.block_size == 1;
        let ahead = gpu.filter(|_| is_open).map(|_| Ahead::of(a));
        let copy = match gpu {
            None => None,
            Some(gpu) => {
                let start = Instant::now();
                let copy = DeviceCsr::upload(gpu.device(), a)?;
                times.upload += start.elapsed().as_secs_f64();
                Some(copy)
            }
        };
        let survey = match gpu.zip(copy.as_ref()) {
            None => Survey::of(a),
            Some((gpu, copy)) => copy.survey(gpu)?,
        };
        if !survey.is_finite {
            check::check_finite(a)?;
        }
        let divided = size::of_matrix(&survey, options.precision);
        if divided != 0 {
            *a = size::divided(a, divided);
            return Ok(Look { divided, ..Look::at(a, device, options, times)? });
        }
        Ok(Look { survey, divided, copy, gpu: gpu.cloned(), ahead })
    }

    /// The matrix has become another one.
    pub fn forget(&mut self) {
        (self.copy, self.ahead) = (None, None);
    }

    /// Who looks once more at the matrix, which is `a`.
    pub fn closer<'a>(&'a self, a: &'a Csr<f64>) -> impl Closer<Error = Error> + use<'a> {
        Again { a, copy: self.gpu.as_ref().zip(self.copy.as_ref()) }
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

/// Whether the matrix is copied to a device to be looked at: where it has room for that, and will be asked
/// for it in these numbers.
fn is_worthwhile(a: &Csr<f64>, gpu: &Gpu, options: &Options) -> bool {
    let bytes = (12 * a.nnz() + 4 * a.n_rows()) as u64;
    a.nnz() > SMALL
        && check_reach(a.nnz() as u64).is_ok()
        && options.precision == Precision::F64
        && options.format.is_none()
        && check_memory(&**gpu.device(), &[("matrix", bytes)]).is_ok()
}
