//! What a deliverer does beside delivering: it keeps its leases, looks for work that no signal told of, hears the other
//! processes, and makes the partitions of the days to come.
//!
//! Each chore is a loop of its own that no failure ends; what it finds goes to the engine as an event.

use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use chrono::TimeDelta;
use store::crash::{self, Point};
use store::messages::settlements::Hold;
use store::messages::{deliveries, leases, notices, partitions};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};
use uuid::Uuid;

use super::event::Event;
use super::incidents::Candidate;
use super::lease::{Leases, RENEW_EVERY, TERM, fair_share};
use super::look::Look;
use crate::delivery::handle::Delivery;
use crate::delivery::signal;
use crate::delivery::timer::Timer;

/// How often the table is looked at for work that no signal told of.
const BACKSTOP_EVERY: Duration = Duration::from_secs(3);
/// How many deliveries that need us without being due are looked for at a time.
const MOST_ODD: i64 = 500;
/// How long a chore that failed waits.
const AFTER_FAILURE: Duration = Duration::from_millis(500);
/// How often partitions are looked after.
const PARTITIONS_EVERY: Duration = Duration::from_hours(1);
/// How long messages and attempts are kept.
const KEPT_FOR: TimeDelta = TimeDelta::days(30);

/// Renews the leases, takes what is free up to the fair share, and gives back what is beyond it.
pub(super) async fn keep_leases(
    delivery: Delivery,
    id: Uuid,
    held: Arc<Leases>,
    events: UnboundedSender<Event>,
    leaving: watch::Receiver<bool>,
) {
    let mut ticks = interval(RENEW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let leaves = *leaving.borrow();
        if let Err(failed) = renew(&delivery, id, &held, &events, leaves).await {
            tracing::warn!(%failed, "the leases were not renewed");
            sleep(AFTER_FAILURE).await;
            ticks.reset_immediately();
        }
    }
}

async fn renew(delivery: &Delivery, id: Uuid, held: &Leases, events: &UnboundedSender<Event>, leaving: bool) -> Result<(), store::Failed> {
    let sent = held.now();
    let known = leases::Known { name: process_name(), calls: held.calls.load(Ordering::Relaxed) };
    let renewed = leases::renew(delivery.cell(), id, TERM.as_secs_f64(), &known).await?;
    let (mut gained, lost) = held.renewed(&renewed.holds, sent);
    if !leaving {
        let (share, working) = (fair_share(renewed.live), held.working().len());
        held.hand_over(working.saturating_sub(share));
        let room = share.saturating_sub(working + held.leaving().len());
        if room > 0 {
            let sent = held.now();
            let taken = leases::take(delivery.cell(), id, i64::try_from(room).unwrap_or(i64::MAX), TERM.as_secs_f64()).await?;
            held.taken(&taken, sent);
            gained.extend(taken);
        }
    }
    if !(gained.is_empty() && lost.is_empty()) {
        tracing::info!(gained = gained.len(), lost = lost.len(), deliverers = renewed.live, "buckets changed hands");
    }
    let _ = events.send(Event::Leased { gained, lost });
    Ok(())
}

/// How people know this process: its machine, and its number there.
fn process_name() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| {
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let machine = machine.trim();
        format!("{}:{}", if machine.is_empty() { "unknown" } else { machine }, std::process::id())
    });
    &NAME
}

/// Looks for work that no signal told of: every few seconds, and whenever it is asked to.
pub(super) async fn backstop(delivery: Delivery, held: Arc<Leases>, events: UnboundedSender<Event>, requests: Arc<Look>) {
    let mut ticks = interval(BACKSTOP_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut turn = 0_usize;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = requests.asked() => {}
        }
        let answers = requests.answers();
        while let Err(failed) = look(&delivery, &held, &events, turn, answers).await {
            tracing::warn!(%failed, "work could not be looked for");
            sleep(AFTER_FAILURE).await;
        }
        turn = turn.wrapping_add(1);
    }
}

async fn look(delivery: &Delivery, held: &Leases, events: &UnboundedSender<Event>, turn: usize, answers: u64) -> Result<(), store::Failed> {
    let buckets = held.working();
    if buckets.is_empty() {
        return Ok(());
    }
    let mut odd = deliveries::odd(delivery.cell(), &buckets, MOST_ODD).await?;
    if let Some(bucket) = buckets.get(turn % buckets.len()) {
        let stuck = deliveries::stuck(delivery.cell(), *bucket).await?;
        if !stuck.is_empty() {
            delivery.metrics.lanes_rescued.inc_by(stuck.len() as u64);
            tracing::error!(lanes = stuck.len(), bucket, "lanes stood still without a head");
        }
        odd.extend(stuck);
    }
    let found = deliveries::endpoints_with_work(delivery.cell(), &buckets, delivery.now()).await?;
    let _ = events.send(Event::Looked { found, odd, answers });
    Ok(())
}

