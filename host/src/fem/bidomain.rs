//! The coupled 2x2 systems of one implicit step of the bidomain equations.

use crate::error::{Error, Result};
use crate::matrix::Csr;
use crate::parallel::*;

/// The matrix of one implicit time step of the bidomain equations in v (the transmembrane voltage) and phi
/// (the extracellular potential), both in mV.
///
/// With the conductivities sigma_i, sigma_e (mS/mm), the membrane's surface to volume ratio chi (1/mm) and
/// capacity Cm (uF/mm^2), the ionic current I_ion (uA/mm^2) and an extracellular stimulus I_e (uA/mm^3)
/// the equations are
///
/// ```text
/// chi Cm dv/dt = div(sigma_i grad(v + phi)) - chi I_ion
///            0 = div(sigma_i grad v) + div((sigma_i + sigma_e) grad phi) + I_e
/// ```
///
/// without flux through the boundary. Let v* be v after a step of dv/dt = -I_ion / Cm alone, and kappa = chi
/// Cm / dt (mS/mm^3). Then kappa (v - v*) = div(sigma_i grad(v + phi)). Tested with phi_i and integrated by
/// parts, -div(sigma grad u) becomes K u, with K positive semidefinite ([`P1::stiffness`]). With K_ie = K_i +
/// K_e and the mass matrix M the equations become
///
/// ```text
/// K_ie phi +  K_i            v = M I_e
/// K_i  phi + (K_i + kappa M) v = kappa M v*
/// ```
///
/// The unknowns are interleaved: 2i is phi and 2i + 1 is v of node i (counted from 0). Each pair of
/// neighbours i, j has a complete 2x2 block:
///
/// ```text
/// [ K_ie_ij   K_i_ij                ]
/// [ K_i_ij    K_i_ij + kappa M_ij   ]
/// ```
///
/// K_i and M may have fewer entries than K_ie: where cells are in a part of the mesh only, and the rest, a
/// bath, conducts outside of them alone, they have none at the nodes of the bath. The blocks are complete all
/// the same, with zeros. A node without an entry in M has no v: its v is in no equation but its own, `K_ie_ii
/// v = 0`.
///
/// The matrix is symmetric where the parts are. It is positive semidefinite, because its energy is
///
/// ```text
/// phi^T K_e phi + (phi + v)^T K_i (phi + v) + kappa v^T M v
/// ```
///
/// On a connected mesh the energy is zero only for phi constant and v = 0, so the null space is
/// (1, 0, 1, 0, ..). A right-hand side is consistent if its entries for phi add up to zero: as much current
/// leaves as enters.
///
/// Source: S. Rosenberger, G. Haase: OpenACC and CUDA parallelization for the Elasticity Problem in CARP
/// (2017), section 8.1. There the equation has K_i - kappa M and the code K_i + kappa M, with a remark on
/// "a hidden minus"; by the derivation above it is plus.
///
/// # Errors
/// [`Error::Matrix`] for parts that are not square, entries where K_ie has none, or too many rows for 32-bit
/// indices; [`Error::Option`] for a `kappa` that is negative or not finite.
///
/// [`P1::stiffness`]: super::P1::stiffness
pub fn bidomain(k_i: &Csr<f64>, k_ie: &Csr<f64>, m: &Csr<f64>, kappa: f64) -> Result<Csr<f64>> {
    check_parts(("K_ie", k_ie), &[("K_i", k_i), ("M", m)])?;
    if !(kappa >= 0.0 && kappa.is_finite()) {
        return Err(Error::Option(format!(
            "kappa = chi Cm / dt is {kappa}; it must be a finite number of at least 0"
        )));
    }
    Ok(interleaved(k_ie, |i| {
        let (mut inner, mut mass) = (Entries::of(k_i, i), Entries::of(m, i));
        let has_v = m.row_len(i) > 0;
        move |j, k_ie| {
            let (k_i, m) = (inner.at(j), mass.at(j));
            let v_v = if has_v || j as usize != i { k_i + kappa * m } else { k_ie };
            [[k_ie, k_i], [k_i, v_v]]
        }
    }))
}

