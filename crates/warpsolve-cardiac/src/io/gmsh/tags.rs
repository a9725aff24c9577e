//! Gmsh's numbers of nodes, which may have gaps and come in any order.

/// Finds the index of a node by its number.
#[derive(Default)]
pub(super) struct Tags {
    /// (number, index), ascending.
    sorted: Vec<(u64, u32)>,
}

impl Tags {
    /// `tags` are the nodes' numbers in their order. The error is a number that is there twice.
    pub fn new(tags: Vec<u64>) -> Result<Self, u64> {
        let mut sorted: Vec<(u64, u32)> = tags.into_iter().zip(0..).collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(twice) => Err(twice[0].0),
            None => Ok(Tags { sorted }),
        }
    }

    /// The index of a node, counted from 0.
    pub fn index(&self, tag: u64) -> Option<i64> {
        let first = self.sorted.first()?.0;
        // Without gaps the guess is right.
        let guess = usize::try_from(tag.checked_sub(first)?).ok()?;
        let found = match self.sorted.get(guess) {
            Some(&(found, _)) if found == tag => guess,
            _ => self.sorted.binary_search_by_key(&tag, |&(tag, _)| tag).ok()?,
        };
        Some(i64::from(self.sorted[found].1))
    }
}
