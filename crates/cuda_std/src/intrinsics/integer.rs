//! Integers.

/// |x|, the same for the least number.
#[doc = example!(abs -7; = 7)]
#[inline(always)]
pub fn abs(x: i32) -> i32 {
    x.wrapping_abs()
}

/// |x|, the same for the least number.
#[doc = example!(llabs -7; = 7)]
#[inline(always)]
pub fn llabs(x: i64) -> i64 {
    x.wrapping_abs()
}

macro_rules! of_two {
    (
        $($(#[$note:meta])* $name:ident $signed:ty as $t:ty: |$x:ident, $y:ident| $value:expr,
        ($($at:expr),*) = $result:expr;)*
    ) => {$(
        $(#[$note])*
        #[doc = example!($name $($at),*; = $result)]
        #[inline(always)]
        pub fn $name(x: $signed, y: $signed) -> $signed {
            let ($x, $y) = (x as $t, y as $t);
            ($value) as $signed
        }
    )*};
}

of_two! {
    /// The smaller.
    min i32 as i32: |x, y| if x < y { x } else { y }, (-1, 2) = -1;
    /// The larger.
    max i32 as i32: |x, y| if x > y { x } else { y }, (-1, 2) = 2;
    /// The smaller of unsigned numbers.
    umin i32 as u32: |x, y| if x < y { x } else { y }, (-1, 2) = 2;
    /// The larger of unsigned numbers.
    umax i32 as u32: |x, y| if x > y { x } else { y }, (-1, 2) = -1;
    /// The smaller.
    llmin i64 as i64: |x, y| if x < y { x } else { y }, (-1, 2) = -1;
    /// The larger.
    llmax i64 as i64: |x, y| if x > y { x } else { y }, (-1, 2) = 2;
    /// The smaller of unsigned numbers.
    ullmin i64 as u64: |x, y| if x < y { x } else { y }, (-1, 2) = 2;
    /// The larger of unsigned numbers.
    ullmax i64 as u64: |x, y| if x > y { x } else { y }, (-1, 2) = -1;
    /// The upper half of the product.
    mulhi i32 as i64: |x, y| (x * y) >> 32, (-1, 2) = -1;
    /// The upper half of the product of unsigned numbers.
    umulhi i32 as u32: |x, y| (u64::from(x) * u64::from(y)) >> 32, (-1, 2) = 1;
    /// The upper half of the product.
    mul64hi i64 as i128: |x, y| (x * y) >> 64, (-1, 2) = -1;
    /// The upper half of the product of unsigned numbers.
    umul64hi i64 as u64: |x, y| (u128::from(x) * u128::from(y)) >> 64, (-1, 2) = 1;
    /// The lower half of the product of the lower 24 bits.
    mul24 i32 as i32: |x, y| (x << 8 >> 8).wrapping_mul(y << 8 >> 8), (0x0100_0003, 5) = 15;
    /// The lower half of the product of the lower 24 bits, unsigned.
    umul24 i32 as u32: |x, y| (x & 0xff_ffff).wrapping_mul(y & 0xff_ffff), (0x0100_0003, 5) = 15;
    /// The mean, rounded down.
    hadd i32 as i64: |x, y| (x + y) >> 1, (3, 4) = 3;
    /// The mean, rounded up.
    rhadd i32 as i64: |x, y| (x + y + 1) >> 1, (3, 4) = 4;
    /// The mean of unsigned numbers, rounded down.
    uhadd i32 as u32: |x, y| (u64::from(x) + u64::from(y)) >> 1, (-1, 1) = i32::MIN;
    /// The mean of unsigned numbers, rounded up.
    urhadd i32 as u32: |x, y| (u64::from(x) + u64::from(y) + 1) >> 1, (3, 4) = 4;
}

/// |x - y| + z
#[doc = example!(sad 2, 5, 10; = 13)]
#[inline(always)]
pub fn sad(x: i32, y: i32, z: i32) -> i32 {
    (x.abs_diff(y) as i32).wrapping_add(z)
}

/// |x - y| + z of unsigned numbers.
#[doc = example!(usad -1, -3, 10; = 12)]
#[inline(always)]
pub fn usad(x: i32, y: i32, z: i32) -> i32 {
    ((x as u32).abs_diff(y as u32) as i32).wrapping_add(z)
}

/// The bits in reverse.
#[doc = example!(brev 1; = i32::MIN)]
#[inline(always)]
pub fn brev(x: i32) -> i32 {
    x.reverse_bits()
}

/// The bits in reverse.
#[doc = example!(brevll 1; = i64::MIN)]
#[inline(always)]
pub fn brevll(x: i64) -> i64 {
    x.reverse_bits()
}

/// The number of zeros above the highest one.
#[doc = example!(clz 1; = 31)]
#[inline(always)]
pub fn clz(x: i32) -> i32 {
    x.leading_zeros() as i32
}

/// The number of zeros above the highest one.
#[doc = example!(clzll 1; = 63)]
#[inline(always)]
pub fn clzll(x: i64) -> i32 {
    x.leading_zeros() as i32
}

/// The place of the lowest one, counted from 1; 0 if there is none.
#[doc = example!(ffs 0b1000; = 4)]
#[inline(always)]
pub fn ffs(x: i32) -> i32 {
    if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 }
}

/// The place of the lowest one, counted from 1; 0 if there is none.
#[doc = example!(ffsll 0b1000; = 4)]
#[inline(always)]
pub fn ffsll(x: i64) -> i32 {
    if x == 0 { 0 } else { x.trailing_zeros() as i32 + 1 }
}

/// The number of ones.
#[doc = example!(popc 0b1011; = 3)]
#[inline(always)]
pub fn popc(x: i32) -> i32 {
    x.count_ones() as i32
}

/// The number of ones.
#[doc = example!(popcll 0b1011; = 3)]
#[inline(always)]
pub fn popcll(x: i64) -> i32 {
    x.count_ones() as i32
}

/// Four of the eight bytes of x (0 to 3) and y (4 to 7), which the hexadecimal digits of z name, the lowest
/// first.
#[doc = example!(byte_perm 0x0102_0304, 0x0506_0708, 0x0123; = 0x0403_0201)]
#[inline(always)]
pub fn byte_perm(x: i32, y: i32, z: i32) -> i32 {
    let bytes = (u64::from(x as u32) | u64::from(y as u32) << 32).to_le_bytes();
    let byte = |i: u32| bytes[(z as u32 >> (4 * i) & 7) as usize];
    i32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)])
}

