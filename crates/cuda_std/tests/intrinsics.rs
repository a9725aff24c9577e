//! libdevice's functions against exact arithmetic.

use cuda_std::intrinsics::*;

/// Numbers of all kinds of bits.
fn integers() -> impl Iterator<Item = i64> {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let random = (0..300).map(move |i| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> (i % 64)) as i64
    });
    random.chain([0, 1, -1, i64::MAX, i64::MIN, i64::from(i32::MAX), i64::from(i32::MIN), 1 << 53])
}

#[test]
fn integers_are_as_in_wider_arithmetic() {
    let pairs = || integers().zip(integers().skip(7));
    for (x, y) in pairs() {
        let (a, b) = (x as i32, y as i32);
        let (wide_a, wide_b) = (i64::from(a), i64::from(b));
        let (unsigned_a, unsigned_b) = (u64::from(a as u32), u64::from(b as u32));
        assert_eq!(mulhi(a, b), ((wide_a * wide_b) >> 32) as i32);
        assert_eq!(umulhi(a, b), ((unsigned_a * unsigned_b) >> 32) as i32);
        assert_eq!(mul64hi(x, y), ((i128::from(x) * i128::from(y)) >> 64) as i64);
        assert_eq!(umul64hi(x, y), ((u128::from(x as u64) * u128::from(y as u64)) >> 64) as i64);
        assert_eq!(
            (hadd(a, b), rhadd(a, b)),
            ((wide_a + wide_b).div_euclid(2) as i32, ((wide_a + wide_b + 1) >> 1) as i32)
        );
        assert_eq!(uhadd(a, b), ((unsigned_a + unsigned_b) / 2) as i32);
        assert_eq!(urhadd(a, b), (unsigned_a + unsigned_b).div_ceil(2) as i32);
        assert_eq!((min(a, b), max(a, b)), (a.min(b), a.max(b)));
        assert_eq!(
            (umin(a, b), umax(a, b)),
            ((a as u32).min(b as u32) as i32, (a as u32).max(b as u32) as i32)
        );
        assert_eq!((llmin(x, y), llmax(x, y)), (x.min(y), x.max(y)));
        assert_eq!(
            (ullmin(x, y), ullmax(x, y)),
            ((x as u64).min(y as u64) as i64, (x as u64).max(y as u64) as i64)
        );
        assert_eq!(sad(a, b, 5), ((wide_a - wide_b).abs() + 5) as i32);
        assert_eq!(usad(a, b, 5), (unsigned_a.abs_diff(unsigned_b) + 5) as i32);
        assert_eq!(mul24(a, b), ((wide_a << 40 >> 40) * (wide_b << 40 >> 40)) as i32);
        assert_eq!(umul24(a, b), ((unsigned_a & 0xff_ffff) * (unsigned_b & 0xff_ffff)) as i32);
        let products = |signed: bool| {
            (0..4).map(move |i| {
                let [p, q] = [a, b].map(|v| v.to_le_bytes()[i]);
                if signed { i64::from(p as i8) * i64::from(q as i8) } else { i64::from(p) * i64::from(q) }
            })
        };
        assert_eq!(dp4a(a, b, 9), (products(true).sum::<i64>() + 9) as i32);
        assert_eq!(udp4a(a as u32, b as u32, 9), (products(false).sum::<i64>() + 9) as u32);
        let half = |i: usize| i64::from((a >> (16 * i)) as i16);
        let byte = |i: usize| i64::from((b >> (8 * i)) as i8);
        assert_eq!(dp2a_lo(a, b, -3), (half(0) * byte(0) + half(1) * byte(1) - 3) as i32);
        assert_eq!(dp2a_hi(a, b, -3), (half(0) * byte(2) + half(1) * byte(3) - 3) as i32);
    }
    for x in integers() {
        let a = x as i32;
        assert_eq!((popc(a), popcll(x)), (a.count_ones() as i32, x.count_ones() as i32));
        assert_eq!((clz(a), clzll(x)), (a.leading_zeros() as i32, x.leading_zeros() as i32));
        assert_eq!((brev(brev(a)), brevll(brevll(x))), (a, x));
        assert_eq!((abs(a), llabs(x)), (a.wrapping_abs(), x.wrapping_abs()));
    }
    assert_eq!((ffs(0), ffs(1), ffs(i32::MIN), ffsll(0), ffsll(1 << 40)), (0, 1, 32, 0, 41));
    assert_eq!((brev(1), brevll(2)), (i32::MIN, 1 << 62));
    assert_eq!(byte_perm(0x3322_1100, 0x7766_5544, 0x0471), 0x0044_7711);
}

