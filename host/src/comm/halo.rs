//! What ranks exchange so that each has the elements of others that it looks at.

use bytemuck::{AnyBitPattern, NoUninit};

use super::runs::{Placed, Runs};
use super::{Comm, received};
use crate::error::Result;

/// What is exchanged so that a rank has the elements of others that it looks at.
#[derive(Debug)]
pub(crate) struct Halo {
    /// Ranks that look at own unknowns, and which: their places here, ascending.
    pub sends: Vec<(usize, Runs)>,
    /// Ranks whose unknowns are looked at here, and the places of those, ascending.
    pub receives: Vec<(usize, Runs)>,
}

impl Halo {
    /// The places of all that is exchanged, ascending; and the same with places in this list.
    pub fn alone(&self) -> (Runs, Halo) {
        let all = Runs::union(self.sends.iter().chain(&self.receives).map(|(_, places)| places));
        let of = |lists: &[(usize, Runs)]| {
            lists.iter().map(|(rank, places)| (*rank, places.places_in(&all))).collect()
        };
        let (sends, receives) = (of(&self.sends), of(&self.receives));
        (all, Halo { sends, receives })
    }

    /// Overwrites the elements of others with what their ranks have. All ranks call this.
    pub fn update<U: NoUninit + AnyBitPattern>(&self, comm: &dyn Comm, elements: &mut [U]) -> Result<()> {
        exchange(comm, &self.sends, &self.receives, elements, |element, its| *element = its)
    }

    /// Makes elements 0 where any rank has 0 for them, on all ranks, which call this.
    pub fn settle(&self, comm: &dyn Comm, elements: &mut [u32]) -> Result<()> {
        exchange(comm, &self.receives, &self.sends, elements, |element, its| {
            if its == 0 {
                *element = 0;
            }
        })?;
        self.update(comm, elements)
    }

    /// The places of all that is sent, one rank after the other.
    pub fn sent(&self) -> Runs {
        one_after_the_other(&self.sends)
    }

    /// The places of all that is received, one rank after the other.
    pub fn places_received(&self) -> Runs {
        one_after_the_other(&self.receives)
    }

    /// The places of what is received, ascending, each with its number if all that is received is counted
    /// from `first` on.
    pub fn received_from(&self, first: usize) -> Vec<Placed> {
        self.places_received().placed_from(first)
    }

    /// What was received, in the order of the places.
    pub fn in_order<U: Copy>(&self, received: &[U]) -> Vec<U> {
        self.places_received().order().elements(received)
    }

    /// What others have for the unknowns that are received, one rank after the other, `per_row` numbers each;
    /// `sent` are those of this rank's. All ranks call this.
    pub fn received<U: NoUninit + AnyBitPattern>(
        &self,
        comm: &dyn Comm,
        sent: &[U],
        per_row: usize,
    ) -> Result<Vec<U>> {
        let Halo { sends, receives } = self;
        let mut first = 0;
        let messages = sends.iter().map(|(to, places)| {
            let part = &sent[per_row * first..per_row * (first + places.len())];
            first += places.len();
            (*to, bytemuck::cast_slice(part))
        });
        let messages: Vec<(usize, &[u8])> = messages.collect();
        let counts: Vec<(usize, usize)> =
            receives.iter().map(|(from, places)| (*from, per_row * places.len())).collect();
        received(comm, &messages, &counts)
    }
}

/// The places of some lists, one rank after the other.
pub(crate) fn one_after_the_other(lists: &[(usize, Runs)]) -> Runs {
    lists.iter().flat_map(|(_, places)| places.iter_runs()).collect()
}

/// The elements at the places of `sends` go there; `put` gets those at the places of `receives`, each with
/// what comes for it.
fn exchange<U: NoUninit + AnyBitPattern>(
    comm: &dyn Comm,
    sends: &[(usize, Runs)],
    receives: &[(usize, Runs)],
    elements: &mut [U],
    put: impl Fn(&mut U, U),
) -> Result<()> {
    let sent: Vec<(usize, Vec<U>)> =
        sends.iter().map(|(to, places)| (*to, places.elements(elements))).collect();
    let messages: Vec<(usize, &[u8])> =
        sent.iter().map(|(to, elements)| (*to, bytemuck::cast_slice(elements))).collect();
    let counts: Vec<(usize, usize)> = receives.iter().map(|(from, places)| (*from, places.len())).collect();
    let received: Vec<U> = received(comm, &messages, &counts)?;
    let mut rest = received.into_iter();
    for (place, count) in receives.iter().flat_map(|(_, places)| places.iter_runs()) {
        let places = &mut elements[place as usize..][..count];
        places.iter_mut().zip(rest.by_ref()).for_each(|(element, its)| put(element, its));
    }
    Ok(())
}
