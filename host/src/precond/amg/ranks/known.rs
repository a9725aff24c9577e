//! What every rank knows before all set up together.

use crate::comm::{Comm, Partition, Reader, Runs, Writer};
use crate::error::{Error, Result};
use crate::precond::amg::NearNull;

/// What every rank knows before all set up together.
#[derive(Clone)]
pub(crate) struct Known {
    /// The numbers that its rows have in the whole matrix, ascending.
    pub numbers: Runs,
    /// Rows of the whole matrix.
    pub total: usize,
    /// Whether the hierarchy is applied in f32.
    pub in_f32: bool,
    /// This rank's part of what is to be interpolated well, instead of the constant 1. All unknowns of a node
    /// are on one rank.
    pub near_null: Option<NearNull>,
}

impl Known {
    /// What rank 0 tells, which knows which rank has which rows, and whether the hierarchy is applied in f32.
    /// All ranks call this.
    pub fn told(
        comm: &dyn Comm,
        root: Option<(&Partition, bool)>,
        near_null: Option<NearNull>,
    ) -> Result<Known> {
        let message = match root {
            None => comm.receive(0)?,
            Some((partition, in_f32)) => {
                let message = |rank| {
                    let known = [partition.n_rows() as u64, u64::from(in_f32)];
                    Writer::new().put(&known).put(&partition.rows(rank).sent()).bytes()
                };
                (1..comm.size()).try_for_each(|rank| comm.send(rank, &message(rank)))?;
                message(0)
            }
        };
        let mut message = Reader::new(&message);
        match message.take::<u64>()?[..] {
            [total, in_f32] => {
                let numbers = Runs::received(message.take()?);
                Ok(Known { numbers, total: total as usize, in_f32: in_f32 != 0, near_null })
            }
            _ => Err(Error::Option("rank 0 tells something else".into())),
        }
    }
}
