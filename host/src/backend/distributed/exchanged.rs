//! How much ranks have exchanged.

/// What a rank told others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Exchanges of elements, one for each product with a matrix that has columns of others.
    pub exchanges: u64,
    /// Bytes that were sent in them.
    pub bytes: u64,
    /// Reductions over ranks.
    pub reductions: u64,
}

impl Exchanged {
    /// What came since `before`.
    pub(crate) fn since(self, before: Exchanged) -> Exchanged {
        Exchanged {
            exchanges: self.exchanges - before.exchanges,
            bytes: self.bytes - before.bytes,
            reductions: self.reductions - before.reductions,
        }
    }
    pub(crate) fn add(&mut self, more: Exchanged) {
        self.exchanges += more.exchanges;
        self.bytes += more.bytes;
        self.reductions += more.reductions;
    }
}
