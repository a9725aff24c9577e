//! What can be chosen about a multigrid hierarchy, each key declared once: its field, type, default, what it
//! takes and means, its range, and what it goes with.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::matrix::Format;
use crate::named::named;
use crate::precond::key::{named_values, parameters};

#[cfg(test)]
mod tests;

named! {
    /// How a coarser problem is made.
    "coarsening" Coarsening {
        /// Smoothed aggregation (Vanek, Mandel, Brezina 1996).
        SmoothedAggregation = "sa",
        /// Classical: a PMIS splitting, extended+i interpolation (De Sterck, Yang, Heys 2006; De Sterck,
        /// Falgout, Nolting, Yang 2008).
        Pmis = "pmis",
        /// The coarse unknowns of Mandel and Brezina, averaged (Rosenberger and Haase 2017, section 9.3).
        MandelBrezina = "mandel-brezina",
    }
}

named! {
    /// How [`Coarsening::MandelBrezina`] chooses coarse unknowns.
    "splitting" Splitting {
        /// Local maxima of hashed weights, in parallel.
        Parallel = "parallel",
        /// One unknown after another, on the host, as the source describes it.
        Greedy = "greedy",
    }
}

named! {
    /// What damps the error that the coarser levels do not see.
    "smoother" SmootherKind {
        /// `x += omega D^-1 (b - A x)`, D the diagonal, larger in rows of slivers
        /// (`spectrum.rs`).
        Jacobi = "jacobi",
        /// Jacobi with the rows' sums of absolute values in place of the diagonal.
        L1Jacobi = "l1-jacobi",
        /// A Chebyshev polynomial in `D^-1 A` over the upper part of its spectrum.
        Chebyshev = "chebyshev",
        /// Jacobi with the diagonal approximate inverse of least Frobenius norm.
        Spai0 = "spai0",
        /// Incomplete factors on the pattern of the level's matrix, made on the host.
        Ilu = "ilu",
    }
}

named! {
    /// The order in which the levels are visited.
    "cycle" Cycle {
        /// Each level once down and once up.
        V = "v",
        /// Every level visits the next coarser one twice.
        W = "w",
        /// An F-cycle, then a V-cycle, on the next coarser level.
        F = "f",
        /// Two steps of flexible CG on every coarser level, preconditioned by the cycle (Notay and
        /// Vassilevski 2008).
        K = "k",
    }
}

named! {
    /// What stands for the inverse of the coarsest matrix.
    "coarsest" CoarsestSolve {
        /// Its dense inverse.
        Dense = "dense",
        /// The inverse of its diagonal, or of its diagonal blocks (Rosenberger and Haase 2017, section 9.5).
        Diagonal = "diagonal",
    }
}

named! {
    /// Where the hierarchy is computed.
    "place of the set-up" SetupOn {
        /// Where it will be used.
        Device = "device",
        /// On the host's threads.
        Host = "host",
    }
}

named_values!(Coarsening, Splitting, SmootherKind, Cycle, CoarsestSolve, SetupOn, Format);

