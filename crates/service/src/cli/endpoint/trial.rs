//! Trials: an endpoint is sent a message, or asked.

use std::time::Duration;

use anyhow::bail;
use domain::delivery::Outcome;
use serde::Serialize;
use store::attempts::{self, Attempt};

use super::super::output::{self, Format};
use super::super::{actor, merchant};
use super::Named;
use crate::app::App;
use crate::flow::configure_endpoint as flow;
use crate::outbound::variants;

/// How long a trial is waited for: the call's own deadline, and some time to get there.
const PATIENCE: Duration = Duration::from_secs(35);
/// How often its outcome is asked for.
const ASK_EVERY: Duration = Duration::from_millis(100);

#[derive(Serialize)]
struct Tried {
    message_id: String,
    outcome: String,
    took_ms: i32,
    reason: Option<String>,
    answer: Option<String>,
}

impl Tried {
    fn new(message: uuid::Uuid, attempt: Attempt) -> Self {
        let answer = attempt.answer.map(|answer| String::from_utf8_lossy(&answer).into_owned());
        Self { message_id: message.to_string(), outcome: attempt.outcome, took_ms: attempt.took_ms, reason: attempt.reason, answer }
    }
}

#[derive(Serialize)]
struct Asked {
    outcome: String,
    took_ms: u128,
    reason: Option<String>,
    /// How many variants were read.
    variants: Option<usize>,
    answer: Option<String>,
}

/// Asks as a shopper would, and shows what came of it.
pub(super) async fn ask(app: &App, named: &Named, identifier: &str, format: Format) -> anyhow::Result<()> {
    let whose = merchant(app, &named.merchant).await?;
    let endpoint = flow::endpoint_to_ask(app, &actor(), whose.id, named.interface).await?;
    let trial = variants::trial(app, whose.id, &endpoint, identifier).await?;
    let outcome = trial.outcome.word();
    let reason = match trial.outcome {
        Outcome::Answered { .. } | Outcome::TimedOut => None,
        Outcome::Unusable { why, .. } | Outcome::Unreachable(why) | Outcome::Refused(why) => Some(why),
    };
    let answer = (!trial.answer.is_empty()).then(|| String::from_utf8_lossy(&trial.answer).into_owned());
    output::one(format, &Asked { outcome, took_ms: trial.took.as_millis(), reason, variants: trial.variants, answer })
}

/// Sends a trial, and waits for what comes of it.
pub(super) async fn send(app: &App, named: &Named, format: Format) -> anyhow::Result<()> {
    let whose = merchant(app, &named.merchant).await?;
    let message = flow::test_endpoint(app, &actor(), whose.id, named.interface).await?;
    app.forward_signals_now().await;
    let asking = async {
        loop {
            if let Some(attempt) = attempts::list(app.store(whose.id), whose.id, message).await?.pop() {
                return anyhow::Ok(attempt);
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
    };
    let Ok(attempt) = tokio::time::timeout(PATIENCE, asking).await else {
        bail!(
            "nothing was sent within {} s: is a `backhaul serve` running that delivers, and is the endpoint not paused?",
            PATIENCE.as_secs()
        );
    };
    output::one(format, &Tried::new(message, attempt?))
}
