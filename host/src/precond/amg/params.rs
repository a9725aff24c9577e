//! What can be chosen about a multigrid hierarchy.

use std::str::FromStr;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::named::{named, unknown};

named! {
    /// How a coarser problem is made.
    "coarsening" Coarsening {
        /// Smoothed aggregation (Vanek, Mandel, Brezina 1996).
        SmoothedAggregation = "sa",
        /// Classical: a PMIS splitting, extended+i interpolation (De Sterck, Yang, Heys 2006; De Sterck, Falgout, Nolting, Yang 2008).
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
    "smoother" Smoother {
        /// `x += omega D^-1 (b - A x)`, D the diagonal, larger in outlying rows ([`super::spectrum::diagonal`]).
        Jacobi = "jacobi",
        /// Jacobi with the rows' sums of absolute values in place of the diagonal.
        L1Jacobi = "l1-jacobi",
        /// A Chebyshev polynomial in `D^-1 A` over the upper part of its spectrum.
        Chebyshev = "chebyshev",
        /// Jacobi with the diagonal approximate inverse of least Frobenius norm.
        Spai0 = "spai0",
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
        /// Two steps of flexible CG on every coarser level, preconditioned by the cycle (Notay and Vassilevski 2008).
        K = "k",
    }
}

named! {
    /// Where the hierarchy is computed.
    "place of the set-up" Place {
        /// Where it will be used.
        Device = "device",
        /// On the host's threads.
        Host = "host",
    }
}

/// The parameters of a hierarchy, of its smoothers and of its cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Params {
    /// How coarser problems are made.
    pub coarsening: Coarsening,
    /// The splitting of `mandel-brezina`.
    pub splitting: Splitting,
    /// The threshold of a strong connection: for `sa` and `mandel-brezina` the epsilon of `a_ij^2 >= epsilon a_ii a_jj`, for `pmis` the share of
    /// the row's strongest. `None`: what suits the coarsening.
    pub strength: Option<f64>,
    /// The threshold of `sa` and `mandel-brezina` is multiplied by this from level to level.
    pub strength_decay: f64,
    /// Damping of the interpolation of `sa`, in units of `1 / rho(D^-1 A)`.
    pub prolongation_omega: f64,
    /// What corrections from coarser levels are multiplied by, in effect: the matrices of the second to the fourth level are
    /// `P^T A P` divided by it. A V-cycle there finds less than the whole correction (over-correction; Braess 1995 for
    /// interpolation that is constant on aggregates). `None`: 1.15 in V-cycles with `sa`, in V- and W-cycles
    /// with `mandel-brezina`, else 1. M stays
    /// positive definite where the smoother converges, whatever the factor; with at most 1.25 a correction exact on the last
    /// level is less than doubled by the time that it is on the finest, and AMG alone converges too.
    pub overcorrection: Option<f64>,
    /// Steps of Lanczos's method for a spectral radius. With fewer than 4 it is so far below that smoothers amplify; 0
    /// takes Gershgorin's bound, which is never below, but may be far above.
    pub lanczos_steps: u32,
    /// Entries of a row of `pmis` interpolation at most.
    pub max_entries: usize,
    /// Entries of `pmis` interpolation below this share of the row's largest are dropped.
    pub truncation: f64,
    /// Levels from the finest on that `pmis` coarsens twice at once.
    pub aggressive: u32,
    /// The smoother.
    pub smoother: Smoother,
    /// Its weight; `None`: 4/3 / rho(D^-1 A) for Jacobi, 1 for the others.
    pub omega: Option<f64>,
    /// Degree of the Chebyshev smoother; `None`: 2, or 3 for a matrix with fewer than 6 entries a row.
    pub degree: Option<u32>,
    /// Smoothing steps before the coarser level is visited.
    pub pre: u32,
    /// Smoothing steps afterwards.
    pub post: u32,
    /// The order of visits; `None`: what suits the coarsening, [`Params::cycle`].
    pub cycle: Option<Cycle>,
    /// A level of at most so many rows is solved with a dense inverse.
    pub coarse_rows: usize,
    /// Levels at most.
    pub max_levels: usize,
    /// Coarsening ends where a level keeps more than this share of the rows.
    pub stall: f64,
    /// Where the hierarchy is computed.
    pub setup: Place,
    /// Whether the matrices of a hierarchy in f32 are rounded further, so that they can be
    /// [packed](gpu_kernels::spmv::packed) on a GPU.
    pub packed: bool,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            coarsening: Coarsening::SmoothedAggregation,
            splitting: Splitting::Parallel,
            strength: None,
            strength_decay: 0.25,
            prolongation_omega: 4.0 / 3.0,
            overcorrection: None,
            lanczos_steps: 8,
            max_entries: 4,
            truncation: 0.0,
            aggressive: 0,
            smoother: Smoother::Chebyshev,
            omega: None,
            degree: None,
            pre: 1,
            post: 1,
            cycle: None,
            coarse_rows: 300,
            max_levels: 20,
            stall: 0.8,
            setup: Place::Device,
            packed: true,
        }
    }
}

