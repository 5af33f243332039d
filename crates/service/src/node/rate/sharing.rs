//! Shares counts between the nodes, so that they enforce the limit together.
//!
//! Once a second a node records that it is alive. If others are too, it publishes the windows of its busy addresses and reads
//! theirs. A window has a count for each second, so it stays correct while it ages: the counts of a node that died or cannot
//! reach the database still apply for the rest of the minute, and no longer.

use std::cmp::Reverse;

use chrono::{DateTime, TimeDelta, Utc};
use store::node::rates as stored;

use super::address::Address;
use super::counters::Busy;
use super::window::Window;
use crate::node::Node;
use crate::node::limits::Limits;
use crate::node::rate::Rates;

/// An address is busy from this fraction of the limit on: a twentieth.
const BUSY_PART: u32 = 20;
/// The most addresses that are published, the busiest first.
const MOST_TOLD: usize = 1_000;
/// The time for which a node counts as alive after its last sign.
const LIVE_FOR: TimeDelta = TimeDelta::seconds(10);
/// The time for which published counts apply: the length of a window.
const MATTERS_FOR: TimeDelta = TimeDelta::seconds(60);
/// The interval, in seconds, at which a node deletes expired counts.
const SWEEPS_EVERY: u64 = 60;

/// Drops quiet addresses, publishes the busy ones, and reads those of the other nodes. All of it goes by real time: moving a
/// sandbox's clock gives no address a new minute.
pub async fn share(node: &Node, rates: &Rates, limits: &Limits) -> Result<(), store::Failed> {
    let (now, second) = (node.clock.wall(), node.clock.uptime().as_secs());
    let proxy = rates.proxies.found().map(|proxy| proxy.to_string());
    let heard = stored::pulse(node.home(), node.id, now, now + LIVE_FOR, proxy.as_deref()).await;
    if let Ok(heard) = &heard {
        node.clock.move_ahead(heard.clock_ahead);
    }
    let others = heard.map(|heard| heard.others);
    // Without other nodes there is nothing to publish.
    let busy = if matches!(others, Ok(1..)) { (limits.requests_per_minute() / BUSY_PART).max(1) } else { u32::MAX };
    let busy = rates.requests.sweep(second, busy);
    if others? > 0 {
        tell(node, busy, now).await?;
        hear(node, rates, now, second).await?;
    }
    if second.is_multiple_of(SWEEPS_EVERY) {
        stored::sweep(node.home(), now - MATTERS_FOR).await?;
    }
    Ok(())
}

/// Publishes the windows of busy addresses.
async fn tell(node: &Node, mut busy: Vec<Busy<Address>>, now: DateTime<Utc>) -> Result<(), store::Failed> {
    if busy.is_empty() {
        return Ok(());
    }
    if busy.len() > MOST_TOLD {
        busy.select_nth_unstable_by_key(MOST_TOLD, |busy| Reverse(busy.window.total()));
        busy.truncate(MOST_TOLD);
    }
    let (addresses, counts): (Vec<_>, Vec<_>) = busy.iter().map(|busy| (busy.key.to_string(), busy.window.to_bytes())).unzip();
    stored::save(node.home(), node.id, &addresses, &counts, now, now + MATTERS_FOR).await
}

/// Reads the windows of the other nodes, aged by the time since they were published.
async fn hear(node: &Node, rates: &Rates, now: DateTime<Utc>, second: u64) -> Result<(), store::Failed> {
    let heard = stored::list(node.home(), node.id, now).await?;
    rates.requests.learn(heard.iter().filter_map(|counted| {
        let age = usize::try_from((now - counted.counted_at).num_seconds()).unwrap_or_default();
        Some((counted.address.parse().ok()?, Window::from_bytes(&counted.counts, age, second)))
    }));
    Ok(())
}
