//! The lease keeper: renews this process's leases, takes free buckets up to its fair share, and gives back the rest.
//!
//! Every renewal compares the clocks. While this node's is off, it takes nothing and gives back all it has: it would deliver too early
//! or too late, and call off what is not due yet.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use store::Failed;
use store::messages::leases;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep};
use uuid::Uuid;

use super::event::Event;
use super::lease::{Leases, RENEW_EVERY, TERM, fair_share};
use crate::delivery::handle::Delivery;
use crate::node::skew::{self, Trust};

/// The pause after a renewal that failed.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// Keeps the leases of the engine `id` for as long as it runs. While it is leaving, it takes no new buckets.
pub(super) async fn run(delivery: Delivery, id: Uuid, held: Arc<Leases>, events: UnboundedSender<Event>, leaving: watch::Receiver<bool>) {
    let mut ticks = interval(RENEW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Unknown until the first renewal.
    let mut trust = None;
    loop {
        ticks.tick().await;
        let is_leaving = *leaving.borrow();
        match renew(&delivery, id, &held, &events, is_leaving, trust).await {
            Ok(now) => {
                // The others count it in as soon as its clock turns out to be right.
                if trust.is_none_or(|before: Trust| before.is_off) && !now.is_off {
                    ticks.reset_immediately();
                }
                trust = Some(now);
            }
            Err(failed) => {
                tracing::warn!(%failed, "renewing the leases failed, will retry");
                sleep(RETRY_AFTER).await;
                ticks.reset_immediately();
            }
        }
    }
}

/// Renews the leases once, for a node whose clock was seen as `before`. Returns how it is seen now.
async fn renew(
    delivery: &Delivery,
    id: Uuid,
    held: &Leases,
    events: &UnboundedSender<Event>,
    is_leaving: bool,
    before: Option<Trust>,
) -> Result<Trust, Failed> {
    let (sent, asked_at) = (held.now(), delivery.clock.wall());
    let takes_part = before.is_some_and(|trust| !trust.is_off);
    let known =
        leases::Known { name: process_name(), version: env!("CARGO_PKG_VERSION"), calls: held.calls.load(Ordering::Relaxed), takes_part };
    let renewed = leases::renew(delivery.cell(), id, TERM.as_secs_f64(), &known).await?;
    let skew = skew::measure(delivery, asked_at, renewed.now, delivery.clock.wall());
    let trust = before.unwrap_or_default().after(skew);
    let skew_ms = skew.map(|skew| skew.num_milliseconds());
    match (before.unwrap_or_default().is_off, trust.is_off) {
        (false, true) => {
            tracing::error!(skew_ms, "the clock of this node is off, it delivers nothing and runs no timers until it is right");
        }
        (true, false) => tracing::info!(skew_ms, "the clock of this node is right again, it takes part in deliveries"),
        (false, false) | (true, true) => {}
    }
    let (mut gained, lost) = held.renew(&renewed.holds, sent);
    if trust.is_off {
        held.start_releasing(usize::MAX);
    } else if !is_leaving {
        let (share, active) = (fair_share(renewed.live), held.active().len());
        held.start_releasing(active.saturating_sub(share));
        let missing = share.saturating_sub(active + held.releasing().len());
        if missing > 0 {
            let sent = held.now();
            let taken = leases::take(delivery.cell(), id, i64::try_from(missing).unwrap_or(i64::MAX), TERM.as_secs_f64()).await?;
            held.add(&taken, sent);
            gained.extend(taken);
        }
    }
    if !(gained.is_empty() && lost.is_empty()) {
        tracing::info!(gained = gained.len(), lost = lost.len(), deliverers = renewed.live, "the buckets of this process changed");
    }
    let _ = events.send(Event::Leased { gained, lost });
    Ok(trust)
}

/// The host name and the process id, for people who list the deliverers.
fn process_name() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| {
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let machine = machine.trim();
        format!("{}:{}", if machine.is_empty() { "unknown" } else { machine }, std::process::id())
    });
    &NAME
}