impl Params {
    /// Every field's name, and what it takes.
    pub const KEYS: [(&str, &str); 21] = [
        ("coarsening", "sa, pmis or mandel-brezina"),
        ("splitting", "parallel or greedy"),
        ("strength", "a number of at least 0, or auto"),
        ("strength_decay", "a number of at least 0"),
        ("prolongation_omega", "a number of at least 0 and below 2"),
        ("overcorrection", "a number of at least 1 and below 2, or auto"),
        ("lanczos_steps", "a whole number from 4 to 100, or 0 for Gershgorin's bound"),
        ("max_entries", "a whole number of at least 1"),
        ("truncation", "a number of at least 0 and below 1"),
        ("aggressive", "a whole number"),
        ("smoother", "jacobi, l1-jacobi, chebyshev or spai0"),
        ("omega", "a number between 0 and 2, both excluded, or auto"),
        ("degree", "a whole number from 1 to 32, or auto"),
        ("pre", "a whole number up to 100"),
        ("post", "a whole number up to 100"),
        ("cycle", "v, w, f, k or auto"),
        ("coarse_rows", "a whole number from 1 to 4096"),
        ("max_levels", "a whole number from 1 to 64"),
        ("stall", "a number between 0 and 1, both excluded"),
        ("setup", "device or host"),
        ("packed", "true or false"),
    ];

