//! A word where the stack of a thread is too small: what lies beyond it cannot be accessed, and the process
//! ends by a signal.

use std::io::Write;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// Of an access to what is not there.
const SIGNALS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Writes a line if an address is beyond a thread's stack.
type Name = fn(address: u64, line: &mut dyn Write);

/// What was done at these signals before, in their order, and who names the thread now.
static WATCH: OnceLock<([libc::sigaction; 2], Name)> = OnceLock::new();

/// Listens to these signals from now on.
pub(super) fn watch(name: Name) {
    WATCH.get_or_init(|| (SIGNALS.map(listen), name));
}

/// Lets `on_signal` be called; returns what was done before.
fn listen(signal: i32) -> libc::sigaction {
    let mut before = MaybeUninit::zeroed();
    // SAFETY: all zeros are an action; the handler does what handlers may, on the stack that Rust has for
    // them.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(signal, &action, before.as_mut_ptr());
        before.assume_init()
    }
}

/// Says whose stack it was, and leaves the rest to what was done before: the access is made again.
extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let Some((before, name)) = WATCH.get() else { return };
    let mut text = [0_u8; 512];
    let mut rest = &mut text[..];
    // SAFETY: of these signals, the information has an address.
    name(unsafe { (*info).si_addr() } as u64, &mut rest);
    let left = rest.len();
    // SAFETY: the bytes are there.
    unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len() - left) };
    for (_, action) in SIGNALS.iter().zip(before).filter(|(known, _)| **known == signal) {
        // SAFETY: it is what was there.
        unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
    }
}
