//! Traces in Chrome's format, which Perfetto reads; docs/report-schema.md describes them.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use serde_json::json;
use warpsolve::Result;
use warpsolve::io::atomic::write_atomically;
use warpsolve::launch::profile::{Activity, Profile, Span};

use super::super::json::VERSION;
use super::super::output::warn;
use super::seen::Seen;

/// Seconds in the format's unit.
const MICROSECONDS: f64 = 1e6;

/// A device's profile.
#[derive(Serialize)]
struct Summary<'a> {
    device: &'a str,
    copy_bandwidth: Option<f64>,
    #[serde(flatten)]
    profile: &'a Profile,
}

/// Writes what ran on each device: a process with one stream, and its memory as a counter.
pub(super) fn write(path: &Path, seen: &[Seen]) -> Result<()> {
    let left_out: u64 = seen.iter().map(|seen| seen.trace.left_out).sum();
    if left_out > 0 {
        warn(&format!(
            "the trace {} has the first entries alone; {left_out} more are left out",
            path.display()
        ));
    }
    write_atomically(path, |file| to(file, seen, left_out))
}

fn to(file: &mut dyn Write, seen: &[Seen], left_out: u64) -> io::Result<()> {
    let summary = |seen: &Seen| {
        let Seen { device, profile, copy_bandwidth, .. } = seen;
        serde_json::to_value(Summary { device, copy_bandwidth: *copy_bandwidth, profile })
    };
    let profiles = seen.iter().map(summary).collect::<std::result::Result<Vec<_>, _>>()?;
    let head = json!({
        "schema": "warpsolve.trace/1",
        "version": VERSION,
        "displayTimeUnit": "ns",
        "profiles": profiles,
        "left_out": left_out,
    });
    // The events are too many to be held as JSON.
    let head = head.to_string();
    write!(file, "{},\n\"traceEvents\":[", head.strip_suffix('}').unwrap_or(&head))?;
    let begin = seen.iter().map(|seen| seen.trace.begin).min().unwrap_or_else(Instant::now);
    for (pid, seen) in seen.iter().enumerate() {
        let pid = pid + 1;
        // The first event of all is the only one without a comma in front of it.
        let comma = if pid == 1 { "" } else { "," };
        let process = json!({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": seen.device}});
        let thread =
            json!({"ph": "M", "pid": pid, "tid": 1, "name": "thread_name", "args": {"name": "stream"}});
        write!(file, "{comma}\n{process},\n{thread}")?;
        let offset = (seen.trace.begin - begin).as_secs_f64();
        for span in &seen.trace.spans {
            write!(file, ",\n{}", event(pid, offset, span))?;
        }
        for &(at, bytes) in &seen.trace.memory {
            let ts = (offset + at) * MICROSECONDS;
            let args = json!({"bytes": bytes});
            let counter = json!({"ph": "C", "pid": pid, "name": "device memory", "ts": ts, "args": args});
            write!(file, ",\n{counter}")?;
        }
    }
    file.write_all(b"\n]}\n")
}

fn event(pid: usize, offset: f64, span: &Span) -> serde_json::Value {
    let (category, name, args) = match span.activity {
        Activity::Kernel { name, grid, block, bytes } => {
            ("kernel", name, json!({"grid": grid, "block": block, "bytes": bytes}))
        }
        Activity::Upload(bytes) => ("copy", "to the device", json!({"bytes": bytes})),
        Activity::Download(bytes) => ("copy", "to the host", json!({"bytes": bytes})),
        Activity::Copy(bytes) => ("copy", "within the device", json!({"bytes": bytes})),
        Activity::Fill(bytes) => ("fill", "set to zero", json!({"bytes": bytes})),
    };
    let (ts, dur) = ((offset + span.start) * MICROSECONDS, span.seconds * MICROSECONDS);
    json!({"ph": "X", "pid": pid, "tid": 1, "cat": category, "name": name, "ts": ts, "dur": dur, "args": args})
}
