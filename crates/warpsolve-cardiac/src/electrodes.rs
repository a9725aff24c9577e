//! Currents that electrodes lead into the space outside of the cells, and their balance.
//!
//! Tested with phi_i, an extracellular stimulus I_e becomes the currents M I_e at the nodes. Where nothing is
//! grounded, `K_ie phi = -K_i v + M I_e` has a solution only if they add up to 0: the rows of K_ie and K_i
//! do.

use super::params::Params;
use super::places::{Placed, Places};
use super::share::{Share, Unknowns};
use super::stimulus::{Balance, Stimulus};
use warpsolve_host::error::{Error, Result};
use warpsolve_host::matrix::Csr;
use warpsolve_host::number::plain;

/// A sum of currents below this share of the sum of their magnitudes is 0 but for rounding.
const ROUNDING: f64 = 1e-9;

/// An extracellular stimulus with its current into each node of this rank while it is on (uA).
pub(super) struct Electrode {
    pub stimulus: Stimulus,
    pub currents: Vec<f64>,
}

/// The extracellular stimuli, balanced where nothing is grounded. `mass` is the mass matrix of all nodes.
/// All ranks call this.
///
/// # Errors
/// [`Error::Option`] if they do not add up to 0 and [`Params::balance`] does not help.
pub(super) fn electrodes(
    params: &Params,
    places: &Places,
    share: &Share,
    mass: &Csr<f64>,
) -> Result<Vec<Electrode>> {
    // Rows of other ranks' nodes are not complete.
    let times_mass = |values: &[f64]| share.own(mass.mul_vec(values), Unknowns::Nodes(1));
    let mut names = Vec::new();
    let mut electrodes = Vec::new();
    for Placed { name, stimulus, within } in &places.electrodes {
        let strengths: Vec<f64> = within.iter().map(|&is_in| stimulus.strength * f64::from(is_in)).collect();
        names.push(name.clone());
        electrodes.push(Electrode { stimulus: stimulus.clone(), currents: times_mass(&strengths) });
    }
    if params.grounds.is_empty() && !electrodes.is_empty() {
        let volumes = times_mass(&vec![1.0; mass.n_rows()]);
        while let Some(first) = names.iter().position(|name| !name.is_empty()) {
            // Only those that are on at the same times can make up for each other.
            let timing = timing(&electrodes[first].stimulus);
            let is_one = |k: &usize| self::timing(&electrodes[*k].stimulus) == timing;
            let group: Vec<usize> = (first..electrodes.len()).filter(is_one).collect();
            let who = group.iter().map(|&k| std::mem::take(&mut names[k])).collect::<Vec<_>>().join(" and ");
            let together: Vec<&mut Vec<f64>> = electrodes
                .iter_mut()
                .enumerate()
                .filter(|(k, _)| group.contains(k))
                .map(|(_, electrode)| &mut electrode.currents)
                .collect();
            balance(share, params.balance, together, &volumes, &who)?;
        }
    }
    Ok(electrodes)
}

/// What must be the same of stimuli that are on at the same times.
fn timing(stimulus: &Stimulus) -> (f64, f64, Option<f64>, Option<u32>) {
    (stimulus.start, stimulus.duration, stimulus.period, stimulus.beats)
}

/// Makes the currents of stimuli that are on together add up to 0. `volumes` are those around the nodes.
fn balance(
    share: &Share,
    how: Balance,
    mut electrodes: Vec<&mut Vec<f64>>,
    volumes: &[f64],
    who: &str,
) -> Result<()> {
    let total = |currents: &[f64]| Ok(share.sums([currents.iter().sum()])?[0]);
    let totals = |electrodes: &[&mut Vec<f64>]| {
        electrodes.iter().map(|currents| total(currents)).collect::<Result<Vec<f64>>>()
    };
    let sums = totals(&electrodes)?;
    let side = |sign: f64| sums.iter().filter(|sum| sign * **sum > 0.0).map(|sum| sum.abs()).sum::<f64>();
    let (entering, leaving) = (side(1.0), side(-1.0));
    let missing = entering - leaving;
    match how {
        _ if missing.abs() <= ROUNDING * (entering + leaving) => {}
        Balance::Refuse => {
            return Err(Error::Option(format!(
                "the extracellular currents of {who} add up to {} uA, but where nothing is grounded \
                 as much must leave as enters; give an electrode of the other sign, or a ground, or balance \
                 them (--ground, --balance-stimuli)",
                plain(missing)
            )));
        }
        Balance::Scale if entering == 0.0 || leaving == 0.0 => {
            return Err(Error::Option(format!(
                "the extracellular currents of {who} have one sign and add up to {} uA: there is \
                 nothing to scale; give an electrode of the other sign, or a ground, or spread what is missing \
                 (--ground, --balance-stimuli spread)",
                plain(missing)
            )));
        }
        Balance::Scale => {
            let weaker = if entering < leaving { 1.0 } else { -1.0 };
            let factor = entering.max(leaving) / entering.min(leaving);
            let weak = electrodes.iter_mut().zip(&sums).filter(|(_, sum)| weaker * **sum > 0.0);
            weak.for_each(|(currents, _)| currents.iter_mut().for_each(|current| *current *= factor));
        }
        Balance::Spread => {}
    }
    // What is missing still, if only by rounding. They are on together, so that one can have all of it.
    let missing: f64 = totals(&electrodes)?.iter().sum();
    let each = missing / total(volumes)?;
    if let Some(currents) = electrodes.first_mut() {
        currents.iter_mut().zip(volumes).for_each(|(current, volume)| *current -= each * volume);
    }
    Ok(())
}
