//! The context that something was made in.

use super::current;
use super::primary::Context;
use crate::error::ToResult;
use crate::sys;

/// Keeps the context of what was made in it alive. None where other code made the context and sees to that.
#[derive(Debug, Clone)]
pub(crate) struct Owner(Option<Context>);

impl Owner {
    /// The context that is current on this thread.
    pub(crate) fn current() -> Owner {
        Owner(current::handle().and_then(Context::of))
    }

    /// Whether it is that context.
    pub(crate) fn is(&self, context: &Context) -> bool {
        self.0.as_ref().is_some_and(|own| own.as_raw() == context.as_raw())
    }

    /// Does `work` with the context current, on a thread where it may not be.
    pub(crate) fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        let context = self.0.as_ref().filter(|context| current::handle() != Some(context.as_raw()));
        // SAFETY: the context is alive.
        let pushed = context
            .is_some_and(|context| unsafe { sys::cuCtxPushCurrent_v2(context.as_raw()) }.to_result().is_ok());
        let result = work();
        if pushed {
            let mut context = std::ptr::null_mut();
            // SAFETY: it was pushed above, and `context` is writable.
            unsafe { sys::cuCtxPopCurrent_v2(&mut context) };
        }
        result
    }
}
