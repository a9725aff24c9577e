//! What a multigrid set-up is written in: sparse matrices that are computed where they will be used.
//!
//! [`Backend`] has what an iteration needs; this trait adds what makes a hierarchy: strength of connection,
//! splittings, interpolation, sparse products and transposes. Every operation but [`Algebra::inverse`] has a result that is defined to
//! the last bit, in the order of additions too, so that the hierarchy depends neither on the number of threads
//! nor on the device. Sums run over a row's entries from left to right, and multiply and add round separately.

use crate::backend::Backend;
use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::strength::Limits;

use super::{Coef, Memory, Products, Slot};
use crate::error::Result;
use crate::matrix::rounding::Pivot;
use crate::matrix::{BlockCsr, Choice, Csr};
use crate::solver::cg::CgStep;

/// What [`Algebra::aggregate`] says of a row that belongs to no aggregate.
pub const NO_AGGREGATE: u32 = u32::MAX;

/// Rows, columns and stored entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Rows.
    pub n_rows: usize,
    /// Columns.
    pub n_cols: usize,
    /// Stored entries.
    pub nnz: usize,
}

/// When the connection of unknown `i` to `j`, an off-diagonal entry, is strong. An entry 0 never is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Strength {
    /// `a_ij^2 >= epsilon |a_ii a_jj|` (Vanek, Mandel, Brezina 1996; Rosenberger and Haase 2017, equation 9.1).
    Symmetric {
        /// The threshold of the squares.
        epsilon: f64,
        /// Whether weak entries are added to the diagonal, so that row sums stay: the filtered matrix of smoothed
        /// aggregation. Where the diagonal would change its sign or vanish it is left as it is.
        lumped: bool,
    },
    /// `-s a_ij >= theta max_k(-s a_ik)` with `s` the sign of `a_ii` (Ruge and Stueben 1987).
    Classical {
        /// The share of the row's strongest connection.
        theta: f64,
    },
}

/// A number for each row of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowWeight {
    /// `1 / a_ii`.
    InverseDiagonal,
    /// `s_i / sum_j |a_ij|`, s_i the sign of a_ii: l1-Jacobi (Baker, Falgout, Kolev, Yang 2011).
    InverseL1,
    /// `a_ii / sum_j a_ij^2`, the diagonal that minimises `||I - M A||_F` (Broeker and Grote 2002).
    Spai0,
    /// `sum_j |a_ij| / |a_ii|`: its maximum bounds the spectral radius of `D^-1 A` (Gershgorin).
    GershgorinRadius,
}

/// How an interpolation is thinned out: a row keeps its largest entries and is rescaled to its old sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truncation {
    /// Most entries of a row.
    pub max_entries: usize,
    /// Entries below this share of the row's largest are dropped.
    pub factor: f64,
}

/// A matrix of b x b blocks as b^2 matrices of one pattern: plane `k b + l` has the (k, l) entries of the blocks. An
/// ordinary matrix is its only plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks<M> {
    planes: Vec<M>,
}

impl<M> Blocks<M> {
    /// An ordinary matrix.
    pub fn scalar(a: M) -> Self {
        Blocks { planes: vec![a] }
    }
    /// The planes of a block matrix, a square number of them.
    pub fn of_planes(planes: Vec<M>) -> Self {
        debug_assert!(planes.len().isqrt().pow(2) == planes.len() && !planes.is_empty());
        Blocks { planes }
    }
    /// Rows of a block.
    pub fn block(&self) -> usize {
        self.planes.len().isqrt()
    }
    /// Plane after plane.
    pub fn planes(&self) -> &[M] {
        &self.planes
    }
    /// Plane after plane, to be changed.
    pub fn planes_mut(&mut self) -> &mut [M] {
        &mut self.planes
    }
    /// The (k, l) entries.
    pub fn plane(&self, k: usize, l: usize) -> &M {
        &self.planes[k * self.block() + l]
    }
    /// The (0, 0) entries: of an ordinary matrix all of it.
    pub fn first(&self) -> &M {
        &self.planes[0]
    }
    /// `f` of every plane.
    pub fn map<N>(&self, f: impl FnMut(&M) -> Result<N>) -> Result<Blocks<N>> {
        Ok(Blocks { planes: self.planes.iter().map(f).collect::<Result<_>>()? })
    }
}

/// The operations of a multigrid set-up.
pub trait Algebra<T: Real>: Backend<T> {
    /// A sparse matrix in CRS, columns ascending in each row; a clone shares it.
    type Csr: Clone + Send;
    /// A 32-bit number for each row.
    type Indices;

