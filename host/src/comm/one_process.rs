//! What ranks that are threads of one process can do beside sending messages.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

/// What is done when a rank fails.
pub type Alarm = dyn Fn() + Send + Sync;

/// What a rank shares.
pub type Item = Arc<dyn Any + Send + Sync>;

/// Ranks that see each other's memory.
pub trait OneProcess: Send + Sync {
    /// What every rank gives, at every rank, in their order. All ranks call this.
    ///
    /// # Errors
    /// [`Error::Rank`] where one has failed.
    fn share_items(&self, mine: Item) -> Result<Vec<Item>>;
    /// Calls `alarm` when a rank fails, as long as somebody has it; now, where one has failed.
    fn on_failure(&self, alarm: &Arc<Alarm>);
    /// Whether a rank has failed.
    fn has_failed(&self) -> bool;
}

impl dyn OneProcess + '_ {
    /// [`OneProcess::share_items`] of things of one type.
    pub(crate) fn share<U: Any + Send + Sync>(&self, mine: Arc<U>) -> Result<Vec<Arc<U>>> {
        let items = self.share_items(mine)?.into_iter().map(|item| item.downcast().ok());
        let different = || Error::Option("ranks share different things: a mistake of this library".into());
        items.collect::<Option<_>>().ok_or_else(different)
    }

    /// Hands the k-th of these over to rank k, as it is, and takes what every rank has for this one, `rank`:
    /// nothing of a rank that gives fewer. All ranks call this.
    pub(crate) fn hand_over<U: Default + Send + 'static>(&self, rank: usize, mine: Vec<U>) -> Result<Vec<U>> {
        let mine: Vec<Mutex<U>> = mine.into_iter().map(Mutex::new).collect();
        let take =
            |place: &Mutex<U>| std::mem::take(&mut *place.lock().unwrap_or_else(PoisonError::into_inner));
        let all = self.share(Arc::new(mine))?;
        Ok(all.iter().map(|of_rank| of_rank.get(rank).map(take).unwrap_or_default()).collect())
    }
}
