//! What a node does every second beside answering: it hears of limits that the operator has lowered and of a sandbox's
//! clock that was moved, and shares its counts with the other nodes.
//!
//! Nothing waits for a beat. When the database cannot be reached, a node goes on with the limits and the clock that it last
//! heard of and with its own counts.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::app::App;
use crate::node::{Node, health, rate};
use crate::platform::task::Task;

/// How often there is a beat.
const EVERY: Duration = Duration::from_secs(1);
/// In every how many beats the limits are asked for: with the time that a beat may take, a lowered limit is in force
/// within 5 seconds.
const LIMITS_EVERY: u64 = 2;
/// How long a beat may take.
const DEADLINE: Duration = Duration::from_secs(2);

/// One beat, the `number`th.
pub async fn beat(app: &App, number: u64) -> Result<(), store::Failed> {
    if number.is_multiple_of(LIMITS_EVERY) {
        app.limits.renew(app.cell()).await?;
    }
    rate::sharing::share(app, &app.rates, &app.limits).await
}

/// Beats without end, and looks beside whether everything is in order.
pub async fn run(app: App) {
    let node = Node::clone(&app);
    tokio::join!(beats(app), health::watch(node));
}

/// Beats without end. When one panics, that is logged, and the next follows.
async fn beats(app: App) {
    loop {
        if let Err(error) = Task::spawn(go_on(app.clone())).ended().await {
            tracing::error!(%error, "a beat broke off");
        }
        sleep(EVERY).await;
    }
}

async fn go_on(app: App) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Trouble is told once when it begins and once when it is over, not every second.
    let mut trouble = false;
    for number in 0_u64.. {
        ticks.tick().await;
        let failed = match timeout(DEADLINE, beat(&app, number)).await {
            Ok(Ok(())) => None,
            Ok(Err(failed)) => Some(failed.to_string()),
            Err(_) => Some("it took too long".to_owned()),
        };
        match &failed {
            Some(why) if !trouble => tracing::warn!(why, "limits are not shared; this node goes on with its own counts"),
            None if trouble => tracing::info!("limits are shared again"),
            Some(_) | None => {}
        }
        trouble = failed.is_some();
    }
}
