//! What ranks exchange before they compute: elements of a vector, straight or through the host.

use std::sync::{Arc, Mutex, PoisonError};

use cuda_std::Real;

use super::Distributed;
use super::border::Borders;
use super::peers::Peers;
use crate::backend::gpu::{bytes_of, bytes_of_mut};
use crate::comm::Links;
use crate::error::{Error, Result};

/// An exchange of elements of vectors.
pub(super) struct Exchange<T: Real, B: Borders<T>> {
    links: Links,
    outgoing: B::Outgoing,
    /// What is sent, and what was received, where they go through the host.
    elements: Mutex<(Vec<T>, Vec<T>)>,
}

impl<T: Real, B: Borders<T>> Exchange<T, B> {
    /// Of vectors of `n` elements. With `peers` all ranks call this.
    pub fn new(inner: &B, links: &Links, n: usize, peers: Option<&Arc<Peers>>) -> Result<Self> {
        if links.places_sent().end() > n {
            return Err(Error::Matrix(format!("a border has columns beyond {n}")));
        }
        Ok(Exchange {
            outgoing: inner.outgoing(links, peers)?,
            elements: Mutex::new((Vec::new(), vec![T::ZERO; links.count_received()])),
            links: links.clone(),
        })
    }

    /// Sends the elements of x that others need, and does `work` with those received: `None` where they have
    /// been [put](Borders::put). Nothing where the guard has stopped.
    pub fn around(
        &self,
        backend: &Distributed<B>,
        x: &B::Vector,
        work: impl FnOnce(&B::Outgoing, Option<&[T]>) -> Result<()>,
    ) -> Result<()> {
        let mut elements = self.elements.lock().unwrap_or_else(PoisonError::into_inner);
        let (outgoing, inner) = (&self.outgoing, backend.inner());
        if inner.put(outgoing, x)? {
            return work(outgoing, None);
        }
        if self.links != Links::default() {
            if inner.has_stopped()? {
                return Ok(());
            }
            self.through_host(backend, x, &mut elements)?;
        }
        work(outgoing, Some(&elements.1))
    }

    fn through_host(
        &self,
        backend: &Distributed<B>,
        x: &B::Vector,
        (sent, received): &mut (Vec<T>, Vec<T>),
    ) -> Result<()> {
        let Links { sends, receives } = &self.links;
        backend.inner().sent(&self.outgoing, x, sent)?;
        let mut first = 0;
        let messages = sends.iter().map(|(to, places)| {
            let part = &sent[first..first + places.len()];
            first += places.len();
            (*to, bytes_of(part))
        });
        let messages: Vec<_> = messages.collect();
        let mut rest = &mut received[..];
        let mut places = Vec::with_capacity(receives.len());
        for &(from, count) in receives {
            let place;
            (place, rest) = std::mem::take(&mut rest).split_at_mut(count);
            places.push((from, bytes_of_mut(place)));
        }
        backend.comm().exchange(&messages, &mut places)?;
        backend.count_exchange(size_of_val(&sent[..]));
        Ok(())
    }
}