/// Down, nearest, up, towards 0: the two numbers around the exact one, which is compared by `compare`.
fn check<T: Copy + PartialOrd + Into<f64>>(
    name: &str,
    [down, nearest, up, zero]: [T; 4],
    nearest_of_host: T,
    next_up: impl Fn(T) -> T,
) {
    assert!(nearest == nearest_of_host, "{name}");
    assert!(down <= nearest && nearest <= up, "{name}");
    if down == up {
        assert!(zero == down, "{name}");
    } else {
        assert!(next_up(down) == up, "{name}: {} {}", down.into(), up.into());
        assert!(zero == if up.into() <= 0.0 { up } else { down }, "{name}");
    }
}

macro_rules! modes {
    ($rd:ident $rn:ident $ru:ident $rz:ident($($x:expr),*)) => {
        [$rd($($x),*), $rn($($x),*), $ru($($x),*), $rz($($x),*)]
    };
}

#[test]
fn arithmetic_is_rounded_as_it_says() {
    let numbers = |scale: i64| integers().map(move |x| (x >> 8) as f64 / scale as f64 * 1.1);
    for ((x, y), z) in numbers(1 << 40).zip(numbers(1 << 35).skip(5)).zip(numbers(1 << 30).skip(11)) {
        let up = f64::next_up;
        check("dadd", modes!(dadd_rd dadd_rn dadd_ru dadd_rz(x, y)), x + y, up);
        check("dsub", modes!(dsub_rd dsub_rn dsub_ru dsub_rz(x, y)), x - y, up);
        check("dmul", modes!(dmul_rd dmul_rn dmul_ru dmul_rz(x, y)), x * y, up);
        check("fma", modes!(fma_rd fma_rn fma_ru fma_rz(x, y, z)), x.mul_add(y, z), up);
        if y != 0.0 {
            check("ddiv", modes!(ddiv_rd ddiv_rn ddiv_ru ddiv_rz(x, y)), x / y, up);
            check("drcp", modes!(drcp_rd drcp_rn drcp_ru drcp_rz(y)), 1.0 / y, up);
        }
        check("dsqrt", modes!(dsqrt_rd dsqrt_rn dsqrt_ru dsqrt_rz(x.abs())), x.abs().sqrt(), up);
        let (a, b, c) = (x as f32, y as f32, z as f32);
        let up = f32::next_up;
        check("fadd", modes!(fadd_rd fadd_rn fadd_ru fadd_rz(a, b)), a + b, up);
        check("fsub", modes!(fsub_rd fsub_rn fsub_ru fsub_rz(a, b)), a - b, up);
        check("fmul", modes!(fmul_rd fmul_rn fmul_ru fmul_rz(a, b)), a * b, up);
        check("fmaf", modes!(fmaf_rd fmaf_rn fmaf_ru fmaf_rz(a, b, c)), a.mul_add(b, c), up);
        if b != 0.0 {
            check("fdiv", modes!(fdiv_rd fdiv_rn fdiv_ru fdiv_rz(a, b)), a / b, up);
            check("frcp", modes!(frcp_rd frcp_rn frcp_ru frcp_rz(b)), 1.0 / b, up);
        }
        check("fsqrt", modes!(fsqrt_rd fsqrt_rn fsqrt_ru fsqrt_rz(a.abs())), a.abs().sqrt(), up);
        // The sign of the error says on which side of the exact sum, product and quotient a number is.
        let exact = f64::from(a) * f64::from(b);
        assert!(f64::from(fmul_rd(a, b)) <= exact && exact <= f64::from(fmul_ru(a, b)));
        check("float", modes!(double2float_rd double2float_rn double2float_ru double2float_rz(x)), a, up);
        assert!(f64::from(double2float_rd(x)) <= x && x <= f64::from(double2float_ru(x)));
    }
    assert_eq!((dadd_rd(1.0, 1e-30), dadd_ru(1.0, 1e-30)), (1.0, 1.0_f64.next_up()));
    assert_eq!((dmul_rd(1e200, 1e200), dmul_ru(1e200, 1e200)), (f64::MAX, f64::INFINITY));
    assert_eq!((fadd_rz(f32::MAX, f32::MAX), fadd_ru(-f32::MAX, -f32::MAX)), (f32::MAX, -f32::MAX));
    assert_eq!((dadd_rd(1.0, -1.0).to_bits(), dadd_rn(1.0, -1.0).to_bits()), ((-0.0_f64).to_bits(), 0));
    assert_eq!(
        (ddiv_rn(1.0, 0.0), dsqrt_ru(f64::INFINITY), drcp_rz(f64::INFINITY)),
        (f64::INFINITY, f64::INFINITY, 0.0)
    );
    assert_eq!(double2float_rd(1e300), f32::MAX);
    assert_eq!(frsqrt_rn(4.0), 0.5);
}

