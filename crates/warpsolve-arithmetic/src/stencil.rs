//! The 5-point stencil.

/// How a point's new value comes from its own and its neighbours'.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Of the point's own value.
    pub centre: f64,
    /// Of each neighbour's and of the source.
    pub side: f64,
}

impl Weights {
    /// `centre u + side (east + west + south + north + b)`
    ///
    /// Each term is multiplied by itself, as the heat program of the tutorial rounds.
    #[inline(always)]
    pub fn apply(&self, u: f64, [east, west, south, north]: [f64; 4], b: f64) -> f64 {
        let Weights { centre, side } = *self;
        centre * u + side * east + side * west + side * south + side * north + side * b
    }
}
