//! One attempt: a message is prepared and sent (`transport.rs`), and judged. What came of it is data for the settling.

use domain::messages::delivery::{Outcome, Schedule, Verdict, is_success, judge};
use domain::messages::message::Kind;
use store::crash::{self, Point};
use store::messages::settlements::{self, Attempt, Disposition, Settlement};

use super::lease::Leases;
use super::result::{AttemptResult, Reacts};
use crate::delivery::client::{CallResult, MOST_KEPT, MOST_READ};
use crate::delivery::due_message::DueMessage;
use crate::delivery::handle::Delivery;
use crate::delivery::reaction::{Call, Ending, How, Reaction};
use crate::delivery::secrets::authentication::Token;
use crate::delivery::transports::dispatch::{prepare, send};
use crate::delivery::transports::peer::{Peer, Unfit};

/// Makes one attempt. Nothing comes of it when the bucket is not ours any more: a process that was stopped for a while must
/// not call for whoever has it now. If its kind has a `reaction`, each call is written down before it is made.
pub(super) async fn attempt(
    delivery: &Delivery,
    leases: &Leases,
    peer: &Peer,
    message: &DueMessage,
    reaction: Option<&dyn Reaction>,
) -> Option<AttemptResult> {
    let mut attempts = Vec::with_capacity(1);
    let (mut result, token) = call(delivery, leases, peer, message, reaction, &mut attempts).await?;
    // A token that was refused is replaced once, and the call made again without being counted.
    if let (Outcome::Answered { status: 401, .. }, Some(token)) = (&result.outcome, token) {
        delivery.tokens.reject(&token).await;
        (result, _) = call(delivery, leases, peer, message, reaction, &mut attempts).await?;
    }
    let ended = end(delivery, message, &peer.schedule, result, attempts, reaction);
    crash::point(Point::Judged);
    Some(ended)
}

/// What becomes of a message whose endpoint cannot be called: an attempt that was refused before it began.
pub(super) fn refuse(delivery: &Delivery, message: &DueMessage, unfit: &Unfit, reaction: Option<&dyn Reaction>) -> AttemptResult {
    let result = CallResult::refused(Outcome::Refused(unfit.to_string()));
    let mut attempt = message.attempted(delivery);
    complete(&mut attempt, &result);
    end(delivery, message, &unfit.schedule, result, vec![attempt], reaction)
}

/// What becomes of a message after an attempt. A trial is over after one, whatever came of it.
fn end(
    delivery: &Delivery,
    message: &DueMessage,
    schedule: &Schedule,
    result: CallResult,
    attempts: Vec<Attempt>,
    reaction: Option<&dyn Reaction>,
) -> AttemptResult {
    let CallResult { outcome, answer, .. } = result;
    let (now, counted) = (delivery.now(), message.attempts.saturating_add(1));
    let trial = message.kind == Kind::EndpointTest;
    let (fate, due_again, how) = match judge(&outcome, counted.unsigned_abs(), schedule, delivery.entropy.part(), now) {
        Verdict::Delivered => {
            let status = if let Outcome::Answered { status, .. } = outcome { status } else { 0 };
            (Disposition::Gone, None, Some(How::Delivered(status, answer)))
        }
        Verdict::Retry { .. } | Verdict::Failed if trial => (Disposition::Gone, None, None),
        Verdict::Retry { at } => {
            let minded = match outcome {
                Outcome::Answered { status, .. } if reaction.is_some_and(|reaction| reaction.minds(status)) => Some(How::Refused(status)),
                Outcome::Answered { .. } | Outcome::Unusable { .. } | Outcome::TimedOut | Outcome::Unreachable(_) | Outcome::Refused(_) => {
                    None
                }
            };
            (Disposition::Postponed { due_at: at, attempts: counted }, Some(at), minded)
        }
        Verdict::Failed => {
            let reason = match &outcome {
                Outcome::Unusable { why, .. } | Outcome::Unreachable(why) | Outcome::Refused(why) => format!("{}: {why}", outcome.word()),
                Outcome::Answered { .. } | Outcome::TimedOut => outcome.word(),
            };
            (Disposition::Failed { attempts: message.number(), reason, failed_at: now }, None, Some(How::GivenUp))
        }
    };
    let settlement = Settlement { hold: message.hold, merchant: message.merchant, message: message.id, fate };
    let status = |attempt: &Attempt| attempt.status.and_then(|status| u16::try_from(status).ok());
    let calls = || attempts.iter().map(|attempt| Call { id: attempt.id, status: status(attempt) }).collect();
    let ending = how.filter(|_| reaction.is_some()).map(|how| Reacts {
        kind: message.kind,
        ending: Ending { message: message.id, at: now, number: message.number(), calls: calls(), how },
        attempts: message.attempts,
    });
    AttemptResult { endpoint: message.endpoint, settlement, attempts, due_again, ending }
}

/// Makes one call, and notes it down. Answers the token that it was made with, if it was an OAuth token.
async fn call(
    delivery: &Delivery,
    leases: &Leases,
    peer: &Peer,
    message: &DueMessage,
    reaction: Option<&dyn Reaction>,
    attempts: &mut Vec<Attempt>,
) -> Option<(CallResult, Option<Token>)> {
    let mut attempt = message.attempted(delivery);
    let prepared = prepare(delivery, &peer.way, message, attempt.started_at).await;
    if reaction.is_some() {
        match settlements::announce(delivery.cell(), &attempt).await {
            Ok(true) => {}
            Ok(false) => return None,
            Err(failed) => {
                tracing::warn!(%failed, "an attempt could not be written down, so that it is not made yet");
                return None;
            }
        }
    }
    if !leases.is_good(message.hold, leases.now()) {
        return None;
    }
    // A reaction needs the whole answer; of others only the beginning is kept, for people.
    let most_kept = if reaction.is_some() { MOST_READ } else { MOST_KEPT };
    crash::point(Point::Call);
    let may_go_on = || leases.is_good(message.hold, leases.now());
    let (mut result, token) = send(delivery, prepared, message, most_kept, &may_go_on).await;
    crash::point(Point::Answered);
    if let Outcome::Answered { status, .. } = result.outcome
        && is_success(status)
        && let Some(missing) = reaction.and_then(|reaction| reaction.misses(&result.answer))
    {
        result.outcome = Outcome::Unusable { status, why: missing.to_owned() };
    }
    delivery.metrics.attempted(message.kind.as_str(), result.outcome.word(), result.took);
    complete(&mut attempt, &result);
    attempts.push(attempt);
    Some((result, token))
}

/// Notes down what came of a call.
fn complete(attempt: &mut Attempt, result: &CallResult) {
    (attempt.status, attempt.reason) = match &result.outcome {
        Outcome::Answered { status, .. } => (i16::try_from(*status).ok(), None),
        Outcome::Unusable { status, why } => (i16::try_from(*status).ok(), Some(why.clone())),
        Outcome::TimedOut => (None, None),
        Outcome::Unreachable(why) | Outcome::Refused(why) => (None, Some(why.clone())),
    };
    attempt.outcome = result.outcome.word();
    attempt.took_ms = i32::try_from(result.took.as_millis()).unwrap_or(i32::MAX);
    let answer = result.answer.get(..MOST_KEPT).unwrap_or(&result.answer);
    attempt.answer = (!answer.is_empty()).then(|| answer.to_vec());
}