parameters! {
    /// The parameters of a hierarchy, of its smoothers and of its cycle.
    Params;

    /// How coarser problems are made: smoothed aggregation, classical coarsening with extended+i
    /// interpolation, or the averages of Mandel and Brezina.
    coarsening: Coarsening = Coarsening::SmoothedAggregation, takes "sa, pmis or mandel-brezina";

    /// How `mandel-brezina` chooses coarse unknowns: local maxima of hashed weights, or one after another on
    /// the host, as the source has it.
    splitting: Splitting = Splitting::Parallel, takes "parallel or greedy",
        with "coarsening=mandel-brezina" where |p| p.coarsening == Coarsening::MandelBrezina;

    /// Threshold of a strong connection: `a_ij^2 >= strength a_ii a_jj` for `sa` and `mandel-brezina` (auto:
    /// 0.003), share of the row's strongest for `pmis` (auto: 0.25).
    strength: Option<f64> = None, takes "a number of at least 0, or auto", if |x| x.is_none_or(not_negative);

    /// `sa`, `mandel-brezina`: the threshold is multiplied by it from level to level.
    strength_decay: f64 = 0.25, takes "a number of at least 0", if not_negative,
        with "coarsening=sa or coarsening=mandel-brezina" where |p| {
            matches!(p.coarsening, Coarsening::SmoothedAggregation | Coarsening::MandelBrezina)
        };

    /// `sa`: damping of the interpolation, over the spectral radius of `D^-1 A`; less where the matrix is not
    /// symmetric.
    prolongation_omega: f64 = 4.0 / 3.0, takes "a number of at least 0 and below 2", if |x| (0.0..2.0).contains(&x),
        with "coarsening=sa" where |p| p.coarsening == Coarsening::SmoothedAggregation;

    /// What corrections of the three finest levels are multiplied by, in effect: the matrices of the second
    /// to the fourth level are `P^T A P` divided by it, because a V-cycle there finds less than the whole
    /// correction (over-correction; Braess 1995 for interpolation that is constant on aggregates). M stays
    /// positive definite where the smoother converges, whatever the factor; with at most 1.25 AMG alone
    /// converges too. Auto: 1.15 in V-cycles with `sa`, in V- and W-cycles with `mandel-brezina`, else 1.
    overcorrection: Option<f64> = None, takes "a number of at least 1 and below 2, or auto",
        if |x| x.is_none_or(|factor| (1.0..2.0).contains(&factor));

    /// Steps of Lanczos's method for a spectral radius, twice as many for blocks of more than 200,000 nodes.
    /// With fewer than 4 it is so far below that smoothers amplify; 0 takes Gershgorin's bound, which is
    /// never below, but may be far above, and every matrix for a symmetric one.
    lanczos_steps: u32 = 8, takes "a whole number from 4 to 100, or 0 for Gershgorin's bound",
        if |steps| steps == 0 || (4..=100).contains(&steps),
        with "coarsening=sa, smoother=chebyshev, or smoother=jacobi with omega=auto" where |p| {
            p.coarsening == Coarsening::SmoothedAggregation || (p.smoother.uses().spectral_radius)(p)
        };

    /// `pmis`: entries of an interpolation row at most.
    max_entries: usize = 4, takes "a whole number of at least 1", if |n| n >= 1,
        with "coarsening=pmis" where |p| p.coarsening == Coarsening::Pmis;

    /// `pmis`: entries of the interpolation below this share of the row's largest are dropped.
    truncation: f64 = 0.0, takes "a number of at least 0 and below 1", if |x| (0.0..1.0).contains(&x),
        with "coarsening=pmis" where |p| p.coarsening == Coarsening::Pmis;

    /// `pmis`: levels from the finest on that are coarsened twice at once.
    aggressive: u32 = 0, takes "a whole number",
        with "coarsening=pmis" where |p| p.coarsening == Coarsening::Pmis;

    /// What damps the error that the coarser levels do not see. In rows of slivers (nearly flat elements of a
    /// mesh) `jacobi` and `chebyshev` divide by more than the diagonal.
    smoother: SmootherKind = SmootherKind::Chebyshev, takes "jacobi, l1-jacobi, chebyshev, spai0 or ilu";

    /// Whether `jacobi` and `chebyshev` divide by the diagonal as it is, also in rows of slivers.
    plain_diagonal: bool = false, takes "true or false";

    /// Weight of the smoother, except for `chebyshev`; auto: 4/3 over the spectral radius of `D^-1 A` for
    /// `jacobi`, 1 for the others.
    omega: Option<f64> = None, takes "a number between 0 and 2, both excluded, or auto",
        if |x| x.is_none_or(|omega| omega > 0.0 && omega < 2.0),
        with "smoother=jacobi, smoother=l1-jacobi or smoother=spai0" where |p| p.smoother.uses().omega;

    /// Degree of `chebyshev`; auto: 2, or 3 where rows have fewer than 6 entries.
    degree: Option<u32> = None, takes "a whole number from 1 to 32, or auto",
        if |x| x.is_none_or(|degree| (1..=32).contains(&degree)),
        with "smoother=chebyshev" where |p| p.smoother.uses().degree;

    /// Smoothing steps before the coarser level; CG needs as many as after it.
    pre: u32 = 1, takes "a whole number up to 100", if |steps| steps <= 100;

    /// Smoothing steps after the coarser level; not 0 where `pre` is.
    post: u32 = 1, takes "a whole number up to 100", if |steps| steps <= 100;

    /// The order of visits; auto: `w` with `mandel-brezina`, else `v`.
    cycle: Option<Cycle> = None, takes "v, w, f, k or auto";

    /// A level of at most this many rows is solved by its dense inverse.
    coarse_rows: usize = 300, takes "a whole number from 1 to 4096", if |n| (1..=4096).contains(&n);

    /// What stands for the inverse of the coarsest matrix: its dense inverse, or the inverse of its diagonal
    /// or diagonal blocks alone, as Rosenberger and Haase have it; that takes many more iterations where the
    /// coarsest level is not tiny.
    coarsest: CoarsestSolve = CoarsestSolve::Dense, takes "dense or diagonal";

    /// On several ranks: a level with fewer rows than this for each rank is computed on rank 0 alone, and so
    /// are those below it; never the finest. auto: 1000; on GPUs 500,000 within a process, and 100,000 with
    /// several.
    rank_rows: Option<usize> = None, takes "a whole number of at least 1, or auto",
        if |n| n.is_none_or(|n| n >= 1);

    /// Levels at most.
    max_levels: usize = 20, takes "a whole number from 1 to 64", if |n| (1..=64).contains(&n);

    /// Coarsening ends where a level keeps more than this share of the rows.
    stall: f64 = 0.8, takes "a number between 0 and 1, both excluded", if |share| share > 0.0 && share < 1.0;

    /// The format of every level's matrices, converted on the host; auto: what suits each. Not for blocks.
    format: Option<Format> = None, takes "crs, ell, sell or auto", if |x| x.is_none_or(|format| format.block() == 1);

    /// Where the hierarchy is computed; it is the same to the last bit.
    setup: SetupOn = SetupOn::Device, takes "device or host";

    /// Whether matrices that a GPU holds in reduced SELL are rounded, in f32 and without blocks: off the
    /// diagonal 3 to 7 bits of the significand stay, so that the distance of the column and the value share
    /// 32 bits there; row sums stay too. For systems of several unknowns solved as scalars `false` may save
    /// iterations.
    compressed: bool = true, takes "true or false";
}

