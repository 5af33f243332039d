//! The node's heartbeat: every second it learns of limits that the operator lowered, of moves of a sandbox's clock and of merchants that
//! live in another cell now, and shares its request counts with the other nodes. It logs how many lines about refused requests were left out. Once a minute it writes down which credentials were used.
//!
//! Nothing waits for a heartbeat. While the database is unreachable, a node uses the last known limits and clock, and its own
//! counts.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::app::App;
use crate::node::{Node, certificate, following, health, rate};
use crate::platform::task::Task;

/// The interval between heartbeats.
const EVERY: Duration = Duration::from_secs(1);
/// Limits are read in every second heartbeat. Including the deadline, a lowered limit takes effect within 5 seconds.
const LIMITS_EVERY: u64 = 2;
/// The uses of credentials are written down in every sixtieth heartbeat, so once a minute.
const USES_EVERY: u64 = 60;
/// The timeout of a heartbeat.
const DEADLINE: Duration = Duration::from_secs(2);

/// Runs one heartbeat, the `number`th, of a process whose first cell is that of `app`.
pub async fn beat(app: &App, number: u64) -> Result<(), store::Failed> {
    app.log_lines.tell(app.clock.uptime());
    if app.has_several_cells() {
        app.directory.renew(app.home()).await?;
    }
    if number.is_multiple_of(LIMITS_EVERY) {
        app.limits.renew(app.home()).await?;
        // Keys that are rotated are used on every node within a few seconds. Wrong ones are reported by the health checks.
        app.confirm_keys().await?;
    }
    if number.is_multiple_of(USES_EVERY) {
        for app in app.of_each_cell() {
            app.grants.note_uses(&app).await?;
        }
    }
    rate::sharing::share(app, &app.rates, &app.limits).await
}

/// Runs heartbeats and health checks forever, and follows cells that move.
pub async fn run(app: App) {
    let node = Node::clone(&app);
    tokio::join!(beats(app), health::watch(node.clone()), following::watch(node.clone()), certificate::watch(node));
}

/// Runs heartbeats forever. A panic is logged, and they start again.
async fn beats(app: App) {
    loop {
        if let Err(error) = Task::spawn(beat_forever(app.clone())).ended().await {
            tracing::error!(%error, "the heartbeat panicked, restarting it");
        }
        sleep(EVERY).await;
    }
}

async fn beat_forever(app: App) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Log a failure when it begins and when it ends, not every second.
    let mut failing = false;
    for number in 0_u64.. {
        ticks.tick().await;
        let failed = match timeout(DEADLINE, beat(&app, number)).await {
            Ok(Ok(())) => None,
            Ok(Err(failed)) => Some(failed.to_string()),
            Err(_) => Some("the heartbeat timed out".to_owned()),
        };
        match &failed {
            Some(why) if !failing => tracing::warn!(why, "sharing request counts failed, using this node's own counts"),
            None if failing => tracing::info!("sharing request counts works again"),
            Some(_) | None => {}
        }
        failing = failed.is_some();
    }
}