    /// The matrix, where this backend computes.
    fn csr(&self, a: &Arc<Csr<T>>) -> Result<Self::Csr>;
    /// The matrix on the host.
    fn csr_to_host(&self, a: &Self::Csr) -> Result<Arc<Csr<T>>>;
    /// The numbers on the host.
    fn indices_to_host(&self, indices: &Self::Indices) -> Result<Vec<u32>>;
    /// Numbers from the host.
    fn indices(&self, values: &[u32]) -> Result<Self::Indices>;
    /// Rows, columns, entries.
    fn size(&self, a: &Self::Csr) -> Size;
    /// Overwrites the values of `a` with those of `values`, which has the same pattern.
    fn set_values(&self, a: &mut Self::Csr, values: &Csr<T>) -> Result<()>;

    /// The strong off-diagonal entries of the square matrix `a`, and its diagonal. Every diagonal entry must be
    /// stored and not be 0.
    fn strength(&self, a: &Self::Csr, strength: Strength) -> Result<Self::Csr>;
    /// The values of [`Algebra::strength`] for new values of `a` and the pattern that `s` has.
    fn strength_values(&self, a: &Self::Csr, lumped: bool, s: &mut Self::Csr) -> Result<()>;

    /// An independent set of the graph of the off-diagonal entries of `s`, and of `st` where it is given: 1 for its
    /// members, 0 for others. No two members are within `distance` (1 or 2) edges, and no unknown can be added,
    /// if the graph is symmetric.
    ///
    /// In rounds: an undecided unknown whose weight is the largest among the undecided ones within the distance joins
    /// the set, and all within the distance of it are out; where `st`, the transpose of s, is given (with distance 1) only those that
    /// depend on it are, its row of `st`. The weight is [`gpu_kernels::setup::weight`] of the row
    /// number and, where `st` is given, of the number of its off-diagonal entries in that row (PMIS; De Sterck,
    /// Yang, Heys 2006); ties go to the larger row number. With distance 2 the set is the MIS-2 of Bell, Dalton and
    /// Olson 2012. Unknowns without an edge are members if `isolated`. Those for which `outlying` is not 0 are no
    /// candidates: the set has [`OUTLYING`](gpu_kernels::setup::independent_set::OUTLYING) for them.
    fn independent_set(
        &self,
        s: &Self::Csr,
        st: Option<&Self::Csr>,
        distance: u32,
        isolated: bool,
        outlying: Option<&Self::Vector>,
    ) -> Result<Self::Indices>;

