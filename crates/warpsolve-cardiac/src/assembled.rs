//! What a rank assembles on.

use std::borrow::Cow;

use crate::mesh::Part;

/// The elements that a rank assembles on.
pub(super) struct Assembled<'m, const C: usize> {
    pub points: Cow<'m, [[f64; 3]]>,
    pub cells: Cow<'m, [[u32; C]]>,
    pub fibres: Option<Cow<'m, [[f64; 3]]>>,
    pub regions: Option<Cow<'m, [i32]>>,
}

impl<const C: usize> Assembled<'_, C> {
    /// The elements that `keep` says.
    pub fn part(&self, keep: impl Fn(usize) -> bool) -> Part<C> {
        let cells = (0..).zip(self.cells.iter().copied());
        Part::of(&self.points, cells.filter(|&(t, _)| keep(t as usize)))
    }
}
