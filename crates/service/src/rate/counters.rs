//! The windows of many callers, in shards with a lock each, so that requests rarely wait for each other.
//!
//! There is a most for how many are remembered. Whoever was quiet for a minute is forgotten; when that is not enough, one
//! of the quietest is, so that a crowd of strangers cannot make a busy caller be forgotten.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::window::Window;

const SHARDS: usize = 64;
/// How many are looked at when one must go.
const LOOKED_AT: usize = 8;

/// What the counters say to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether there was room for it.
    pub admitted: bool,
    /// How many fit into a minute.
    pub limit: u32,
    /// How many more would be admitted now.
    pub remaining: u32,
    /// In how many seconds there will be more room: for a request that was refused, when one would be admitted.
    pub reset: u32,
}

/// Counts by `K` over a sliding minute.
pub struct Counters<K> {
    hasher: RandomState,
    shards: Box<[Mutex<Shard<K>>]>,
    /// The last shard stands alone, so that there is one for whatever hash.
    last: Mutex<Shard<K>>,
    most: usize,
}

struct Shard<K> {
    /// What was counted here.
    own: HashMap<K, Window>,
    /// What other nodes counted.
    others: HashMap<K, Window>,
    /// In which second the quiet ones were last looked for.
    swept: u64,
}

/// A caller who is busy, and its window.
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

    /// Counts a request of `key` in `second` if there is room for it within `limit`.
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

    /// Whether a request of `key` in `second` would be admitted; nothing is counted.
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

    /// Counts one of `key` in `second`, whether there is room for it or not.
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

    /// Forgets who was quiet for a minute, and gives those with at least `busy` requests in it.
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

    /// Replaces what is known of other nodes' counts; several of the same key add up.
    pub(super) fn learn(&self, heard: impl Iterator<Item = (K, Window)>) {
        let mut maps: Vec<HashMap<K, Window>> = (0..SHARDS).map(|_| HashMap::new()).collect();
        for (key, window) in heard {
            let Some(map) = maps.get_mut(self.place(&key)) else { continue };
            map.entry(key).and_modify(|known| known.merge(&window)).or_insert(window);
        }
        for (shard, map) in self.all().zip(maps) {
            lock(shard).others = map;
        }
    }

    /// How many are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all().map(|shard| lock(shard).own.len()).sum()
    }

    /// Whether nobody is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[expect(clippy::cast_possible_truncation, reason = "the remainder of any part of a hash is as good as another")]
    fn place(&self, key: &K) -> usize {
        self.hasher.hash_one(key) as usize % SHARDS
    }

    fn lock(&self, key: &K) -> MutexGuard<'_, Shard<K>> {
        lock(self.shards.get(self.place(key)).unwrap_or(&self.last))
    }

    fn all(&self) -> impl Iterator<Item = &Mutex<Shard<K>>> {
        self.shards.iter().chain([&self.last])
    }
}

fn lock<K>(shard: &Mutex<Shard<K>>) -> MutexGuard<'_, Shard<K>> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Copy + Eq + Hash> Shard<K> {
    /// Makes room for one more, and remembers it.
    fn remember(&mut self, key: K, window: Window, most: usize) {
        let second = window.newest();
        if self.own.len() >= most && self.swept < second {
            self.sweep(second);
        }
        if self.own.len() >= most {
            let quietest = self.own.iter().take(LOOKED_AT).min_by_key(|(_, window)| window.total()).map(|(key, _)| *key);
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

/// Counts one in `own` if both windows together have room for it.
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

/// What two windows that end in the same second say to one more request.
fn judge(own: &Window, others: Option<&Window>, limit: u32) -> Verdict {
    let total = own.total().saturating_add(others.map_or(0, Window::total));
    let remaining = limit.saturating_sub(total);
    // Room comes back when the oldest seconds leave. Above the limit (the operator may have lowered it) enough must leave.
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