impl Params {
    /// The multigrid of the source documents: Mandel and Brezina's coarsening, unknown after unknown, with
    /// one threshold on all levels; V-cycles with one sweep of weighted Jacobi before and one after, omega =
    /// 0.9, by the diagonal as it is; no over-correction, nothing compressed.
    ///
    /// Source: S. Rosenberger, G. Haase: GPU Parallelization for Unstructured Sparse Matrix Problems with
    /// OpenMP 4.5 and OpenACC (2017), sections 2.1 and 2.2; OpenACC and CUDA parallelization for the
    /// Elasticity Problem in CARP (2017), section 9.
    pub fn paper() -> Self {
        Params {
            coarsening: Coarsening::MandelBrezina,
            splitting: Splitting::Greedy,
            strength_decay: 1.0,
            overcorrection: Some(1.0),
            smoother: SmootherKind::Jacobi,
            plain_diagonal: true,
            omega: Some(0.9),
            cycle: Some(Cycle::V),
            compressed: false,
            ..Params::default()
        }
    }

    /// [`Error::Option`] with the permitted range, where a field is out of it.
    pub fn check(&self) -> Result<()> {
        Self::KEYS.iter().try_for_each(|key| key.check(self))?;
        if self.pre == 0 && self.post == 0 {
            return Err(Error::Option("pre and post are both 0; one of them must be at least 1".into()));
        }
        Ok(())
    }
}

fn not_negative(x: f64) -> bool {
    x >= 0.0 && x.is_finite()
}