    /// Sets the field `key`; "auto" is `None`.
    ///
    /// # Errors
    /// [`Error::Option`] for an unknown key, with the nearest known one, and for a value of another type. Ranges are
    /// looked at by [`Params::check`].
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match key {
            "coarsening" => self.coarsening = value.parse()?,
            "splitting" => self.splitting = value.parse()?,
            "strength" => self.strength = number_or_auto(key, value)?,
            "strength_decay" => self.strength_decay = number(key, value)?,
            "prolongation_omega" => self.prolongation_omega = number(key, value)?,
            "overcorrection" => self.overcorrection = number_or_auto(key, value)?,
            "lanczos_steps" => self.lanczos_steps = number(key, value)?,
            "max_entries" => self.max_entries = number(key, value)?,
            "truncation" => self.truncation = number(key, value)?,
            "aggressive" => self.aggressive = number(key, value)?,
            "smoother" => self.smoother = value.parse()?,
            "omega" => self.omega = number_or_auto(key, value)?,
            "degree" => self.degree = number_or_auto(key, value)?,
            "pre" => self.pre = number(key, value)?,
            "post" => self.post = number(key, value)?,
            "cycle" => self.cycle = if value == "auto" { None } else { Some(value.parse()?) },
            "coarse_rows" => self.coarse_rows = number(key, value)?,
            "max_levels" => self.max_levels = number(key, value)?,
            "stall" => self.stall = number(key, value)?,
            "setup" => self.setup = value.parse()?,
            "packed" => self.packed = number(key, value)?,
            _ => return Err(unknown("key", key, &Self::KEYS.map(|(key, _)| key))),
        }
        Ok(())
    }

    /// [`Error::Option`] with the permitted range, where a field is out of it.
    pub fn check(&self) -> Result<()> {
        let not_negative = |x: f64| x >= 0.0 && x.is_finite();
        for (key, valid) in [
            ("strength", self.strength.is_none_or(not_negative)),
            ("strength_decay", not_negative(self.strength_decay)),
            ("prolongation_omega", (0.0..2.0).contains(&self.prolongation_omega)),
            ("overcorrection", self.overcorrection.is_none_or(|factor| (1.0..2.0).contains(&factor))),
            ("lanczos_steps", self.lanczos_steps == 0 || (4..=100).contains(&self.lanczos_steps)),
            ("max_entries", self.max_entries >= 1),
            ("truncation", (0.0..1.0).contains(&self.truncation)),
            ("omega", self.omega.is_none_or(|omega| omega > 0.0 && omega < 2.0)),
            ("degree", self.degree.is_none_or(|degree| (1..=32).contains(&degree))),
            ("pre", self.pre <= 100),
            ("post", self.post <= 100),
            ("coarse_rows", (1..=4096).contains(&self.coarse_rows)),
            ("max_levels", (1..=64).contains(&self.max_levels)),
            ("stall", self.stall > 0.0 && self.stall < 1.0),
        ] {
            if !valid {
                return Err(refusal(key));
            }
        }
        if self.pre == 0 && self.post == 0 {
            return Err(Error::Option("pre and post are both 0; one of them must be at least 1".into()));
        }
        Ok(())
    }

    /// What the field `key` needs of the others to mean anything, where they are not so: "smoother=chebyshev" for the
    /// degree of another smoother.
    pub fn needs(&self, key: &str) -> Option<&'static str> {
        let coarsening = |names: &[Coarsening]| names.contains(&self.coarsening);
        let scaled = self.smoother == Smoother::Jacobi && self.omega.is_none();
        let chebyshev = self.smoother == Smoother::Chebyshev;
        let (used, by) = match key {
            "splitting" => (coarsening(&[Coarsening::MandelBrezina]), "coarsening=mandel-brezina"),
            "strength_decay" => (
                coarsening(&[Coarsening::SmoothedAggregation, Coarsening::MandelBrezina]),
                "coarsening=sa or coarsening=mandel-brezina",
            ),
            "prolongation_omega" => (coarsening(&[Coarsening::SmoothedAggregation]), "coarsening=sa"),
            "max_entries" | "truncation" | "aggressive" => {
                (coarsening(&[Coarsening::Pmis]), "coarsening=pmis")
            }
            "lanczos_steps" => (
                coarsening(&[Coarsening::SmoothedAggregation]) || chebyshev || scaled,
                "coarsening=sa, smoother=chebyshev, or smoother=jacobi with omega=auto",
            ),
            "omega" => (!chebyshev, "smoother=jacobi, smoother=l1-jacobi or smoother=spai0"),
            "degree" => (chebyshev, "smoother=chebyshev"),
            _ => return None,
        };
        (!used).then_some(by)
    }

    /// The threshold of a strong connection on `level` (0 is the finest).
    pub fn threshold(&self, level: usize) -> f64 {
        let (first, decay) = match self.coarsening {
            Coarsening::SmoothedAggregation | Coarsening::MandelBrezina => (0.003, self.strength_decay),
            Coarsening::Pmis => (0.25, 1.0),
        };
        self.strength.unwrap_or(first) * decay.powi(level as i32)
    }

    /// Whether rows may be outlying ([`super::spectrum::diagonal`]): where their aggregates can be theirs alone.
    pub fn has_outlying_rows(&self) -> bool {
        self.coarsening == Coarsening::SmoothedAggregation
    }

    /// The order of visits: W with `mandel-brezina`, whose interpolation needs more of the coarser levels the more there are
    /// of them, else V.
    pub fn cycle(&self) -> Cycle {
        let is_constant = self.coarsening == Coarsening::MandelBrezina;
        self.cycle.unwrap_or(if is_constant { Cycle::W } else { Cycle::V })
    }

    /// What the correction of `level` (0 is the finest) by the next one is multiplied by.
    pub fn overcorrection(&self, level: usize) -> f64 {
        const LEVELS: usize = 3;
        let suits = match self.coarsening {
            Coarsening::SmoothedAggregation => self.cycle() == Cycle::V,
            Coarsening::MandelBrezina => matches!(self.cycle(), Cycle::V | Cycle::W),
            Coarsening::Pmis => false,
        };
        match self.overcorrection {
            _ if level >= LEVELS => 1.0,
            Some(factor) => factor,
            None if suits => 1.15,
            None => 1.0,
        }
    }
}

fn refusal(key: &str) -> Error {
    let takes =
        Params::KEYS.iter().find(|(known, _)| *known == key).map_or("another value", |(_, takes)| takes);
    Error::Option(format!("{key} takes {takes}"))
}

fn number<V: FromStr>(key: &str, value: &str) -> Result<V> {
    value.parse().map_err(|_| refusal(key))
}

