//! Ctrl-C, which ends work so that nothing of it is lost.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use warpsolve::{Error, Result};

use super::status::INTERRUPTED;

/// Lets SIGINT and SIGTERM raise `flag` from now on; the second signal ends the program at once.
pub fn raise(raised: &Arc<AtomicBool>) -> Result<()> {
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, INTERRUPTED.into(), raised.clone())
            .and_then(|_| flag::register(signal, raised.clone()))
            .map_err(|error| Error::io("wait for signals at", "<the operating system>", error))?;
    }
    Ok(())
}
