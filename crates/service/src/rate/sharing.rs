//! What nodes tell each other, so that they hold the limit together.
//!
//! Once a second a node says that it lives. If others do, it publishes the windows of its busy addresses and reads theirs.
//! A window carries its seconds, so that it stays true while it ages: a node that cannot reach the database for a while,
//! or that died, is still counted for the rest of the minute, and no longer.

use chrono::TimeDelta;
use store::rates;

use super::window::Window;
use crate::app::App;

/// An address is told of from this part of the limit on: a twentieth.
const BUSY_PART: u32 = 20;
/// The most addresses that are told of, the busiest first.
const MOST_TOLD: usize = 1_000;
/// How long a node counts as live after it last said so.
const LIVE_FOR: TimeDelta = TimeDelta::seconds(10);
/// How long what a node counted may matter: as long as a window is.
const MATTERS_FOR: TimeDelta = TimeDelta::seconds(60);
/// In which of its seconds a node sweeps what has long expired: in every 60th.
const SWEEPS_EVERY: u64 = 60;

/// One round: forget the quiet, tell the others, hear the others.
pub async fn round(app: &App) -> Result<(), store::Failed> {
    let (now, second) = (app.now(), app.clock.uptime().as_secs());
    let busy = (app.limits.requests_per_minute() / BUSY_PART).max(1);
    let mut busy = app.rates.requests.sweep(second, busy);
    let others = rates::pulse(&app.store, app.node, now, now + LIVE_FOR).await?;
    if others == 0 {
        return Ok(());
    }
    if !busy.is_empty() {
        if busy.len() > MOST_TOLD {
            busy.select_nth_unstable_by_key(MOST_TOLD, |busy| std::cmp::Reverse(busy.window.total()));
            busy.truncate(MOST_TOLD);
        }
        let (addresses, counts): (Vec<_>, Vec<_>) = busy.iter().map(|busy| (busy.key.to_string(), busy.window.to_bytes())).unzip();
        rates::save(&app.store, app.node, &addresses, &counts, now, now + MATTERS_FOR).await?;
    }
    let heard = rates::list(&app.store, app.node, now).await?;
    app.rates.requests.learn(heard.iter().filter_map(|counted| {
        let age = usize::try_from((now - counted.counted_at).num_seconds()).unwrap_or_default();
        Some((counted.address.parse().ok()?, Window::from_bytes(&counted.counts, age, second)))
    }));
    if second.is_multiple_of(SWEEPS_EVERY) {
        rates::sweep(&app.store, now - MATTERS_FOR).await?;
    }
    Ok(())
}
