//! Scalars that stay where the vectors are: the place of one, and the coefficients that are made of them.

/// The index of one scalar among a backend's [`Memory::Scalars`](super::Memory::Scalars).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot(pub usize);

impl Slot {
    /// The slot `i` places behind this one.
    pub const fn offset(self, i: usize) -> Slot {
        Slot(self.0 + i)
    }
}

/// The coefficient `scale * product of (num / den)` of a vector update, with scalars that stay in place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coef {
    /// The constant factor.
    pub scale: f64,
    /// Numerators.
    pub num: [Option<Slot>; 2],
    /// Denominators.
    pub den: [Option<Slot>; 2],
}

impl Coef {
    /// The constant 0: a vector with this coefficient is not read.
    pub const ZERO: Coef = Coef::constant(0.0);
    /// The constant 1.
    pub const ONE: Coef = Coef::constant(1.0);

    /// A number known on the host.
    pub const fn constant(scale: f64) -> Self {
        Coef { scale, num: [None; 2], den: [None; 2] }
    }

    /// The scalar in a slot.
    pub const fn slot(slot: Slot) -> Self {
        Coef { scale: 1.0, num: [Some(slot), None], den: [None; 2] }
    }

    /// `num / den`.
    pub const fn ratio(num: Slot, den: Slot) -> Self {
        Coef { scale: 1.0, num: [Some(num), None], den: [Some(den), None] }
    }

    /// `1 / den`.
    pub const fn inverse(den: Slot) -> Self {
        Coef { scale: 1.0, num: [None; 2], den: [Some(den), None] }
    }

    /// This coefficient times a second ratio.
    pub const fn times(self, num: Slot, den: Slot) -> Self {
        Coef { scale: self.scale, num: [self.num[0], Some(num)], den: [self.den[0], Some(den)] }
    }

    /// The same with the other sign.
    pub const fn negated(self) -> Self {
        Coef { scale: -self.scale, num: self.num, den: self.den }
    }
}
