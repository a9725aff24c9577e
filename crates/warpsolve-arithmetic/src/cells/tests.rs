use super::elementary::{exp, ln};
use super::*;

/// How far `value` is from `expected`, in units of its last place.
fn ulps(value: f64, expected: f64) -> f64 {
    if value == expected {
        return 0.0;
    }
    let size = expected.abs();
    (value - expected).abs() / (size.next_up() - size)
}

#[test]
fn exp_is_that_of_the_standard_library() {
    let n = 300_000;
    let over = |low: f64, high: f64| (0..=n).map(move |i| low + (high - low) * i as f64 / n as f64);
    for x in over(-708.39, 709.78).chain(over(-2.0, 2.0)).chain(over(-1e-8, 1e-8)) {
        assert!(ulps(exp(x), x.exp()) <= 1.0, "exp({x:e}) = {:e}, not {:e}", exp(x), x.exp());
    }
    // The largest sums that are rounded to k, and their neighbours.
    for k in -1021..=1023 {
        for x in [-1e-12, 0.0, 1e-12].map(|d| (k as f64 + 0.5) * std::f64::consts::LN_2 + d) {
            assert!(ulps(exp(x), x.exp()) <= 1.0, "exp({x:e}) = {:e}, not {:e}", exp(x), x.exp());
        }
    }
    for x in [709.782_712_893_384, 709.782_712_893_385, 1e300, f64::INFINITY, -1e300, f64::NEG_INFINITY, -0.0]
    {
        assert_eq!(exp(x), x.exp(), "{x}");
    }
    assert_eq!(exp(-708.3965), 0.0);
    for payload in [0, 1, u64::MAX >> 12] {
        assert!(exp(f64::from_bits(f64::NAN.to_bits() | payload)).is_nan());
    }
}

#[test]
fn ln_is_that_of_the_standard_library() {
    let n = 300_000;
    let (low, high) = (f64::MIN_POSITIVE.to_bits(), f64::MAX.to_bits());
    let everywhere = (0..=n).map(|i| f64::from_bits(low + (high - low) / n * i));
    let around_1 = (0..=n).map(|i| 0.4 + 1.8 * i as f64 / n as f64);
    let next_to_1 = (0..=n).map(|i| 1.0 + 1e-7 * (2.0 * i as f64 / n as f64 - 1.0));
    for x in everywhere.chain(around_1).chain(next_to_1).chain([f64::MIN_POSITIVE, f64::MAX]) {
        assert!(ulps(ln(x), x.ln()) <= 1.0, "ln({x:e}) = {:e}, not {:e}", ln(x), x.ln());
    }
    assert_eq!(
        [0.0, -0.0, 1e-310, f64::INFINITY].map(ln),
        [-f64::INFINITY, -f64::INFINITY, -f64::INFINITY, f64::INFINITY]
    );
    assert!([-1.0, -1e-310, f64::NEG_INFINITY, f64::NAN].into_iter().all(|x| ln(x).is_nan()));
}

/// States and their successors, computed once by another program: Python's library functions, the equations
/// as CellML writes them, and bisection for the calcium that is bound.
#[test]
fn one_step_of_ten_tusscher_is_that_of_an_independent_program() {
    let rest: [f64; 18] = TenTusscher::INITIAL.try_into().unwrap();
    let plateau = [
        0.31, 0.22, 0.13, 0.93, 0.02, 0.04, 0.97, 0.71, 0.85, 0.9, 0.33, 0.6, 0.0009, 2.9, 0.021, 0.4, 9.1,
        135.2,
    ];
    let cases = [
        (
            (TenTusscher::REST, rest, 10.0),
            -8.423012549791184e+01,
            [
                6.197275373947707e-03,
                4.71197200393575e-01,
                9.492246276526596e-03,
                1.715417234699425e-03,
                7.444065487208716e-01,
                7.045529435087907e-01,
                3.372814369076933e-05,
                7.889059018964686e-01,
                9.756500470115982e-01,
                9.953056905947862e-01,
                9.999979981526046e-01,
                2.41991191896071e-08,
                1.259821606603116e-04,
                3.639998398375458e+00,
                3.599211456497423e-04,
                9.073445601229826e-01,
                8.604004442200955e+00,
                1.368900016037349e+02,
            ],
        ),
        (
            (12.5, plateau, 0.0),
            1.267939515933977e+01,
            [
                3.110510340378106e-01,
                2.132652491823667e-01,
                1.300594296953355e-01,
                9.879831443656131e-01,
                1.180857017682911e-02,
                3.5443745952444e-02,
                9.577521855007954e-01,
                7.094218487560069e-01,
                8.429182799749384e-01,
                9.000143183667484e-01,
                3.253996649910295e-01,
                5.870112079787896e-01,
                8.995099617175779e-04,
                2.900369421752836e+00,
                3.275358304009088e-02,
                4.002502323639775e-01,
                9.10000173339087e+00,
                1.351999212889153e+02,
            ],
        ),
        (
            (-47.5, plateau, -3.0),
            -4.41473412209153e+01,
            [
                3.099726177072987e-01,
                2.171332660000148e-01,
                1.299137689539599e-01,
                7.359533077999989e-01,
                1.984489529017801e-02,
                3.995855794666079e-02,
                8.684779113025178e-01,
                7.100786549412375e-01,
                8.501215789691134e-01,
                9.000143183667484e-01,
                3.307285410164151e-01,
                5.940346094301348e-01,
                8.993039758551664e-04,
                2.900369421752836e+00,
                8.242269154584203e-02,
                4.002502323639775e-01,
                9.100046220967089e+00,
                1.351999627623409e+02,
            ],
        ),
    ];
    for ((v, mut state, stimulus), v_after, after) in cases {
        let next = TenTusscher::step(v, &mut state, 0.1, stimulus);
        assert!((next - v_after).abs() <= 1e-12 * v_after.abs(), "V: {next:e}, not {v_after:e}");
        for (k, (x, expected)) in state.into_iter().zip(after).enumerate() {
            assert!((x - expected).abs() <= 1e-12 * expected, "variable {k}: {x:e}, not {expected:e}");
        }
    }
}

