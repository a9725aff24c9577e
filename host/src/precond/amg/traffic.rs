//! The bytes that a cycle must move through memory, whatever the caches keep: the matrices of each pass, and each of
//! its vectors once for reading and once for writing.

use super::params::{Cycle, Params};
use crate::backend::algebra::Size;
use crate::matrix::matrix_traffic;

/// A level but the last.
pub struct Passes {
    /// The matrix.
    pub a: Size,
    /// Bytes of its values; 0 where they are packed into the columns.
    pub of_value: usize,
    /// Interpolation from the next coarser level.
    pub p: Size,
    /// Restriction to it.
    pub r: Size,
    /// Sweeps of a smoothing step.
    pub sweeps: usize,
}

/// All levels.
pub struct Traffic {
    /// Bytes of a value.
    pub value: usize,
    /// Rows of a block.
    pub block: usize,
    /// All levels but the last.
    pub levels: Vec<Passes>,
    /// Bytes of solving on the last.
    pub coarsest: f64,
}

/// `count` vectors of `n` values.
fn vectors(count: usize, n: usize, value: usize) -> f64 {
    (count * value) as f64 * n as f64
}

/// `y = A x` with values of so many bytes in A and in the vectors.
pub fn product(a: Size, of_value: usize, value: usize, block: usize) -> f64 {
    matrix_traffic(a.nnz, a.n_rows, of_value, block) as f64 + vectors(1, a.n_rows + a.n_cols, value)
}

/// `count` sweeps `y = x + w d .* (b - A x)`.
pub fn sweeps(count: usize, a: Size, of_value: usize, value: usize, block: usize) -> f64 {
    // b, x and the row's part of D beside the product's vectors.
    count as f64 * (product(a, of_value, value, block) + vectors(1 + block, a.n_rows, value))
}

impl Traffic {
    /// Bytes of one cycle from zero.
    pub fn cycle(&self, params: &Params) -> f64 {
        // Of a visit from zero and of one from an iterate: a V-cycle's, and that of the cycle at hand.
        let (mut v, mut chosen) = ([self.coarsest; 2], [self.coarsest; 2]);
        for (l, level) in self.levels.iter().enumerate().rev() {
            let own = [true, false].map(|zero| self.visit(level, zero, params));
            let below = match (self.levels.get(l + 1), params.cycle) {
                (None, _) => self.coarsest,
                (Some(_), Cycle::V) => v[0],
                (Some(_), Cycle::W) => chosen[0] + chosen[1],
                (Some(_), Cycle::F) => chosen[0] + v[1],
                (Some(next), Cycle::K) => 2.0 * chosen[0] + self.flexible_cg(next, params),
            };
            v = own.map(|own| own + v[0]);
            chosen = own.map(|own| own + below);
        }
        // The finest level's first sweep is a pass of its own, x = w d .* b.
        let first = self.levels.first().filter(|_| params.pre > 0);
        chosen[0] + first.map_or(0.0, |level| vectors(3, level.a.n_rows, self.value))
    }

    /// A visit of a level without those below it. The first sweep from zero is part of the restriction before it.
    fn visit(&self, level: &Passes, zero: bool, params: &Params) -> f64 {
        let &Passes { a, of_value, p, r, sweeps: each } = level;
        let (n, value, block) = (a.n_rows, self.value, self.block);
        let steps = (params.pre + params.post) as usize;
        let first = usize::from(zero && params.pre > 0);
        let smoothing = sweeps(steps * each - first, a, of_value, value, block);
        let restriction =
            product(r, value, value, block) + vectors(if params.pre > 0 { 2 } else { 0 }, r.n_rows, value);
        // Without an iterate the residual is b, and the correction need not be added.
        let iterate = if zero && params.pre == 0 {
            0.0
        } else {
            product(a, of_value, value, block) + vectors(1 + 1, n, value)
        };
        smoothing + restriction + product(p, value, value, block) + iterate
    }