#[test]
fn conversions_round_as_they_say() {
    for x in integers() {
        let i = x as i32;
        let single = f32::next_up;
        check("int", modes!(int2float_rd int2float_rn int2float_ru int2float_rz(i)), i as f32, single);
        check(
            "uint",
            modes!(uint2float_rd uint2float_rn uint2float_ru uint2float_rz(i)),
            i as u32 as f32,
            single,
        );
        check("ll", modes!(ll2float_rd ll2float_rn ll2float_ru ll2float_rz(x)), x as f32, single);
        check("ull", modes!(ull2float_rd ull2float_rn ull2float_ru ull2float_rz(x)), x as u64 as f32, single);
        let double = f64::next_up;
        check("ll", modes!(ll2double_rd ll2double_rn ll2double_ru ll2double_rz(x)), x as f64, double);
        check(
            "ull",
            modes!(ull2double_rd ull2double_rn ull2double_ru ull2double_rz(x)),
            x as u64 as f64,
            double,
        );
        assert!(ll2double_rd(x) as i128 <= i128::from(x) && i128::from(x) <= ll2double_ru(x) as i128);
        assert_eq!((int2double_rn(i), uint2double_rn(i)), (f64::from(i), f64::from(i as u32)));
        assert_eq!(hiloint2double(double2hiint(x as f64), double2loint(x as f64)), x as f64);
        assert_eq!(longlong_as_double(x).to_bits() as i64, x);
        assert_eq!(int_as_float(i).to_bits() as i32, i);
    }
    for (x, [down, nearest, up, zero]) in
        [(2.5, [2, 2, 3, 2]), (-2.5, [-3, -2, -2, -2]), (3.5, [3, 4, 4, 3]), (-0.3, [-1, 0, 0, 0])]
    {
        assert_eq!(
            modes!(double2int_rd double2int_rn double2int_ru double2int_rz(x)),
            [down, nearest, up, zero]
        );
        let s = x as f32;
        assert_eq!(modes!(float2int_rd float2int_rn float2int_ru float2int_rz(s)), [down, nearest, up, zero]);
        let wide = [down, nearest, up, zero].map(i64::from);
        assert_eq!(modes!(double2ll_rd double2ll_rn double2ll_ru double2ll_rz(x)), wide);
        assert_eq!(modes!(float2ll_rd float2ll_rn float2ll_ru float2ll_rz(s)), wide);
        let unsigned = [down, nearest, up, zero].map(|i| i.max(0));
        assert_eq!(modes!(double2uint_rd double2uint_rn double2uint_ru double2uint_rz(x)), unsigned);
        assert_eq!(modes!(float2uint_rd float2uint_rn float2uint_ru float2uint_rz(s)), unsigned);
        assert_eq!(
            modes!(double2ull_rd double2ull_rn double2ull_ru double2ull_rz(x)),
            unsigned.map(i64::from)
        );
        assert_eq!(modes!(float2ull_rd float2ull_rn float2ull_ru float2ull_rz(s)), unsigned.map(i64::from));
    }
    assert_eq!((double2int_rn(1e10), float2uint_rz(-5.0), float2int_rz(f32::NAN)), (i32::MAX, 0, 0));
    assert_eq!(float2uint_rz(4e9), 4_000_000_000_u32 as i32);
    assert_eq!(half2float(float2half_rn(1.0 / 3.0)), 0.333_251_95);
    assert_eq!((float_as_int(1.0), double_as_longlong(1.0)), (0x3f80_0000, 0x3ff0_0000_0000_0000));
}

