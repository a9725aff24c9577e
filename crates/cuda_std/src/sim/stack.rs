//! A word where the stack of a thread is too small: what lies beyond it cannot be accessed, and the process
//! ends by a signal.

use super::block;
use std::io::Write;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// What was done at these signals before, in the order of [`SIGNALS`].
static BEFORE: OnceLock<[libc::sigaction; 2]> = OnceLock::new();
/// Of an access to what is not there.
const SIGNALS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Listens to these signals from now on.
pub(super) fn watch() {
    BEFORE.get_or_init(|| {
        SIGNALS.map(|signal| {
            let mut before = MaybeUninit::zeroed();
            // SAFETY: all zeros are an action; the handler does what handlers may, on the stack that Rust has
            // for them.
            unsafe {
                let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
                action.sa_sigaction = on_signal as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, &action, before.as_mut_ptr());
                before.assume_init()
            }
        })
    });
}

/// Says whose stack it was, and leaves the rest to what was done before: the access is made again.
extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: of these signals, the information has an address.
    let address = unsafe { (*info).si_addr() } as u64;
    if let Some(grid) = block::current().filter(|grid| grid.is_beyond_stack(address)) {
        let mut text = [0_u8; 512];
        let mut rest = &mut text[..];
        // What does not fit is cut off.
        let _ = writeln!(
            rest,
            "kernel {}, block {}, thread {}: the stack of {} bytes is too small; Options::stack_bytes makes it larger",
            grid.name(),
            grid.block(),
            grid.thread(),
            grid.stack_bytes()
        );
        let left = rest.len();
        // SAFETY: the bytes are there.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len() - left) };
    }
    let before = BEFORE.get().zip(SIGNALS.iter().position(|&known| known == signal));
    if let Some((actions, number)) = before {
        // SAFETY: it is what was there.
        unsafe { libc::sigaction(signal, &actions[number], std::ptr::null_mut()) };
    }
}
