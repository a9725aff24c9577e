//! The tables of a profile.

use warpsolve::launch::profile::{CopyProfile, KernelProfile, Profile};

use super::super::table::{Align, Lines, bytes, duration, table, thousands};
use super::seen::Seen;

/// Kernels, copies, memory, and how busy the device was.
pub(super) fn text(seen: &Seen) -> String {
    let Seen { device, profile, copy_bandwidth, .. } = seen;
    let mut lines = Lines::default();
    let (launches, kernels) = (thousands(profile.launches()), profile.kernels.len());
    let plural = if kernels == 1 { "" } else { "s" };
    lines.add("profile", format!("{device}: {launches} launches of {kernels} kernel{plural}"));
    lines.add("busy", busy(profile));
    lines.add("memory", memory(profile));
    if profile.untimed > 0 {
        let lost = thousands(profile.untimed);
        lines.add("missing", format!("{lost} launches and copies whose times the device did not tell"));
    }
    lines.gap();
    let kernels = kernels_of(profile, *copy_bandwidth);
    let copies = copies_of(profile);
    let notes = notes(seen);
    format!("{}{kernels}\n{copies}\n{notes}", lines.text())
}

fn busy(profile: &Profile) -> String {
    let Profile { busy_seconds: busy, span_seconds: span, .. } = profile;
    let idle = profile.idle_seconds();
    format!("{} of {}, idle {} ({})", duration(*busy), duration(*span), duration(idle), percent(idle / span))
}

fn memory(profile: &Profile) -> String {
    let (count, all) = (thousands(profile.allocations), bytes(profile.allocated_bytes));
    format!("{} at most, {count} allocations of {all}", bytes(profile.peak_bytes))
}

fn kernels_of(profile: &Profile, copy_bandwidth: Option<f64>) -> String {
    let columns = [
        ("kernel", Align::Left),
        ("launches", Align::Right),
        ("total", Align::Right),
        ("share", Align::Right),
        ("mean", Align::Right),
        ("min", Align::Right),
        ("max", Align::Right),
        ("grid", Align::Right),
        ("block", Align::Right),
        ("registers", Align::Right),
        ("bytes", Align::Right),
        ("GB/s", Align::Right),
        ("of copy", Align::Right),
    ];
    let row = |kernel: &KernelProfile| {
        let bandwidth = kernel.bandwidth();
        vec![
            kernel.name.clone(),
            thousands(kernel.launches),
            duration(kernel.total_seconds),
            percent(kernel.total_seconds / profile.busy_seconds),
            duration(kernel.mean_seconds()),
            duration(kernel.min_seconds),
            duration(kernel.max_seconds),
            range(kernel.grid),
            range(kernel.block),
            or_dash(kernel.attributes.map(|taken| taken.registers.to_string())),
            or_dash(kernel.bytes.map(bytes)),
            or_dash(bandwidth.map(rate)),
            or_dash(bandwidth.zip(copy_bandwidth).map(|(bandwidth, copy)| percent(bandwidth / copy))),
        ]
    };
    table(&columns, &profile.kernels.iter().map(row).collect::<Vec<_>>())
}

fn copies_of(profile: &Profile) -> String {
    let columns = [
        ("copies", Align::Left),
        ("count", Align::Right),
        ("bytes", Align::Right),
        ("total", Align::Right),
        ("share", Align::Right),
        ("GB/s", Align::Right),
    ];
    let row = |(name, copies): (&str, CopyProfile)| {
        vec![
            name.to_string(),
            thousands(copies.count),
            bytes(copies.bytes),
            duration(copies.seconds),
            percent(copies.seconds / profile.busy_seconds),
            or_dash(copies.bandwidth().map(rate)),
        ]
    };
    let rows = [
        ("to the device", profile.uploads),
        ("to the host", profile.downloads),
        ("within the device", profile.device_copies),
        ("set to zero", profile.fills),
    ];
    table(&columns, &rows.into_iter().map(row).collect::<Vec<_>>())
}

/// What the figures mean.
fn notes(seen: &Seen) -> String {
    let mut notes = String::from(
        "Times are those between an event before and one after each launch and copy. Some 2 us of each are the events',\n\
         and more where the device waits for the host: kernels are queued one by one and do not overlap, so that all\n\
         takes longer than without --profile. Bytes are those that must be moved, whatever the caches keep; - where\n\
         that depends on the data.\n",
    );
    if let Some(copy) = seen.copy_bandwidth {
        notes +=
            &format!("A copy within the device reaches {} GB/s, reads and writes counted.\n", rate(copy));
    }
    notes
}

/// "8", or "4..16".
fn range((least, most): (u32, u32)) -> String {
    if least == most { least.to_string() } else { format!("{least}..{most}") }
}

fn rate(bandwidth: f64) -> String {
    format!("{:.1}", bandwidth * 1e-9)
}

fn percent(part: f64) -> String {
    if part.is_finite() { format!("{:.1} %", 100.0 * part) } else { "-".into() }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}
