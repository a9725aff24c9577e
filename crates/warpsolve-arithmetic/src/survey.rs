//! What one look at every entry of a matrix finds.
//!
//! Numbers of rows are `f64`, which holds them exactly: they are added up like the other sums.

/// Mixed into the hash, so that no entry is hashed to 0: the first binary digits of pi - 3 and of the golden
/// ratio.
const KEYS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x9e37_79b9_7f4a_7c15];
/// A sum below this share of the sum of magnitudes is 0 but for rounding.
pub const ROUNDING: f64 = 1e-12;
/// Shares are multiples of one part in so many, so that their sum does not depend on the order.
const PARTS: f64 = 1048576.0;

/// Sums over the entries of a row off the diagonal, from left to right.
#[derive(Clone, Copy)]
pub struct Row {
    /// Of those above 0,
    pub positive: f64,
    /// and of the magnitudes of the others.
    pub negative: f64,
    /// The diagonal entry, 0 where none is stored.
    pub diagonal: f64,
}

impl Row {
    /// Of no entries.
    pub const NONE: Row = Row { positive: 0.0, negative: 0.0, diagonal: 0.0 };

    /// Adds an entry off the diagonal.
    #[inline(always)]
    pub fn add(&mut self, v: f64) {
        if v > 0.0 {
            self.positive += v;
        } else {
            self.negative -= v;
        }
    }
}

/// What is found in some rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Entries that are NaN or infinite.
    pub not_finite: f64,
    /// Rows with a diagonal entry above 0,
    pub positive: f64,
    /// and below 0.
    pub negative: f64,
    /// Rows with `|a_ii| >= sum_j |a_ij|`, j other than i, and a diagonal entry.
    pub dominant: f64,
    /// Rows whose entries add up to 0.
    pub zero_sums: f64,
    /// Rows with more entries than is usual.
    pub dense: f64,
    /// Rows with entries off the diagonal,
    pub weighed: f64,
    /// and the sum of their shares of `sum |a_ij|`, j other than i, whose sign is not that of `a_ii`.
    pub m_share: f64,
    /// The sum of all entries,
    pub total: f64,
    /// and of their magnitudes.
    pub magnitudes: f64,
    /// The hash of the entries above the diagonal less that of those below, mirrored.
    pub hash: u64,
    /// The largest sum of a row's magnitudes.
    pub norm: f64,
    /// The largest magnitude, and that of the diagonal.
    pub most: [f64; 2],
    /// The least magnitudes that are not 0; infinite where there is none.
    pub least: [f64; 2],
    /// The first row without an entry but zeros; infinite where there is none.
    pub first_empty: f64,
}

impl Found {
    /// Numbers of [`Found::sums`].
    pub const SUMS: usize = 12;
    /// Numbers of [`Found::maxima`].
    pub const MAXIMA: usize = 6;

    /// In no rows.
    pub const NONE: Found = Found {
        not_finite: 0.0,
        positive: 0.0,
        negative: 0.0,
        dominant: 0.0,
        zero_sums: 0.0,
        dense: 0.0,
        weighed: 0.0,
        m_share: 0.0,
        total: 0.0,
        magnitudes: 0.0,
        hash: 0,
        norm: 0.0,
        most: [0.0; 2],
        least: [f64::INFINITY; 2],
        first_empty: f64::INFINITY,
    };

    /// Looks at the entry in row `i` and column `j`.
    #[inline(always)]
    pub fn add_entry(&mut self, i: u32, j: u32, v: f64) {
        if !v.is_finite() {
            self.not_finite += 1.0;
        }
        self.add_magnitude(0, v);
        if i != j && v != 0.0 {
            let hash = hash(i.min(j), i.max(j), v);
            // A NaN has no mirror image.
            let is_above = i < j || v.is_nan();
            self.hash = if is_above { self.hash.wrapping_add(hash) } else { self.hash.wrapping_sub(hash) };
        }
    }

    #[inline(always)]
    fn add_magnitude(&mut self, of: usize, v: f64) {
        let size = v.abs();
        if size > self.most[of] {
            self.most[of] = size;
        }
        if size > 0.0 && size < self.least[of] {
            self.least[of] = size;
        }
    }

    /// Looks at row `i`, which has so many entries; more than `usual` are many.
    #[inline(always)]
    pub fn add_row(&mut self, i: u32, entries: u64, usual: u64, row: Row) {
        let Row { positive, negative, diagonal } = row;
        let off_diagonal = positive + negative;
        let (sum, magnitudes) = (diagonal + (positive - negative), diagonal.abs() + off_diagonal);
        let count = |holds: bool| if holds { 1.0 } else { 0.0 };
        self.positive += count(diagonal > 0.0);
        self.negative += count(diagonal < 0.0);
        self.dominant += count(diagonal.abs() >= off_diagonal * (1.0 - ROUNDING) && diagonal != 0.0);
        self.zero_sums += count(sum.abs() <= ROUNDING * magnitudes);
        self.dense += count(entries > usual);
        if off_diagonal > 0.0 {
            let other_sign = if diagonal >= 0.0 { negative } else { positive };
            self.weighed += 1.0;
            self.m_share += (other_sign / off_diagonal * PARTS + 0.5) as u32 as f64 / PARTS;
        }
        self.total += sum;
        self.magnitudes += magnitudes;
        // A comparison with NaN does not hold.
        self.norm = if self.norm >= magnitudes { self.norm } else { magnitudes };
        self.add_magnitude(1, diagonal);
        if magnitudes == 0.0 {
            self.first_empty = self.first_empty.min(f64::from(i));
        }
    }

