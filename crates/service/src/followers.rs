//! Who follows the feed live: so many and no more, and woken when something is said to their merchant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::id::MerchantId;
use tokio::sync::Notify;

use crate::app::App;

/// The followers of this node, by merchant.
#[derive(Default)]
pub struct Followers(Mutex<Groups>);

#[derive(Default)]
struct Groups {
    all: u32,
    of: HashMap<MerchantId, Group>,
}

#[derive(Default)]
struct Group {
    count: u32,
    said: Arc<Notify>,
}

/// Why nobody more may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The node has as many as it may.
    Node(u32),
    /// The merchant has.
    Merchant(u32),
}

impl Followers {
    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes those who follow `merchant`. What another node says, they find by themselves.
    pub fn tell(&self, merchant: MerchantId) {
        if let Some(group) = self.groups().of.get(&merchant) {
            group.said.notify_waiters();
        }
    }
}

/// One who follows, counted until this is dropped.
pub struct Follower {
    app: App,
    merchant: MerchantId,
    /// Somebody on this node said something to the merchant.
    pub said: Arc<Notify>,
}

impl Follower {
    /// Lets one more follow `merchant`.
    pub fn admit(app: &App, merchant: MerchantId) -> Result<Self, Full> {
        let limits = &app.settings.events;
        let mut groups = app.signals.followers.groups();
        if groups.all >= limits.followers {
            return Err(Full::Node(limits.followers));
        }
        let group = groups.of.entry(merchant).or_default();
        if group.count >= limits.followers_per_merchant {
            return Err(Full::Merchant(limits.followers_per_merchant));
        }
        group.count += 1;
        let said = Arc::clone(&group.said);
        groups.all += 1;
        app.metrics.followers.inc();
        Ok(Self { app: app.clone(), merchant, said })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut groups = self.app.signals.followers.groups();
        groups.all = groups.all.saturating_sub(1);
        if let Some(group) = groups.of.get_mut(&self.merchant) {
            group.count = group.count.saturating_sub(1);
            if group.count == 0 {
                groups.of.remove(&self.merchant);
            }
        }
        self.app.metrics.followers.dec();
    }
}