#[test]
fn nothing_special_happens_where_the_calcium_current_is_0_over_0() {
    let after = |v| {
        let mut state: [f64; 18] = TenTusscher::INITIAL.try_into().unwrap();
        (state[6], state[14]) = (1.0, 0.001);
        let v = TenTusscher::step(v, &mut state, 0.1, 0.0);
        (v, state[14])
    };
    // Both sides of 15 mV, and of where the series takes over (13.4 uV away), lie on one parabola.
    for distance in [1e-9, 1e-3, 0.0133, 0.0134, 0.02] {
        let [(v_0, c_0), (v_1, c_1), (v_2, c_2)] = [15.0 - distance, 15.0, 15.0 + distance].map(after);
        let bend = |a: f64, b: f64, c: f64| (a - 2.0 * b + c).abs();
        assert!(bend(v_0, v_1, v_2) < 1e-11 + 0.1 * distance * distance, "{distance}: {v_0} {v_1} {v_2}");
        assert!(bend(c_0, c_1, c_2) < 1e-14 + 0.1 * distance * distance, "{distance}: {c_0} {c_1} {c_2}");
    }
}

/// Potentials of a cell from rest, in steps of `dt`, under `stimulus(t)`, and its state at the end.
fn run<M: CellModel>(dt: f64, duration: f64, stimulus: impl Fn(f64) -> f64) -> (Vec<f64>, M::State) {
    let mut state = M::State::default();
    state.as_mut().copy_from_slice(M::INITIAL);
    let mut potentials = vec![M::REST];
    for i in 0..(duration / dt).round() as usize {
        // In the middle of the step, so that rounding does not decide about its ends.
        let s = stimulus((i as f64 + 0.5) * dt);
        potentials.push(M::step(potentials[i], &mut state, dt, s));
    }
    (potentials, state)
}

/// 52 mV/ms for 1 ms in every second.
fn pacing(t: f64) -> f64 {
    if t % 1000.0 < 1.0 { 52.0 } else { 0.0 }
}

#[test]
fn the_action_potential_of_ten_tusscher_is_that_of_an_epicardial_cell() {
    let dt = 0.005;
    let (v, _) = run::<TenTusscher>(dt, 2000.0, pacing);
    let beat = &v[v.len() / 2..];
    let rest = beat[0];
    let peak = beat.iter().copied().fold(rest, f64::max);
    // Steepest after the stimulus has been subtracted.
    let slope = |i: usize| (beat[i + 1] - beat[i]) / dt - pacing((i as f64 + 0.5) * dt);
    let upstroke = (0..1000).max_by(|&i, &j| slope(i).total_cmp(&slope(j))).unwrap();
    let repolarised = peak - 0.9 * (peak - rest);
    let end = (10_000..beat.len()).find(|&i| beat[i] < repolarised).unwrap();
    let apd90 = (end - upstroke) as f64 * dt;
    println!("rest {rest} mV, peak {peak} mV, {} V/s, APD90 {apd90} ms", slope(upstroke));
    assert!((-87.0..-84.0).contains(&rest), "rest {rest} mV");
    assert!((25.0..45.0).contains(&peak), "peak {peak} mV");
    assert!((200.0..450.0).contains(&slope(upstroke)), "{} V/s", slope(upstroke));
    assert!((295.0..318.0).contains(&apd90), "APD90 {apd90} ms");
}

