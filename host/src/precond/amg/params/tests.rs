//! Keys, values and their refusals.

use super::*;

/// A value of each field that is not its default, and one out of its range.
const VALUES: [(&str, &str, &str); 25] = [
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
    ("smoother", "ilu", "sor"),
    ("plain_diagonal", "true", "yes"),
    ("omega", "1.75", "2"),
    ("degree", "5", "0"),
    ("pre", "0", "101"),
    ("post", "7", "1.5"),
    ("cycle", "f", "x"),
    ("coarse_rows", "4096", "4097"),
    ("coarsest", "diagonal", "lu"),
    ("rank_rows", "50", "0"),
    ("max_levels", "3", "0"),
    ("stall", "0.25", "1"),
    ("format", "ell", "bcrs2"),
    ("setup", "host", "cpu"),
    ("compressed", "false", "no"),
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
    for ((key, value, _), (known, _)) in VALUES.into_iter().zip(Params::KEYS.map(|k| (k.name, k.takes))) {
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
    for ((key, _, value), takes) in VALUES.into_iter().zip(Params::KEYS.map(|key| key.takes)) {
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
        let unused = Params::KEYS.into_iter().filter(|key| params.needs(key.name).is_some());
        unused.map(|key| key.name).collect::<Vec<_>>().join(" ")
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
fn unknown_names_are_refused_with_the_nearest() {
    let message = refused("smother", "jacobi");
    assert!(message.starts_with("unknown key 'smother'; did you mean 'smoother'? there are coarsening, "));
    let message = refused("smoother", "chebychev");
    assert_eq!(
        message,
        "unknown smoother 'chebychev'; did you mean 'chebyshev'? there are jacobi, l1-jacobi, chebyshev, spai0, \
         ilu"
    );
    assert_eq!(refused("cycle", "x"), "unknown cycle 'x'; there are v, w, f, k");
    assert!(refused("cycle", "V").starts_with("unknown cycle 'V'; did you mean 'v'?"));
    assert!(refused("", "1").starts_with("unknown key ''; there are"));
}

#[test]
fn defaults_are_written_as_they_are_read() {
    let mut all = Params::default();
    for key in Params::KEYS {
        all.set(key.name, &(key.default)()).unwrap();
        assert_eq!(all, Params::default(), "{}", key.name);
        assert!(key.doc().ends_with('.'), "{}: {}", key.name, key.doc());
    }
    assert_eq!((Params::KEYS[3].default)(), "0.25");
}