#[test]
fn functions_are_those_of_their_names() {
    let x = 0.6;
    let s = 0.6_f32;
    assert_eq!((exp(x), expf(s)), (libm::exp(x), libm::expf(s)));
    assert_eq!((atan2(x, -1.0), atan2f(s, -1.0)), (libm::atan2(x, -1.0), libm::atan2f(s, -1.0)));
    assert_eq!((exp10(2.0), fdim(1.0, 3.0), fdim(3.0, 1.0)), (100.0, 0.0, 2.0));
    assert_eq!((fmax(f64::NAN, 1.0), fminf(2.0, f32::NAN)), (1.0, 2.0));
    assert_eq!(
        (rint(2.5), nearbyintf(3.5), round(2.5), llrint(-2.5), llroundf(-2.5)),
        (2.0, 4.0, 3.0, -2, -3)
    );
    assert_eq!((fmod(-5.5, 2.0), remainder(5.5, 2.0), ilogb(10.0), logb(10.0)), (-1.5, -0.5, 3, 3.0));
    assert_eq!((rsqrt(16.0), rsqrtf(0.25), powi(2.0, -3), scalbnf(3.0, 2)), (0.25, 2.0, 0.125, 12.0));
    assert_eq!((isnanf(f32::NAN), isinfd(1.0), finitef(1.0), signbitd(-0.0)), (1, 0, 1, 1));
    assert_eq!((nextafter(1.0, 2.0), copysignf(1.0, -0.0)), (1.0_f64.next_up(), -1.0));
    assert!(
        [1.1e-8, 1.9e-5, 1e-3, 0.02, 0.3, 0.49, 0.51, -0.2]
            .iter()
            .all(|&y| (erf(erfinv(y)) / y - 1.0).abs() < 1e-15)
            && (erfinv(1e-10) / 8.862_269_254_527_58e-11 - 1.0).abs() < 1e-14
    );
    assert!(nan(std::ptr::null_mut()).is_nan());
    let (mut n, mut whole, mut sin, mut cos) = (0, 0.0, 0.0, 0.0);
    // SAFETY: all may be written.
    unsafe {
        assert_eq!((frexp(10.0, &mut n), n), (0.625, 4));
        assert_eq!((modf(-2.5, &mut whole), whole), (-0.5, -2.0));
        assert_eq!((remquo(7.0, 2.0, &mut n), n & 7), (-1.0, 4));
        sincospi(0.5, &mut sin, &mut cos);
        assert_eq!((sin, cos), (1.0, 0.0));
        sincos(x, &mut sin, &mut cos);
        assert_eq!((sin, cos), libm::sincos(x));
        let (mut sin, mut cos) = (0.0, 0.0);
        fast_sincosf(s, &mut sin, &mut cos);
        assert_eq!((sin, cos), (fast_sinf(s), fast_cosf(s)));
    }
    for (fast, exact) in [
        (fast_sinf(s), s.sin()),
        (fast_cosf(s), s.cos()),
        (fast_tanf(s), s.tan()),
        (fast_expf(s), s.exp()),
        (fast_exp10f(s), 10_f32.powf(s)),
        (fast_logf(s), s.ln()),
        (fast_log2f(s), s.log2()),
        (fast_log10f(s), s.log10()),
        (fast_powf(s, 3.0), s.powi(3)),
        (fast_fdividef(s, 3.0), s / 3.0),
        (saturatef(1.5), 1.0),
    ] {
        assert!((fast / exact - 1.0).abs() < 1e-6, "{fast} {exact}");
    }
}
