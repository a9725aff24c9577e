//! Where a plan is carried out: on one device, or on those of several ranks.

use std::sync::Arc;

use super::Device;
use super::look::Copied;
use super::plan::Plan;
use super::progress::Watch;
use super::ranks::{self, Ranks};
use super::run::{Prepared, on_device};
use super::setup::Times;
use crate::error::Result;

/// Carries `plan` out on `device`, and on the devices of other ranks, where there are some; they may have
/// a copy of its matrix.
pub(super) fn prepare(
    plan: Plan,
    copy: Copied,
    device: &Device,
    ranks: Option<&Arc<Ranks>>,
    watch: &mut Watch,
    times: &mut Times,
) -> Result<Box<dyn Prepared>> {
    match ranks.filter(|_| !plan.method.description().is_on_host) {
        Some(ranks) => ranks::prepare(plan, copy.on_ranks(), device, ranks, watch, times),
        None => on_device(plan, copy.whole(), device, watch, times),
    }
}