    /// What is found in these rows and in others.
    pub fn with(self, other: Found) -> Found {
        let [a, b] = [self, other].map(|found| (found.sums(), found.maxima()));
        let sums = core::array::from_fn(|k| a.0[k] + b.0[k]);
        let maxima = core::array::from_fn(|k| if a.1[k] >= b.1[k] { a.1[k] } else { b.1[k] });
        Found { hash: self.hash.wrapping_add(other.hash), ..Found::of(sums, maxima) }
    }

    /// The numbers that are added up over rows, the hash in halves.
    #[inline(always)]
    pub fn sums(&self) -> [f64; Found::SUMS] {
        [
            self.not_finite,
            self.positive,
            self.negative,
            self.dominant,
            self.zero_sums,
            self.dense,
            self.weighed,
            self.m_share,
            self.total,
            self.magnitudes,
            (self.hash >> 32) as f64,
            self.hash as u32 as f64,
        ]
    }

    /// The numbers of which the largest counts.
    #[inline(always)]
    pub fn maxima(&self) -> [f64; Found::MAXIMA] {
        let [most, of_diagonal] = self.most;
        let [least, least_of_diagonal] = self.least.map(turned);
        [self.norm, most, of_diagonal, least, least_of_diagonal, turned(self.first_empty)]
    }

    /// From [`Found::sums`] and [`Found::maxima`].
    pub fn of(sums: [f64; Found::SUMS], maxima: [f64; Found::MAXIMA]) -> Found {
        let [
            not_finite,
            positive,
            negative,
            dominant,
            zero_sums,
            dense,
            weighed,
            m_share,
            total,
            magnitudes,
            high,
            low,
        ] = sums;
        let [norm, most, of_diagonal, least, least_of_diagonal, first_empty] = maxima;
        Found {
            not_finite,
            positive,
            negative,
            dominant,
            zero_sums,
            dense,
            weighed,
            m_share,
            total,
            magnitudes,
            hash: ((high as u64) << 32).wrapping_add(low as u64),
            norm,
            most: [most, of_diagonal],
            least: [least, least_of_diagonal].map(turned),
            first_empty: turned(first_empty),
        }
    }
}

/// Whether `x^T A x` has the other sign than the diagonal for some x of two unknowns with the diagonal
/// entries `d` and `other` of one sign, `v` the entry between them.
#[inline(always)]
pub fn is_indefinite_pair(v: f64, d: f64, other: f64) -> bool {
    let product = d * other;
    product > 0.0 && v * v > (1.0 + ROUNDING) * product
}

/// Turns the order of numbers from 0 to infinity: the least becomes the largest. Its own inverse.
#[inline(always)]
fn turned(v: f64) -> f64 {
    f64::from_bits(f64::INFINITY.to_bits() - v.to_bits())
}

/// The halves of a 128-bit product of two numbers without a pattern. More mixing would take longer than
/// reading.
#[inline(always)]
fn hash(i: u32, j: u32, v: f64) -> u64 {
    let place = ((i as u64) << 32 | j as u64) ^ KEYS[0];
    let product = u128::from(place) * u128::from(v.to_bits() ^ KEYS[1]);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_turns_the_order_and_is_its_own_inverse() {
        let ascending = [0.0, 5e-324, 1.5, 1e300, f64::INFINITY];
        assert!(ascending.map(turned).windows(2).all(|pair| pair[0] > pair[1]));
        assert_eq!(ascending.map(turned).map(turned), ascending);
    }

    #[test]
    fn parts_are_put_together() {
        let of_entries = |entries: &[(u32, u32, f64)]| {
            let mut found = Found::NONE;
            for &(i, j, v) in entries {
                found.add_entry(i, j, v);
                let mut row = Row::NONE;
                if i == j {
                    row.diagonal = v
                } else {
                    row.add(v)
                }
                found.add_row(i, 1, 0, row);
            }
            found
        };
        let entries = [(3, 4, -2.5), (4, 3, -2.5), (5, 5, 0.5), (6, 7, 1.0)];
        let (first, second) = entries.split_at(1);
        let together = of_entries(first).with(of_entries(second));
        assert_eq!(together, of_entries(&entries));
        assert_eq!(Found::of(together.sums(), together.maxima()), together);
        assert_eq!(of_entries(&entries[..2]).hash, 0);
        assert_ne!(together.hash, 0);
        assert_eq!((together.norm, together.most, together.least), (2.5, [2.5, 0.5], [0.5, 0.5]));
        assert_eq!((together.m_share, together.weighed, together.dense), (2.0, 3.0, 4.0));
    }
}