    /// The two steps of flexible CG around the visits of a K-cycle.
    fn flexible_cg(&self, level: &Passes, params: &Params) -> f64 {
        let first_sweep = if params.pre > 0 { 3 } else { 0 };
        2.0 * product(level.a, level.of_value, self.value, self.block)
            + vectors(17 + first_sweep, level.a.n_rows, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [usize; 4] = [1000, 130, 17, 3];

    fn traffic(sweeps: usize) -> Traffic {
        let size = |n_rows, n_cols, nnz| Size { n_rows, n_cols, nnz };
        let level = |w: &[usize]| Passes {
            a: size(w[0], w[0], 7 * w[0] + 3),
            // The second level is not packed.
            of_value: if w[0] == SIZES[1] { 4 } else { 0 },
            p: size(w[0], w[1], 3 * w[0]),
            r: size(w[1], w[0], 3 * w[0]),
            sweeps,
        };
        let levels = SIZES.windows(2).map(level).collect();
        Traffic { value: 4, block: 1, levels, coarsest: product(size(3, 3, 9), 4, 4, 1) }
    }

    /// Every pass of `cycle.rs`, one after another.
    fn walk(t: &Traffic, l: usize, cycle: Cycle, zero: bool, params: &Params) -> f64 {
        let Some(level) = t.levels.get(l) else { return t.coarsest };
        let (n, n_c) = (SIZES[l] as f64, SIZES[l + 1] as f64);
        let matrix = |m: Size| (8 * m.nnz + 4 * m.n_rows) as f64;
        let packed = |level: &Passes| matrix(level.a) - ((4 - level.of_value) * level.a.nnz) as f64;
        let mut bytes = 0.0;
        for sweep in 0..params.pre as usize * level.sweeps {
            if !(zero && sweep == 0) {
                bytes += packed(level) + 4.0 * 4.0 * n;
            }
        }
        let iterate = !zero || params.pre > 0;
        if iterate {
            bytes += packed(level) + 4.0 * 3.0 * n;
        }
        bytes += matrix(level.r) + 4.0 * (n + n_c) + if params.pre > 0 { 4.0 * 2.0 * n_c } else { 0.0 };
        bytes += match cycle {
            Cycle::K if l + 1 < t.levels.len() => {
                let a = packed(&t.levels[l + 1]) + 4.0 * 2.0 * n_c;
                let dots = 3.0 * 2.0;
                let axpbys = 3.0 * 3.0;
                let scaled = if params.pre > 0 { 3.0 } else { 0.0 };
                2.0 * walk(t, l + 1, cycle, true, params)
                    + 2.0 * a
                    + 4.0 * n_c * (2.0 + dots + axpbys + scaled)
            }
            Cycle::W if l + 1 < t.levels.len() => {
                walk(t, l + 1, Cycle::W, true, params) + walk(t, l + 1, Cycle::W, false, params)
            }
            Cycle::F if l + 1 < t.levels.len() => {
                walk(t, l + 1, Cycle::F, true, params) + walk(t, l + 1, Cycle::V, false, params)
            }
            _ => walk(t, l + 1, cycle, true, params),
        };
        bytes += matrix(level.p) + 4.0 * (n_c + if iterate { 2.0 * n } else { n });
        bytes + (params.post as usize * level.sweeps) as f64 * (packed(level) + 4.0 * 4.0 * n)
    }

    #[test]
    fn every_pass_of_every_cycle_is_counted() {
        for cycle in [Cycle::V, Cycle::W, Cycle::F, Cycle::K] {
            for (pre, post, each) in [(1, 1, 1), (2, 1, 3), (0, 2, 1), (1, 0, 2)] {
                let params = Params { cycle, pre, post, ..Params::default() };
                let traffic = traffic(each);
                let first = if pre > 0 { 3.0 * 4.0 * 1000.0 } else { 0.0 };
                let expected = first + walk(&traffic, 0, cycle, true, &params);
                assert_eq!(traffic.cycle(&params), expected, "{cycle} {pre} {post} {each}");
            }
        }
    }

    #[test]
    fn a_single_level_is_the_coarsest() {
        let traffic = Traffic { value: 8, block: 1, levels: Vec::new(), coarsest: 1234.0 };
        assert_eq!(traffic.cycle(&Params::default()), 1234.0);
    }
}
