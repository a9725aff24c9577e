//! What rank 0 computes for all.

use cuda_std::Real;

use super::Distributed;
use crate::backend::gpu::{bytes_of, bytes_of_mut};
use crate::backend::{Backend, Monitoring};
use crate::comm::Partition;
use crate::error::{Error, Result};

/// What rank 0 has for it: who has which elements, and what makes a whole vector of another.
pub(crate) type AtRoot<'a, T, B> = (&'a Partition, &'a mut dyn FnMut(&B, &[T]) -> Result<Vec<T>>);

impl<B> Distributed<B> {
    /// `z = f(r)`, with f of rank 0, where r is gathered and whence z is scattered; the others give `None`.
    /// Nothing where the guard has stopped.
    pub(crate) fn at_root<T: Real>(
        &self,
        root: Option<AtRoot<T, B>>,
        r: &B::Vector,
        z: &mut B::Vector,
    ) -> Result<()>
    where
        B: Backend<T>,
    {
        let (inner, comm) = (self.inner(), &**self.comm());
        if Monitoring::<T>::has_stopped(inner)? {
            return Ok(());
        }
        let mine = inner.to_host(r)?;
        let parts = comm.gather(bytes_of(&mine).to_vec())?;
        let part = match (root, parts) {
            (Some((partition, f)), Some(parts)) => {
                let rows = |rank: usize| partition.rows(rank).iter().map(|&i| i as usize);
                let mut r = vec![T::ZERO; partition.n_rows()];
                for (rank, part) in parts.iter().enumerate() {
                    rows(rank).zip(elements(part)?).for_each(|(i, value)| r[i] = value);
                }
                let z = f(inner, &r)?;
                let part = |rank: usize| rows(rank).map(|i| z[i]).collect::<Vec<T>>();
                (1..parts.len()).try_for_each(|to| comm.send(to, bytes_of(&part(to))))?;
                part(0)
            }
            _ => elements(&comm.receive(0)?)?,
        };
        inner.copy(&inner.vector(&part)?, z)
    }
}

/// The numbers of a message.
fn elements<T: Real>(message: &[u8]) -> Result<Vec<T>> {
    let mut values = vec![T::ZERO; message.len() / size_of::<T>()];
    match bytes_of_mut(&mut values) {
        bytes if bytes.len() == message.len() => bytes.copy_from_slice(message),
        _ => return Err(Error::Option("a rank has another number type".into())),
    }
    Ok(values)
}
