//! The inverse of a matrix by its factors as they are: one solution, and no refinement.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::attempts::Attempts;
use super::factorisation::Factorisation;
use super::info::Info;
use super::ordered::Outlook;
use crate::error::Result;
use crate::matrix::Csr;

/// `A^-1`, as far as the factors are accurate.
pub(crate) struct Inverse {
    attempts: Attempts,
    /// None where it was cancelled.
    factorisation: Option<Factorisation>,
}

impl Inverse {
    /// Factorises, until the flag is raised. What is known of the matrix's factors already is taken from the
    /// outlook.
    ///
    /// # Errors
    /// [`Error::HostMemory`](crate::error::Error::HostMemory) where the factors do not fit.
    pub fn of(a: &Arc<Csr<f64>>, outlook: &Outlook, cancelled: Arc<AtomicBool>) -> Result<Inverse> {
        let attempts = Attempts::new(a.clone(), cancelled);
        let factorisation = attempts.first(outlook.take(a), f64::INFINITY)?;
        Ok(Inverse { attempts, factorisation })
    }

    /// `A^-1 r`. Where the factorisation was cancelled it is begun again; `None` where it is once more.
    pub fn times(&mut self, r: &[f64]) -> Result<Option<Vec<f64>>> {
        if self.factorisation.is_none() {
            self.factorisation = self.attempts.first(None, f64::INFINITY)?;
        }
        Ok(self.factorisation.as_mut().map(|factorisation| factorisation.solve(r, &[], &[])))
    }

    /// What was factorised.
    pub fn info(&self) -> Option<Info> {
        let Factorisation { factor, prediction, .. } = self.factorisation.as_ref()?;
        let entries = factor.sparse_lu().map(|lu| lu.entries());
        Some(Info { prediction: *prediction, entries, condition: None, null_space: 0 })
    }
}
