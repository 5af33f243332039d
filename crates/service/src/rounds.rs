//! What a node does every second beside answering: it hears of limits that the operator has lowered, and shares its
//! counts with the other nodes.
//!
//! Nothing waits for a round. When the database cannot be reached, a node goes on with the limits that it last heard of
//! and with its own counts.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::app::App;
use crate::{limits, rate};

/// How often there is a round.
const EVERY: Duration = Duration::from_secs(1);
/// In which rounds the limits are asked for: with this and the time that a round may take, a lowered limit is in force
/// within 5 seconds.
const LIMITS_EVERY: u64 = 2;
/// How long a round may take.
const DEADLINE: Duration = Duration::from_secs(2);

/// One round, the `number`th.
pub async fn round(app: &App, number: u64) -> Result<(), store::Failed> {
    if number.is_multiple_of(LIMITS_EVERY) {
        limits::renew(app).await?;
    }
    rate::sharing::round(app).await
}

/// Rounds without end. A round that panics is logged and followed by the next.
pub async fn run(app: App) {
    loop {
        let rounds = Rounds(tokio::spawn(go_round(app.clone())));
        if let Err(error) = rounds.ended().await {
            tracing::error!(%error, "a round broke off");
        }
        sleep(EVERY).await;
    }
}

/// The task of the rounds, which ends with whoever watches over it.
struct Rounds(tokio::task::JoinHandle<()>);

impl Rounds {
    async fn ended(mut self) -> Result<(), tokio::task::JoinError> {
        (&mut self.0).await
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn go_round(app: App) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Trouble is told once when it begins and once when it is over, not every second.
    let mut trouble = false;
    for number in 0_u64.. {
        ticks.tick().await;
        let failed = match timeout(DEADLINE, round(&app, number)).await {
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