/// The same step in the potentials inside and outside of the cells, u_i and u_e (mV), with a lumped mass:
/// `c` is the diagonal of C_t = kappa M (mS).
///
/// ```text
/// [ C_t + K_i   -C_t      ]
/// [ -C_t        C_t + K_e ]
/// ```
///
/// It is [`bidomain()`] for u_e = phi and u_i = phi + v. The unknowns are interleaved: 2i is u_i and 2i + 1
/// is u_e. The matrix is symmetric where the parts are, and positive semidefinite. On a connected mesh its
/// null space is (1, 1, ..): both potentials may be higher by the same.
///
/// K_i may have fewer entries than K_e. Where `c` is 0 there are no cells; there `K_e_ii` stands in for it,
/// which makes u_i what u_e is and changes no other unknown, as long as K_i has no entry there.
///
/// Source: S. Rosenberger, G. Haase: OpenACC and CUDA parallelization for the Elasticity Problem in CARP
/// (2017), section 8.
///
/// # Errors
/// [`Error::Matrix`] as for [`bidomain()`]; [`Error::Dimension`] unless `c` has an entry for each row.
pub fn potentials(k_i: &Csr<f64>, k_e: &Csr<f64>, c: &[f64]) -> Result<Csr<f64>> {
    check_parts(("K_e", k_e), &[("K_i", k_i)])?;
    if c.len() != k_e.n_rows() {
        return Err(Error::Dimension { what: "C_t", expected: k_e.n_rows(), found: c.len() });
    }
    Ok(interleaved(k_e, |i| {
        let mut inner = Entries::of(k_i, i);
        move |j, k_e| {
            let k_i = inner.at(j);
            let c = match c[i] {
                _ if j as usize != i => 0.0,
                0.0 => k_e,
                c => c,
            };
            [[c + k_i, -c], [-c, c + k_e]]
        }
    }))
}

/// Refuses parts that are not square, or have entries where the `widest` has none.
fn check_parts((name, widest): (&str, &Csr<f64>), parts: &[(&str, &Csr<f64>)]) -> Result<()> {
    crate::matrix::check::check_square(widest)?;
    for (part_name, part) in parts {
        let has_all = |i: usize| {
            let mut columns = widest.row(i).0.iter();
            part.row(i).0.iter().all(|j| columns.any(|column| column == j))
        };
        let is_of_size = (part.n_rows(), part.n_cols()) == (widest.n_rows(), widest.n_cols());
        if !is_of_size || !(0..part.n_rows()).into_par_iter().all(has_all) {
            return Err(Error::Matrix(format!(
                "the pattern of {part_name} ({} x {}, {} entries) is not within that of {name} ({} x {}, {}); \
                 assemble all parts on one mesh",
                part.n_rows(),
                part.n_cols(),
                part.nnz(),
                widest.n_rows(),
                widest.n_cols(),
                widest.nnz()
            )));
        }
    }
    let rows = 2 * widest.n_rows();
    if rows > u32::MAX as usize {
        return Err(Error::Matrix(format!("{rows} rows: more than 32-bit indices reach")));
    }
    Ok(())
}

/// The matrix of 2 x 2 blocks in the pattern of `widest`. `blocks(i)` is called with the columns of row i and
/// its values, in ascending order.
fn interleaved<F: FnMut(u32, f64) -> [[f64; 2]; 2]>(
    widest: &Csr<f64>,
    blocks: impl Fn(usize) -> F + Sync,
) -> Csr<f64> {
    let rows = 2 * widest.n_rows();
    Csr::from_rows(
        rows,
        rows,
        |row| 2 * widest.row_len(row / 2),
        |row, columns, values| {
            let (neighbours, own) = widest.row(row / 2);
            let mut block = blocks(row / 2);
            for (k, (&j, &value)) in neighbours.iter().zip(own).enumerate() {
                (columns[2 * k], columns[2 * k + 1]) = (2 * j, 2 * j + 1);
                (values[2 * k], values[2 * k + 1]) = block(j, value)[row % 2].into();
            }
        },
    )
}

/// The entries of a row, which are asked for in ascending order of their columns.
struct Entries<'a> {
    columns: &'a [u32],
    values: &'a [f64],
}

impl<'a> Entries<'a> {
    fn of(a: &'a Csr<f64>, row: usize) -> Self {
        let (columns, values) = a.row(row);
        Entries { columns, values }
    }

    /// The entry of column j, or 0.
    fn at(&mut self, j: u32) -> f64 {
        match (self.columns, self.values) {
            ([column, columns @ ..], [value, values @ ..]) if *column == j => {
                (self.columns, self.values) = (columns, values);
                *value
            }
            _ => 0.0,
        }
    }
}