    /// Aggregates around `roots` in the graph of `s`, numbered in the order of their roots; the second value is their
    /// number. Not a root: first every unknown with a root among its neighbours joins the one with the largest
    /// `|s_ij|` (the first of equals); then every other one joins the aggregate of its neighbour with the largest
    /// `|s_ij|` among those that belonged to one before this step. Whoever is left and has a neighbour is a root too;
    /// without one it belongs to [`NO_AGGREGATE`]. Unknowns for which `roots` has
    /// [`OUTLYING`](gpu_kernels::setup::independent_set::OUTLYING) are roots that nobody joins.
    fn aggregate(&self, s: &Self::Csr, roots: &Self::Indices) -> Result<(Self::Indices, usize)>;
    /// The piecewise constant interpolation: 1 in row `i`, column `aggregates[i]`.
    fn tentative(&self, aggregates: &Self::Indices, n_aggregates: usize) -> Result<Self::Csr>;
    /// `S P_0` with P_0 the piecewise constant interpolation: what [`Algebra::product`] makes of it.
    fn aggregated(
        &self,
        s: &Self::Csr,
        aggregates: &Self::Indices,
        n_aggregates: usize,
    ) -> Result<Self::Csr> {
        self.product(s, &self.tentative(aggregates, n_aggregates)?)
    }
    /// [`Algebra::damp`], then [`Algebra::aggregated`].
    fn damped_and_aggregated(
        &self,
        mut s: Self::Csr,
        (omega, outlying): (T, Option<&Self::Vector>),
        aggregates: &Self::Indices,
        n_aggregates: usize,
    ) -> Result<Self::Csr> {
        self.damp(&mut s, omega, outlying)?;
        self.aggregated(&s, aggregates, n_aggregates)
    }
    /// `S = I - C S` with `c_i = omega / s_ii`, or `outlying_i` where that is not 0.
    fn damp(&self, s: &mut Self::Csr, omega: T, outlying: Option<&Self::Vector>) -> Result<()>;
    /// `c_ij = c_ij - s_i p_ij` with `s_i = 1 / (omega d_i)`, or 0 where `d_i` is 0, for the entries of P, all of which C has too.
    fn subtract_scaled(&self, c: &mut Self::Csr, p: &Self::Csr, omega: T, d: &Self::Vector) -> Result<()>;
    /// The interpolation of Mandel and Brezina: a coarse unknown is taken over, any other is the average of the coarse
    /// ones in its row of `s`; `coarse` has 1 for coarse unknowns.
    fn averaging(&self, s: &Self::Csr, coarse: &Self::Indices) -> Result<Self::Csr>;
    /// Extended+i interpolation (De Sterck, Falgout, Nolting, Yang 2008, equation 4.10), truncated. `s` has the strong
    /// entries of `a` ([`Strength::Classical`]) and its diagonal, `coarse` has 1 for coarse unknowns, which are taken over.
    ///
    /// Row `i` of a fine unknown has the coarse unknowns C^ that are strong neighbours of i or of one of F, its strong
    /// fine neighbours. With `abar_kl = a_kl` where that has not the sign of `a_kk`, else 0:
    ///
    /// ```text
    /// d_k   = sum_{l in C^} abar_kl + abar_ki                                                       for k in F
    /// w_ij  = -(a_ij + sum_{k in F} (a_ik / d_k) abar_kj) / a~_ii                                   for j in C^
    /// a~_ii = sum_n a_in + sum_{k in F} (a_ik / d_k) abar_ki      n: i itself, and weak entries that are not in C^
    /// ```
    ///
    /// Where `d_k` is 0, k adds nothing to w, and `a_ik` to `a~_ii`; where `a~_ii` comes out as 0, `a_ii` takes its place.
    /// Every sum is taken as it is written, each index ascending; the minus comes last.
    ///
    /// Then a row keeps its largest `|w|` (the first of equals): of those that are not below `factor` times the largest,
    /// at most `max_entries` (at least 1). They are multiplied by `old / kept`, the sums of the row's weights before and
    /// after, from left to right, unless `kept` is 0.
    fn extended_i(
        &self,
        a: &Self::Csr,
        s: &Self::Csr,
        coarse: &Self::Indices,
        truncation: Truncation,
    ) -> Result<Self::Csr>;

    /// `A B`: the pattern without regard to values (an entry that cancels is stored), then the values.
    fn product(&self, a: &Self::Csr, b: &Self::Csr) -> Result<Self::Csr>;
    /// The values of `C = A B` in the pattern that [`Algebra::product`] made: `c_ij = sum_k a_ik b_kj`, k ascending,
    /// from 0, every multiplication and addition rounded.
    fn product_values(&self, a: &Self::Csr, b: &Self::Csr, c: &mut Self::Csr) -> Result<()>;
    /// `C = C + A B` in the pattern of C, which has that of A B: [`Algebra::product_values`] from the present `c_ij`.
    fn add_product(&self, a: &Self::Csr, b: &Self::Csr, c: &mut Self::Csr) -> Result<()>;
    /// `A = factor A`.
    fn scale_values(&self, a: &mut Self::Csr, factor: T) -> Result<()>;
    /// A matrix of zeros in the pattern of `a`.
    fn zeros_like(&self, a: &Self::Csr) -> Result<Self::Csr>;
    /// The transpose.
    fn transpose(&self, a: &Self::Csr) -> Result<Self::Csr>;
    /// The values of the transpose in the pattern that [`Algebra::transpose`] made.
    fn transpose_values(&self, a: &Self::Csr, at: &mut Self::Csr) -> Result<()>;

    /// A number for each row of the square matrix `a`.
    fn row_weights(&self, a: &Self::Csr, weight: RowWeight) -> Result<Self::Vector>;
    /// The inverse with every entry stored, where A is symmetric and positive definite: no pivot of Cholesky's method is below
    /// `negligible(max |a_ij|)`, nor any `|a_ij - a_ji|` above. `None` where not, and where it is better computed on the host.
    /// Backends round it differently.
    fn inverse(&self, a: &Self::Csr, negligible: &dyn Fn(f64) -> f64) -> Result<Option<Self::Csr>> {
        let _ = (a, negligible);
        Ok(None)
    }
    /// `d_i`, or `d_i bound / g_i` where `g_i` is larger than the bound, for `d_i = 1 / a_ii`; a vector of zeros; and 0. But rows that are
    /// outlying by [`Limits`] have `d_i / g_i` in both vectors, and the third is how many they are.
    fn limit(
        &self,
        a: &Self::Csr,
        g: &Self::Vector,
        d: &Self::Vector,
        limits: Limits<T>,
    ) -> Result<(Self::Vector, Self::Vector, usize)>;
    /// `n` numbers that look random, with the D that `d` stands for: [`scaled_noise(i, d_ii)`](gpu_kernels::setup::scaled_noise).
    fn noise(&self, d: &Self::Vector, n: usize) -> Result<Self::Vector>;

