//! What a profile says of a device.

use std::sync::Arc;

use warpsolve::backend::gpu::Gpu;
use warpsolve::job::{Device, copy_bandwidth};
use warpsolve::launch::Launch;
use warpsolve::launch::profile::{Profile, Profiled, Trace};

/// What was seen of a device.
pub(super) struct Seen {
    pub device: String,
    pub profile: Profile,
    pub trace: Trace,
    /// Bytes a second of a copy within it.
    pub copy_bandwidth: Option<f64>,
}

impl Seen {
    pub fn of(watched: &Arc<Profiled>) -> Seen {
        // What a device that failed did before.
        let profile = watched.profile().unwrap_or_else(|_| watched.seen());
        // Beside the profile.
        let bandwidth = Gpu::new(watched.device().clone()).and_then(|gpu| copy_bandwidth(&Device::Gpu(gpu)));
        Seen {
            device: watched.info().name.clone(),
            profile,
            trace: watched.trace(),
            copy_bandwidth: bandwidth.ok().flatten(),
        }
    }
}