/// Finds the endpoints in trouble of buckets that were gained, for whoever has to know of them.
pub(super) async fn review(delivery: Delivery, gained: Vec<Hold>, events: UnboundedSender<Event>) {
    let buckets: Vec<u8> = gained.iter().map(|hold| hold.bucket).collect();
    while !events.is_closed() {
        match notices::troubled(delivery.cell(), &buckets, delivery.now()).await {
            Ok(found) => {
                let hold_of = |bucket| gained.iter().find(|hold| hold.bucket == bucket).copied();
                let found = found.into_iter().filter_map(|troubled| hold_of(troubled.bucket).map(|hold| (troubled, hold)));
                let _ = events.send(Event::Reviewed(found.collect()));
                return;
            }
            Err(failed) => {
                tracing::warn!(%failed, "endpoints in trouble could not be looked for");
                sleep(AFTER_FAILURE).await;
            }
        }
    }
}

/// Tells what is to be told of an endpoint.
pub(super) async fn tell(delivery: Delivery, candidate: Candidate, events: UnboundedSender<Event>) {
    let Candidate { merchant, endpoint, hold, seen } = candidate;
    let told = super::notices::notify(&delivery, merchant, endpoint, hold, &seen).await;
    if let Err(failed) = &told {
        tracing::warn!(%failed, "what is to be told of an endpoint was not; it is tried again");
        sleep(AFTER_FAILURE).await;
    }
    let _ = events.send(Event::Told(endpoint, hold, told));
}

/// Hears what other processes tell.
pub(super) async fn listen(delivery: Delivery, events: UnboundedSender<Event>) {
    loop {
        if let Err(failed) = hear(&delivery, &events).await {
            tracing::debug!(%failed, "other processes are not heard for now");
        }
        sleep(AFTER_FAILURE).await;
    }
}

async fn hear(delivery: &Delivery, events: &UnboundedSender<Event>) -> Result<(), store::Failed> {
    let mut listener = leases::Listener::new(delivery.cell()).await?;
    loop {
        if let Some(signal) = signal::read(&listener.next().await?) {
            crash::point(Point::SignalHeard);
            let _ = events.send(Event::Heard(signal));
        }
    }
}

/// Makes the partitions of the days to come, and drops those that are too old.
pub(super) async fn keep_partitions(delivery: Delivery) {
    loop {
        let pause = match look_after_partitions(&delivery).await {
            Ok(()) => PARTITIONS_EVERY,
            Err(failed) => {
                tracing::warn!(%failed, "the partitions were not looked after");
                AFTER_FAILURE
            }
        };
        sleep(pause).await;
    }
}

async fn look_after_partitions(delivery: &Delivery) -> Result<(), store::Failed> {
    partitions::make_around(delivery.cell(), delivery.now()).await?;
    let kept = partitions::drop_before(delivery.cell(), delivery.now() - KEPT_FOR).await?;
    delivery.metrics.delivery.partitions_kept_late.set(i64::try_from(kept.len()).unwrap_or(i64::MAX));
    if !kept.is_empty() {
        tracing::warn!(?kept, "days are kept beyond their time, because messages of them are still owed");
    }
    Ok(())
}

/// The pause between two runs of the timer.
const TIMER_EVERY: Duration = Duration::from_secs(10);
/// The pause while there is more to do.
const TIMER_GOES_ON: Duration = Duration::from_millis(500);

/// Runs `timer` for as long as this process holds the first bucket.
pub(super) async fn run_timer(delivery: Delivery, held: Arc<Leases>, timer: Arc<dyn Timer>) {
    loop {
        if !held.working().contains(&0) {
            // The bucket may come with any renewal.
            sleep(RENEW_EVERY).await;
            continue;
        }
        let moved = delivery.clock.moved();
        let pause = if timer.run().await { TIMER_GOES_ON } else { TIMER_EVERY };
        // A clock that is moved may make much due at once.
        let _ = timeout(pause, moved).await;
    }
}
