//! The windows of many callers, in shards with a lock each, so that requests rarely wait for each other.
//!
//! Memory is bounded. Callers without requests for a minute are dropped; if that is not enough, one of the least busy is, so
//! that a crowd of new callers cannot evict a busy one.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::window::Window;

const SHARDS: usize = 64;
/// Callers that are compared when one must be evicted.
const CANDIDATES: usize = 8;

/// The decision on one request, with the state of its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub admitted: bool,
    /// Requests allowed per minute.
    pub limit: u32,
    /// Requests that would still be admitted now.
    pub remaining: u32,
    /// Seconds until `remaining` grows; after a refusal, until a request would be admitted.
    pub reset: u32,
}

/// Counts of requests by `K` over a sliding minute.
pub struct Counters<K> {
    hasher: RandomState,
    shards: Box<[Mutex<Shard<K>>]>,
    /// The last shard is separate, so that every hash has one without a panic.
    last: Mutex<Shard<K>>,
    most: usize,
}

struct Shard<K> {
    /// Counted on this node.
    own: HashMap<K, Window>,
    /// Counted on other nodes.
    others: HashMap<K, Window>,
    /// The second of the last sweep.
    swept: u64,
}

/// A busy caller and its window.
pub(super) struct Busy<K> {
    pub(super) key: K,
    pub(super) window: Window,
}

impl<K: Copy + Eq + Hash> Counters<K> {
    /// Counters for at most about `most` callers.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let shard = || Mutex::new(Shard { own: HashMap::new(), others: HashMap::new(), swept: 0 });
        Self { hasher: RandomState::new(), shards: (1..SHARDS).map(|_| shard()).collect(), last: shard(), most: most.div_ceil(SHARDS) }
    }

    /// Counts a request of `key` in `second` if it is within `limit`.
    pub fn take(&self, key: K, second: u64, limit: u32) -> Verdict {
        let mut shard = self.lock(&key);
        let Shard { own, others, .. } = &mut *shard;
        if let Some(window) = own.get_mut(&key) {
            return take(window, others.get_mut(&key), second, limit);
        }
        let mut window = Window::new(second);
        let verdict = take(&mut window, others.get_mut(&key), second, limit);
        shard.remember(key, window, self.most);
        verdict
    }

    /// Decides on a request of `key` in `second` without counting it.
    pub fn look(&self, key: K, second: u64, limit: u32) -> Verdict {
        let mut shard = self.lock(&key);
        match shard.own.get_mut(&key) {
            Some(window) => {
                window.slide(second);
                judge(window, None, limit)
            }
            None => Verdict { admitted: limit > 0, limit, remaining: limit, reset: 0 },
        }
    }

    /// Counts a request of `key` in `second`, regardless of any limit.
    pub fn count(&self, key: K, second: u64) {
        let mut shard = self.lock(&key);
        if let Some(window) = shard.own.get_mut(&key) {
            window.slide(second);
            window.count();
        } else {
            let mut window = Window::new(second);
            window.count();
            shard.remember(key, window, self.most);
        }
    }

    /// Drops the callers without requests in the last minute, and returns those with at least `busy`.
    pub(super) fn sweep(&self, second: u64, busy: u32) -> Vec<Busy<K>> {
        let mut found = Vec::new();
        for shard in self.all() {
            let mut shard = lock(shard);
            shard.sweep(second);
            let busy = shard.own.iter().filter(|(_, window)| window.total() >= busy);
            found.extend(busy.map(|(key, window)| Busy { key: *key, window: window.clone() }));
        }
        found
    }

    /// Replaces the counts of other nodes; those of the same key add up.
    pub(super) fn learn(&self, counted: impl Iterator<Item = (K, Window)>) {
        let mut maps: Vec<HashMap<K, Window>> = (0..SHARDS).map(|_| HashMap::new()).collect();
        for (key, window) in counted {
            let Some(map) = maps.get_mut(self.shard_of(&key)) else { continue };
            map.entry(key).and_modify(|known| known.merge(&window)).or_insert(window);
        }
        for (shard, map) in self.all().zip(maps) {
            lock(shard).others = map;
        }
    }

    /// The number of callers with counts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all().map(|shard| lock(shard).own.len()).sum()
    }

    /// True if no caller has counts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[expect(clippy::cast_possible_truncation, reason = "the remainder of any part of a hash is as good as another")]
    fn shard_of(&self, key: &K) -> usize {
        self.hasher.hash_one(key) as usize % SHARDS
    }

    fn lock(&self, key: &K) -> MutexGuard<'_, Shard<K>> {
        lock(self.shards.get(self.shard_of(key)).unwrap_or(&self.last))
    }

    fn all(&self) -> impl Iterator<Item = &Mutex<Shard<K>>> {
        self.shards.iter().chain([&self.last])
    }
}

fn lock<K>(shard: &Mutex<Shard<K>>) -> MutexGuard<'_, Shard<K>> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Copy + Eq + Hash> Shard<K> {
    /// Adds a caller; evicts another if the shard is full.
    fn remember(&mut self, key: K, window: Window, most: usize) {
        let second = window.newest();
        if self.own.len() >= most && self.swept < second {
            self.sweep(second);
        }
        if self.own.len() >= most {
            let quietest = self.own.iter().take(CANDIDATES).min_by_key(|(_, window)| window.total()).map(|(key, _)| *key);
            quietest.and_then(|quietest| self.own.remove(&quietest));
        }
        self.own.insert(key, window);
    }

    fn sweep(&mut self, second: u64) {
        let live = |_: &K, window: &mut Window| {
            window.slide(second);
            window.total() > 0
        };
        self.own.retain(live);
        self.others.retain(live);
        self.swept = second;
    }
}

/// Counts a request in `own` if both windows together are below the limit.
fn take(own: &mut Window, mut others: Option<&mut Window>, second: u64, limit: u32) -> Verdict {
    own.slide(second);
    if let Some(others) = &mut others {
        others.slide(own.newest());
    }
    let others = others.as_deref();
    if own.total().saturating_add(others.map_or(0, Window::total)) < limit {
        own.count();
        Verdict { admitted: true, ..judge(own, others, limit) }
    } else {
        judge(own, others, limit)
    }
}

/// Decides on one more request from two windows that end with the same second.
fn judge(own: &Window, others: Option<&Window>, limit: u32) -> Verdict {
    let total = own.total().saturating_add(others.map_or(0, Window::total));
    let remaining = limit.saturating_sub(total);
    // Requests become possible again as the oldest seconds expire. Above the limit, which the operator may have lowered,
    // enough of them must expire.
    let wanted = if remaining > 0 { total } else { limit };
    let mut left = total;
    let others = others.into_iter().flat_map(Window::oldest_first).chain(std::iter::repeat(0));
    let reset = (1..).zip(own.oldest_first().zip(others)).find_map(|(after, (own, others))| {
        left = left.saturating_sub(own).saturating_sub(others);
        (left < wanted).then_some(after)
    });
    Verdict { admitted: remaining > 0, limit, remaining, reset: reset.unwrap_or_default() }
}

#[cfg(test)]
mod model;