fn number_or_auto<V: FromStr>(key: &str, value: &str) -> Result<Option<V>> {
    if value == "auto" { Ok(None) } else { number(key, value).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of each field that is not its default, and one out of its range.
    const VALUES: [(&str, &str, &str); 21] = [
        ("coarsening", "pmis", "PMIS"),
        ("splitting", "greedy", "random"),
        ("strength", "0.5", "-1e-3"),
        ("strength_decay", "0.75", "inf"),
        ("prolongation_omega", "0.5", "2"),
        ("overcorrection", "1.5", "2"),
        ("lanczos_steps", "0", "3"),
        ("max_entries", "9", "0"),
        ("truncation", "0.125", "1"),
        ("aggressive", "3", "-1"),
        ("smoother", "l1-jacobi", "ilu"),
        ("omega", "1.75", "2"),
        ("degree", "5", "0"),
        ("pre", "0", "101"),
        ("post", "7", "1.5"),
        ("cycle", "f", "x"),
        ("coarse_rows", "4096", "4097"),
        ("max_levels", "3", "0"),
        ("stall", "0.25", "1"),
        ("setup", "host", "cpu"),
        ("packed", "false", "no"),
    ];

    fn refused(key: &str, value: &str) -> String {
        let mut params = Params::default();
        match params.set(key, value).and_then(|()| params.check()) {
            Err(Error::Option(message)) => message,
            other => panic!("{key}={value}: {other:?}"),
        }
    }

    #[test]
    fn every_key_sets_a_field_of_its_own() {
        let mut all = Params::default();
        for ((key, value, _), (known, _)) in VALUES.into_iter().zip(Params::KEYS) {
            assert_eq!(key, known);
            let mut one = Params::default();
            one.set(key, value).unwrap();
            one.check().unwrap();
            assert_ne!(one, Params::default(), "{key}");
            let before = all.clone();
            all.set(key, value).unwrap();
            assert_ne!(all, before, "{key}");
        }
        all.check().unwrap();
        all.set("strength", "auto").unwrap();
        assert_eq!(all.strength, None);
    }

    #[test]
    fn values_out_of_range_are_refused_with_the_range() {
        for ((key, _, value), (_, takes)) in VALUES.into_iter().zip(Params::KEYS) {
            let message = refused(key, value);
            let names = takes.replace(" or ", ", ");
            let names = names.trim_end_matches(", auto");
            assert!(message.ends_with(takes) || message.ends_with(names), "{key}={value}: {message}");
        }
        for key in ["strength", "strength_decay", "prolongation_omega", "truncation", "omega", "stall"] {
            assert!(refused(key, "nan").starts_with(&format!("{key} takes a number")));
        }
        for steps in ["1", "2", "101", "1000"] {
            let message = refused("lanczos_steps", steps);
            assert!(message.ends_with("from 4 to 100, or 0 for Gershgorin's bound"), "{steps}: {message}");
        }
        Params { lanczos_steps: 4, ..Params::default() }.check().unwrap();
        let neither = Params { pre: 0, post: 0, ..Params::default() };
        assert!(neither.check().unwrap_err().to_string().starts_with("pre and post are both 0"));
    }

    #[test]
    fn what_nothing_uses_is_known() {
        let with = |settings: &[(&str, &str)]| {
            let mut params = Params::default();
            settings.iter().for_each(|(key, value)| params.set(key, value).unwrap());
            let unused = Params::KEYS.into_iter().filter(|(key, _)| params.needs(key).is_some());
            unused.map(|(key, _)| key).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(with(&[]), "splitting max_entries truncation aggressive omega");
        assert_eq!(
            with(&[("coarsening", "pmis"), ("smoother", "jacobi")]),
            "splitting strength_decay prolongation_omega degree"
        );
        assert_eq!(
            with(&[("coarsening", "mandel-brezina"), ("smoother", "jacobi"), ("omega", "0.5")]),
            "prolongation_omega lanczos_steps max_entries truncation aggressive degree"
        );
        assert_eq!(with(&[("smoother", "spai0")]), "splitting max_entries truncation aggressive degree");
        assert_eq!(Params::default().needs("omega").unwrap().split_once('=').unwrap().0, "smoother");
    }

    #[test]
    fn corrections_of_the_finest_levels_are_too_large() {
        let factors = |params: &Params| [0, 2, 3].map(|level| params.overcorrection(level));
        let averages = Params { coarsening: Coarsening::MandelBrezina, ..Params::default() };
        assert_eq!(averages.cycle(), Cycle::W);
        for params in [&Params::default(), &averages] {
            assert_eq!(factors(params), [1.15, 1.15, 1.0]);
        }
        for params in [
            Params { cycle: Some(Cycle::W), ..Params::default() },
            Params { coarsening: Coarsening::Pmis, ..Params::default() },
        ] {
            assert_eq!(factors(&params), [1.0; 3]);
            assert_eq!(factors(&Params { overcorrection: Some(1.5), ..params }), [1.5, 1.5, 1.0]);
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let message = refused("smother", "jacobi");
        assert!(
            message.starts_with("unknown key 'smother'; did you mean 'smoother'? there are coarsening, ")
        );
        let message = refused("smoother", "chebychev");
        assert_eq!(
            message,
            "unknown smoother 'chebychev'; did you mean 'chebyshev'? there are jacobi, l1-jacobi, chebyshev, spai0"
        );
        assert_eq!(refused("cycle", "x"), "unknown cycle 'x'; there are v, w, f, k");
        assert!(refused("cycle", "V").starts_with("unknown cycle 'V'; did you mean 'v'?"));
        assert!(refused("", "1").starts_with("unknown key ''; there are"));
    }
}