    /// The planes of a matrix of blocks, where this backend computes.
    fn blocks(&self, a: &BlockCsr<T>) -> Result<Blocks<Self::Csr>>;
    /// The norm matrix of a matrix of blocks, `e_ij = ||A_ij||_F` (Rosenberger and Haase 2017, section 9.3.1), off the
    /// diagonal with the sign turned, so that every connection is one of opposite sign. Squares are added row by row.
    fn norms(&self, a: &Blocks<Self::Csr>) -> Result<Self::Csr>;
    /// The inverses of the diagonal blocks, b^2 values a block row, as
    /// [`gpu_kernels::setup::blocks::inverse_or_diagonal`] has them; of an ordinary matrix `1 / a_ii`.
    fn invert_diagonal(&self, a: &Blocks<Self::Csr>) -> Result<Self::Vector>;
    /// `S = I - omega D S` with D the blocks of `d`, for a matrix of blocks.
    fn damp_blocks(&self, s: &mut Blocks<Self::Csr>, d: &Self::Vector, omega: T) -> Result<()>;
    /// The matrix in CRS, or CRS of blocks, ready to be multiplied: unknown `b i + k` of the vectors is the k-th of
    /// block row i.
    fn in_crs(&self, a: &Blocks<Self::Csr>) -> Result<Self::Matrix>;
}

/// Where a hierarchy computed in T is applied in S, which may be the same.
pub trait Mixed<T: Real, S: Real>: Algebra<T> + Backend<S> {
    /// The matrix with values rounded to S, in the format that [`crate::matrix::choose`] chooses, ready to be multiplied.
    #[allow(clippy::type_complexity)]
    fn operator(
        &self,
        a: &Blocks<<Self as Algebra<T>>::Csr>,
    ) -> Result<(<Self as Products<S>>::Matrix, Choice)>;
    /// [`Mixed::operator`] of a matrix that smooths: in f32 rounded further where a GPU would then
    /// [pack](gpu_kernels::spmv::packed) it, on every backend so that all iterate alike. Also, whether it is packed.
    #[allow(clippy::type_complexity)]
    fn smoothing_operator(
        &self,
        a: &Blocks<<Self as Algebra<T>>::Csr>,
        pivot: Pivot,
    ) -> Result<(<Self as Products<S>>::Matrix, Choice, bool)>;
    /// `y = x`, rounded to S.
    fn cast(&self, x: &<Self as Memory<T>>::Vector, y: &mut <Self as Memory<S>>::Vector) -> Result<()>;
    /// `y = x`, rounded to S, and `z = omega d .* y`: the way into a hierarchy with the first sweep from zero.
    fn cast_scaled(
        &self,
        x: &<Self as Memory<T>>::Vector,
        omega: S,
        d: &<Self as Memory<S>>::Vector,
        y: &mut <Self as Memory<S>>::Vector,
        z: &mut <Self as Memory<S>>::Vector,
    ) -> Result<()>;
    /// [`CgSteps::cg_step`](crate::solver::cg::CgSteps::cg_step) without d, and with the new r [`Mixed::cast_scaled`] by `(omega, d)`, or [`Mixed::cast`] without
    /// them.
    #[allow(clippy::type_complexity)]
    fn cg_step_and_cast(
        &self,
        step: &mut CgStep<T, Self>,
        scale: Option<(S, &<Self as Memory<S>>::Vector)>,
        y: &mut <Self as Memory<S>>::Vector,
        z: &mut <Self as Memory<S>>::Vector,
    ) -> Result<()>;
    /// `s[out] = (r, z)`, z rounded to S.
    fn cast_dot(
        &self,
        r: &<Self as Memory<S>>::Vector,
        z: &<Self as Memory<T>>::Vector,
        s: &<Self as Memory<S>>::Scalars,
        out: Slot,
    ) -> Result<()>;
    /// [`Vectors::direction`] without d, z rounded to S.
    fn cast_direction(
        &self,
        s: &<Self as Memory<S>>::Scalars,
        z: &<Self as Memory<T>>::Vector,
        beta: Coef,
        p: &mut <Self as Memory<S>>::Vector,
    ) -> Result<()>;
}
