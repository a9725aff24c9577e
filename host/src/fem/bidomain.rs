//! The coupled 2x2 system of one implicit step of the bidomain equations.

use crate::error::{Error, Result};
use crate::matrix::Csr;

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
/// [`Error::Matrix`] for parts that are not square or differ in their patterns, or that have too many rows
/// for 32-bit indices; [`Error::Option`] for a `kappa` that is negative or not finite.
///
/// [`P1::stiffness`]: super::P1::stiffness
pub fn bidomain(k_i: &Csr<f64>, k_ie: &Csr<f64>, m: &Csr<f64>, kappa: f64) -> Result<Csr<f64>> {
    crate::matrix::check::check_square(k_i)?;
    for (name, part) in [("K_ie", k_ie), ("M", m)] {
        let same = part.n_cols() == k_i.n_cols()
            && part.row_ptr() == k_i.row_ptr()
            && part.col_idx() == k_i.col_idx();
        if !same {
            return Err(Error::Matrix(format!(
                "the pattern of {name} ({} x {}, {} entries) is not that of K_i ({} x {}, {}); \
                 assemble all parts on one mesh",
                part.n_rows(),
                part.n_cols(),
                part.nnz(),
                k_i.n_rows(),
                k_i.n_cols(),
                k_i.nnz()
            )));
        }
    }
    if !(kappa >= 0.0 && kappa.is_finite()) {
        return Err(Error::Option(format!(
            "kappa = chi Cm / dt is {kappa}; it must be a finite number of at least 0"
        )));
    }
    let rows = 2 * k_i.n_rows();
    if rows > u32::MAX as usize {
        return Err(Error::Matrix(format!("{rows} rows: more than 32-bit indices reach")));
    }
    Ok(Csr::from_rows(
        rows,
        rows,
        |row| 2 * k_i.row_len(row / 2),
        |row, columns, values| {
            let i = row / 2;
            let (neighbours, k_i) = k_i.row(i);
            let (k_ie, m) = (k_ie.row(i).1, m.row(i).1);
            for (k, &j) in neighbours.iter().enumerate() {
                (columns[2 * k], columns[2 * k + 1]) = (2 * j, 2 * j + 1);
                let block_row =
                    if row % 2 == 0 { [k_ie[k], k_i[k]] } else { [k_i[k], k_i[k] + kappa * m[k]] };
                (values[2 * k], values[2 * k + 1]) = block_row.into();
            }
        },
    ))
}
