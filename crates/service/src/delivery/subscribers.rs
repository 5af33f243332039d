//! Subscribers: connections that read the feed live. A commit for their merchant wakes them, and their number is limited.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::id::MerchantId;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::Notify;

use crate::platform::config::Events;

/// The subscribers of this node, by merchant.
#[derive(Default)]
pub struct Subscribers(Mutex<Groups>);

#[derive(Default)]
struct Groups {
    all: u32,
    of: HashMap<MerchantId, Group>,
}

#[derive(Default)]
struct Group {
    count: u32,
    news: Arc<Notify>,
}

/// The limit that has been reached, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    Node(u32),
    Merchant(u32),
}

/// One subscriber, counted until this is dropped.
pub struct Subscriber {
    all: Arc<Subscribers>,
    merchant: MerchantId,
    count: Gauge,
    /// Notified when a transaction on this node has owed the merchant a message.
    pub news: Arc<Notify>,
}

impl Subscribers {
    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the merchant's subscribers on this node. They find the commits of other nodes by polling.
    pub(super) fn notify(&self, merchant: MerchantId) {
        if let Some(group) = self.groups().of.get(&merchant) {
            group.news.notify_waiters();
        }
    }

    /// Admits one more subscriber of `merchant`, within the limits. The gauge `count` follows their number.
    pub fn admit(self: &Arc<Self>, merchant: MerchantId, limits: &Events, count: &Gauge) -> Result<Subscriber, Full> {
        let mut groups = self.groups();
        if groups.all >= limits.followers {
            return Err(Full::Node(limits.followers));
        }
        let group = groups.of.entry(merchant).or_default();
        if group.count >= limits.followers_per_merchant {
            return Err(Full::Merchant(limits.followers_per_merchant));
        }
        group.count += 1;
        let news = Arc::clone(&group.news);
        groups.all += 1;
        count.inc();
        Ok(Subscriber { all: Arc::clone(self), merchant, count: count.clone(), news })
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        let mut groups = self.all.groups();
        groups.all = groups.all.saturating_sub(1);
        if let Some(group) = groups.of.get_mut(&self.merchant) {
            group.count = group.count.saturating_sub(1);
            if group.count == 0 {
                groups.of.remove(&self.merchant);
            }
        }
        self.count.dec();
    }
}