/// A line of assembly of three numbers, or what it computes.
macro_rules! of_three {
    (
        $($(#[$note:meta])* $name:ident $t:ty: $instruction:literal, |$a:ident, $b:ident| $products:expr,
        ($($at:expr),*) = $result:expr;)*
    ) => {$(
        $(#[$note])*
        #[doc = example!($name $($at),*; = $result)]
        #[inline(always)]
        pub fn $name(a: $t, b: $t, c: $t) -> $t {
            #[cfg(target_arch = "nvptx64")]
            {
                let sum: $t;
                // SAFETY: computes a number.
                unsafe {
                    core::arch::asm!(
                        concat!($instruction, " {}, {}, {}, {};"),
                        out(reg32) sum, in(reg32) a, in(reg32) b, in(reg32) c,
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                sum
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let ($a, $b) = (a.to_le_bytes(), b.to_le_bytes());
                let products: [$t; _] = $products;
                products.into_iter().fold(c, <$t>::wrapping_add)
            }
        }
    )*};
}

#[cfg(not(target_arch = "nvptx64"))]
fn halves(bytes: [u8; 4]) -> [u16; 2] {
    [u16::from_le_bytes([bytes[0], bytes[1]]), u16::from_le_bytes([bytes[2], bytes[3]])]
}

of_three! {
    /// c and the sum of the products of a's and b's four bytes, signed.
    dp4a i32: "dp4a.s32.s32", |a, b| core::array::from_fn::<_, 4, _>(|i| a[i] as i8 as i32 * b[i] as i8 as i32), (0x0102_0304, 0x0101_01ff, 10) = 12;
    /// c and the sum of the products of a's and b's four bytes, unsigned.
    udp4a u32: "dp4a.u32.u32", |a, b| core::array::from_fn::<_, 4, _>(|i| u32::from(a[i]) * u32::from(b[i])), (0x0102_0304, 0x0101_0102, 10) = 24;
    /// c and the sum of the products of a's two halves and b's lower two bytes, signed.
    dp2a_lo i32: "dp2a.lo.s32.s32", |a, b|
        core::array::from_fn::<_, 2, _>(|i| halves(a)[i] as i16 as i32 * b[i] as i8 as i32), (0x0002_0003, 0x0000_0504, 10) = 32;
    /// c and the sum of the products of a's two halves and b's upper two bytes, signed.
    dp2a_hi i32: "dp2a.hi.s32.s32", |a, b|
        core::array::from_fn::<_, 2, _>(|i| halves(a)[i] as i16 as i32 * b[2 + i] as i8 as i32), (0x0002_0003, 0x0504_0000, 10) = 32;
}
