//! `backhaul endpoint test`: sends an endpoint a trial message, or queries it.

use std::time::Duration;

use anyhow::bail;
use domain::messages::delivery::Outcome;
use serde::Serialize;
use store::messages::attempts::{self, Attempt};
use store::messages::settlements::UNKNOWN;

use crate::app::App;
use crate::cli::context::{OfEndpoint, actor};
use crate::cli::messages::commands::mask;
use crate::cli::output::{self, Format};
use crate::flow::messages::{configure_endpoint as flow, test_endpoint};
use crate::show::messages::deliveries::known_secrets;

/// The longest wait for the outcome: the call's own timeout, and some time to get there.
const OUTCOME_TIMEOUT: Duration = Duration::from_secs(35);
/// The time between two looks for the outcome.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Serialize)]
struct TrialOut {
    message_id: String,
    outcome: String,
    took_ms: i32,
    reason: Option<String>,
    answer: Option<String>,
}

impl TrialOut {
    fn new(message: uuid::Uuid, attempt: Attempt) -> Self {
        let answer = attempt.answer.map(|answer| String::from_utf8_lossy(&answer).into_owned());
        Self { message_id: message.to_string(), outcome: attempt.outcome, took_ms: attempt.took_ms, reason: attempt.reason, answer }
    }
}

#[derive(Serialize)]
struct QueryOut {
    outcome: String,
    took_ms: u128,
    reason: Option<String>,
    /// The number of variants in the answer; none if it was unusable.
    variants: Option<usize>,
    /// The number of entries that could not be read as a variant.
    skipped: Option<usize>,
    answer: Option<String>,
}

/// Queries the endpoint the way a shopper's request does, and shows the answer.
pub(super) async fn ask(app: &App, tested: &OfEndpoint, identifier: &str, format: Format) -> anyhow::Result<()> {
    let merchant = tested.merchant.find(app).await?;
    let trial = test_endpoint::ask_endpoint(app, &actor(), merchant.id, tested.interface, identifier).await??;
    let outcome = trial.outcome.word();
    let refusal = match &trial.outcome {
        answered if answered.is_success() && trial.listed.is_some() => None,
        Outcome::Answered { status: 200..=299, .. } => {
            Some("the answer is not a list of variants; see docs/exchanges.md for its shape".to_owned())
        }
        Outcome::Answered { status, .. } => Some(answered_with(*status)),
        Outcome::TimedOut => Some(not_reached("it did not answer in time")),
        Outcome::Unreachable(why) | Outcome::Refused(why) => Some(not_reached(why)),
    };
    let reason = match trial.outcome {
        Outcome::Answered { .. } | Outcome::TimedOut => None,
        Outcome::Unreachable(why) | Outcome::Refused(why) => Some(why),
    };
    let secrets = known_secrets(app, merchant.id).await?;
    let answer = (!trial.answer.is_empty()).then(|| secrets.mask(&String::from_utf8_lossy(&trial.answer)));
    let (variants, skipped) = trial.listed.map(|listed| (listed.variants.len(), listed.skipped)).unzip();
    output::one(format, &QueryOut { outcome, took_ms: trial.took.as_millis(), reason, variants, skipped, answer })?;
    refusal.map_or(Ok(()), |refusal| bail!(refusal))
}

/// The words for an answer that is no success.
fn answered_with(status: u16) -> String {
    format!("the endpoint did not accept the trial: it answered {status}, and only 2xx counts; check the URL, and the system behind it")
}

/// The words for a trial that did not arrive.
fn not_reached(why: &str) -> String {
    format!("the trial did not arrive: {why}; check the URL, and that the system behind it is up and lets us in")
}

/// Sends a trial message, and waits for its outcome.
pub(super) async fn send(app: &App, tested: &OfEndpoint, format: Format) -> anyhow::Result<()> {
    let merchant = tested.merchant.find(app).await?;
    let message = flow::test_endpoint(app, &actor(), merchant.id, tested.interface).await?;
    app.forward_signals_now().await;
    let outcome = async {
        loop {
            // The call is recorded before it is made, with an unknown outcome.
            let attempt = attempts::list(app.store(merchant.id), merchant.id, message).await?.pop();
            if let Some(attempt) = attempt.filter(|attempt| attempt.outcome != UNKNOWN) {
                return anyhow::Ok(attempt);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    let Ok(attempt) = tokio::time::timeout(OUTCOME_TIMEOUT, outcome).await else {
        bail!(
            "nothing was sent within {} s; check that a `backhaul serve` that delivers is running (`backhaul deliverers`), \
             and that the endpoint is not paused (`backhaul endpoint list`)",
            OUTCOME_TIMEOUT.as_secs()
        );
    };
    let mut attempt = attempt?;
    mask(app, merchant.id, std::slice::from_mut(&mut attempt)).await?;
    let refusal = match (attempt.status, &attempt.reason) {
        (Some(200..=299), _) => None,
        (Some(status), _) => Some(answered_with(status.unsigned_abs())),
        (None, Some(why)) => Some(not_reached(why)),
        (None, None) => Some(not_reached(&attempt.outcome)),
    };
    output::one(format, &TrialOut::new(message, attempt))?;
    refusal.map_or(Ok(()), |refusal| bail!(refusal))
}