#[test]
fn errors_halve_with_the_step() {
    let push = |t| if t < 2.0 { 30.0 } else { 0.0 };
    let steps = [0.004, 0.002, 0.001];
    let runs = steps.map(|dt| run::<TenTusscher>(dt, 200.0, push).0);
    for t in [60.0, 200.0] {
        // What the second halving changes is half of what the first did.
        let [coarse, middle, fine] = [0, 1, 2].map(|k| runs[k][(t / steps[k]).round() as usize]);
        let ratio = (coarse - middle) / (middle - fine);
        assert!((1.85..2.15).contains(&ratio), "{t} ms: {coarse} {middle} {fine}, ratio {ratio}");
    }
}

#[test]
fn gates_stay_shares_and_concentrations_positive() {
    for dt in [0.01, 0.05] {
        let mut state: [f64; 18] = TenTusscher::INITIAL.try_into().unwrap();
        let mut v = TenTusscher::REST;
        for i in 0..(1000.0 / dt) as usize {
            v = TenTusscher::step(v, &mut state, dt, pacing((i as f64 + 0.5) * dt));
            let (gates, concentrations) = state.split_at(12);
            let share = |x: &f64| (0.0..=1.0).contains(x);
            assert!(gates.iter().all(share) && share(&state[15]), "step {i} of {dt} ms: {state:?}");
            assert!(concentrations.iter().all(|&c| c > 0.0), "step {i} of {dt} ms: {state:?}");
            assert!((-95.0..60.0).contains(&v), "step {i} of {dt} ms: {v} mV");
        }
        // What moves slowly hardly moved.
        assert!((state[16] - 8.604).abs() < 0.05 && (state[17] - 136.89).abs() < 0.1, "{state:?}");
    }
}

#[test]
fn the_action_potential_of_mitchell_and_schaeffer_is_that_of_their_equations() {
    let (dt, push) = (0.005, |t: f64| if t < 1.0 { 30.0 } else { 0.0 });
    let (v, [h]) = run::<MitchellSchaeffer>(dt, 600.0, push);
    // The equations in their own units, by the classical method of Runge and Kutta.
    let rates = |[u, h]: [f64; 2], t: f64| {
        let gate = if u < 0.13 { (1.0 - h) / 120.0 } else { -h / 150.0 };
        [h * u * u * (1.0 - u) / 0.3 - u / 6.0 + push(t) / 100.0, gate]
    };
    let (mut y, mut expected) = ([0.0, 1.0], vec![0.0]);
    for i in 0..v.len() - 1 {
        let t = (i as f64 + 0.5) * dt;
        let moved = |k: [f64; 2], share: f64| [y[0] + share * dt * k[0], y[1] + share * dt * k[1]];
        let k1 = rates(y, t);
        let k2 = rates(moved(k1, 0.5), t);
        let k3 = rates(moved(k2, 0.5), t);
        let k4 = rates(moved(k3, 1.0), t);
        y = [0, 1].map(|c| y[c] + dt / 6.0 * (k1[c] + 2.0 * k2[c] + 2.0 * k3[c] + k4[c]));
        expected.push(y[0]);
    }
    let times = |values: &[f64], gate: f64| {
        let start = values.iter().position(|&x| x > gate).unwrap();
        let end = start + values[start..].iter().position(|&x| x < gate).unwrap();
        [start as f64 * dt, end as f64 * dt]
    };
    let ([start, end], [expected_start, expected_end]) = (times(&v, -67.0), times(&expected, 0.13));
    assert!(
        (start - expected_start).abs() < 0.02 && (end - expected_end).abs() < 0.1,
        "{end} {expected_end}"
    );
    assert!((h - y[1]).abs() < 1e-3, "{h}, not {}", y[1]);
    let peak = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
    assert!((peak(&v) - (100.0 * peak(&expected) - 80.0)).abs() < 0.1);
    // The formula leaves out the way down, which is slow at first.
    let formula = 150.0 * (6.0 / (4.0 * 0.3f64)).ln();
    assert!((1.0..1.25).contains(&((end - start) / formula)), "{} ms, not about {formula} ms", end - start);
}

#[test]
fn activation_is_the_first_crossing_from_below() {
    let at = |earlier, before, after| activation(earlier, 3.0, 0.5, -10.0, before, after);
    assert_eq!(at(NOT_ACTIVATED, -20.0, 20.0), 3.125);
    assert_eq!(at(NOT_ACTIVATED, -20.0, -10.0), 3.5);
    for (before, after) in [(-10.0, 20.0), (-20.0, -10.5), (20.0, -20.0), (f64::NAN, 20.0), (-20.0, f64::NAN)]
    {
        assert_eq!(at(NOT_ACTIVATED, before, after), NOT_ACTIVATED, "{before} {after}");
    }
    assert_eq!(at(1.25, -20.0, 20.0), 1.25);
    assert_eq!(at(0.0, -20.0, 20.0), 0.0);
}
