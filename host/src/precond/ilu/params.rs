//! What can be chosen about an incomplete factorisation, each key declared once.

use serde::Serialize;

use crate::error::Result;
use crate::named::named;
use crate::precond::key::{named_values, parameters};

named! {
    /// Which entries of the factors are kept.
    "kind of factorisation" Kind {
        /// Those of the pattern of A, and of so many levels of fill (Saad 2003, section 10.3).
        Levels = "ilu",
        /// Those that are large enough, and so many a row (Saad 1994; 2003, section 10.4).
        Threshold = "ilut",
        /// Only the pivots are computed; off the diagonal the factors are A's (Pommerell 1992; Barrett and
        /// others 1994, section 3.4.2).
        Diagonal = "dilu",
    }
}

named! {
    /// In which order the unknowns are eliminated.
    "order" Order {
        /// As they are numbered.
        Natural = "natural",
        /// Reverse Cuthill-McKee: a small bandwidth.
        Rcm = "rcm",
        /// Approximate minimum degree: little fill.
        Amd = "amd",
        /// By colours, so that all unknowns of a colour are solved at once: an unknown has the first colour
        /// that no neighbour has which is before it in an order by chance (Jones and Plassmann 1993).
        Multicolour = "multicolour",
    }
}

named! {
    /// How a vector is multiplied by the inverses of the factors.
    "solves" Solves {
        /// Level by level: the unknowns of a level do not depend on each other (Saad 2003, section 11.6.3).
        Exact = "exact",
        /// By sparse approximate inverses in the pattern of the factors (ISAI; Anzt, Huckle, Bräckle and
        /// Dongarra 2018).
        Inverses = "isai",
    }
}

named_values!(Kind, Order, Solves);

parameters! {
    /// The parameters of an incomplete factorisation.
    Params;

    /// Which entries of the factors are kept: `ilu` by levels of fill, `ilut` by their size; `dilu` computes
    /// the pivots alone. Of a symmetric matrix with a positive diagonal it is the factorisation of Cholesky,
    /// `L D L^T` with positive D.
    kind: Kind = Kind::Levels, takes "ilu, ilut or dilu";

    /// `ilu`: levels of fill; 0 keeps the pattern of A.
    fill: u32 = 0, takes "a whole number up to 20", if |fill| fill <= 20,
        with "kind=ilu" where |p| p.kind == Kind::Levels;

    /// `ilut`: entries below this share of their row's norm are dropped.
    drop: f64 = 1e-3, takes "a number of at least 0 and below 1", if |drop| (0.0..1.0).contains(&drop),
        with "kind=ilut" where |p| p.kind == Kind::Threshold;

    /// `ilut`: a row of a factor keeps so many times as many entries as rows of A have on a side of the
    /// diagonal on average.
    growth: f64 = 10.0, takes "a number from 1 to 1000", if |growth| (1.0..=1000.0).contains(&growth),
        with "kind=ilut" where |p| p.kind == Kind::Threshold;

    /// The order of elimination; auto: `multicolour` where the factors have the pattern of A, which can be
    /// solved with by many threads, `amd` for `ilut`, else `rcm`.
    order: Option<Order> = None, takes "natural, rcm, amd, multicolour or auto";

    /// How it is applied: `exact` solves with the factors, level after level; `isai` multiplies by sparse
    /// approximate inverses of them, which is one step; auto: `isai` where the factors have the pattern of a
    /// symmetric matrix with a positive diagonal, in the order of colours, and these inverses are accurate;
    /// else `exact`.
    solves: Option<Solves> = None, takes "exact, isai or auto";

    /// Whether rows are permuted so that the largest product of entries is on the diagonal, and the matrix is
    /// scaled; auto: where the diagonal has zeros.
    matching: Option<bool> = None, takes "true, false or auto";

    /// On several ranks: each factorises its rows and so many layers of others' around them, and keeps its
    /// part of the solution (restricted additive Schwarz, Cai and Sarkis 1999). 0: its own alone, block
    /// Jacobi. More layers save iterations and need more memory; the preconditioner is not symmetric then,
    /// so that CG and MINRES do not go with it.
    overlap: u32 = 0, takes "a whole number up to 20", if |overlap| overlap <= 20;
}

impl Params {
    /// [`Error::Option`](crate::Error::Option) with the permitted range, where a field is out of it.
    pub fn check(&self) -> Result<()> {
        Self::KEYS.iter().try_for_each(|key| key.check(self))
    }

    /// Whether the factors have the pattern of A.
    pub(super) fn keeps_pattern(&self) -> bool {
        self.kind == Kind::Diagonal || self.kind == Kind::Levels && self.fill == 0
    }

    /// The order, with what auto stands for.
    pub fn order(&self) -> Order {
        self.order.unwrap_or(match self.kind {
            _ if self.keeps_pattern() => Order::Multicolour,
            Kind::Threshold => Order::Amd,
            _ => Order::Rcm,
        })
    }
}
