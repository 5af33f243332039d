//! One attempt at a message: prepares and sends it, judges the outcome, and returns a result for the writer to settle.

use bytes::Bytes;
use domain::messages::delivery::{Outcome, Schedule, Verdict, judge};
use domain::messages::message::Kind;
use domain::node::trace::TraceContext;
use store::crash::{self, Point};
use store::messages::settlements::{self, Attempt, Disposition, Settlement};
use wire::node::otlp::Attribute;

use super::lease::Leases;
use super::result::{AttemptResult, ReactionInput};
use crate::delivery::client::{CallResult, MOST_KEPT, MOST_READ};
use crate::delivery::due_message::DueMessage;
use crate::delivery::handle::Delivery;
use crate::delivery::reaction::{Call, Ending, How, Reaction};
use crate::delivery::secrets::authentication::Token;
use crate::delivery::transports::dispatch::{prepare, send};
use crate::delivery::transports::peer::{Peer, UnusablePeer};
use crate::node::traces::Begun;

/// Makes one attempt. Returns `None` without calling if the bucket is no longer ours: a process that was suspended must not call
/// on behalf of the new owner. If the message's kind has a `reaction`, each call is recorded before it is made.
pub(super) async fn run(
    delivery: &Delivery,
    leases: &Leases,
    peer: &Peer,
    message: &DueMessage,
    reaction: Option<&dyn Reaction>,
) -> Option<AttemptResult> {
    let mut attempts = Vec::with_capacity(1);
    let mut made = call(delivery, leases, peer, message, reaction, &mut attempts).await?;
    // A refused token is replaced once. The second call belongs to the same attempt.
    if let (Outcome::Answered { status: 401, .. }, Some(token)) = (&made.result.outcome, &made.token) {
        delivery.tokens.reject(token).await;
        made = call(delivery, leases, peer, message, reaction, &mut attempts).await?;
    }
    let concluded = conclude(delivery, message, &peer.schedule, made.result, attempts, reaction);
    crash::point(Point::Judged);
    Some(AttemptResult { trace: made.place, ..concluded })
}

/// The result for a message whose endpoint has unusable settings: an attempt that was refused before any call.
pub(super) fn refuse(delivery: &Delivery, message: &DueMessage, unusable: &UnusablePeer, reaction: Option<&dyn Reaction>) -> AttemptResult {
    let result = CallResult::refused(Outcome::Refused(unusable.to_string()));
    let mut attempt = message.new_attempt(delivery);
    complete(&mut attempt, &result);
    conclude(delivery, message, &unusable.schedule, result, vec![attempt], reaction)
}

/// Decides what happens to a message after an attempt. A test message is finished after one attempt, whatever its outcome.
fn conclude(
    delivery: &Delivery,
    message: &DueMessage,
    schedule: &Schedule,
    result: CallResult,
    attempts: Vec<Attempt>,
    reaction: Option<&dyn Reaction>,
) -> AttemptResult {
    let CallResult { outcome, answer, .. } = result;
    let refusal = if outcome.is_success() { Bytes::new() } else { answer.clone() };
    let (now, counted) = (delivery.now(), message.attempts.saturating_add(1));
    let is_test = message.kind == Kind::EndpointTest;
    let (disposition, due_again, how) = match judge(&outcome, counted.unsigned_abs(), schedule, delivery.entropy.part(), now) {
        Verdict::Delivered => {
            let status = if let Outcome::Answered { status, .. } = outcome { status } else { 0 };
            (Disposition::Finished, None, Some(How::Delivered(status, answer)))
        }
        Verdict::Retry { .. } | Verdict::Failed if is_test => (Disposition::Finished, None, None),
        Verdict::Retry { at } => {
            let refused = match outcome {
                Outcome::Answered { status, .. } if reaction.is_some_and(|reaction| reaction.handles_refusal(status)) => {
                    Some(How::Refused(status))
                }
                Outcome::Answered { .. } | Outcome::TimedOut | Outcome::Unreachable(_) | Outcome::Refused(_) => None,
            };
            (Disposition::Postponed { due_at: at, attempts: counted }, Some(at), refused)
        }
        Verdict::Failed => {
            let reason = match &outcome {
                Outcome::Unreachable(why) | Outcome::Refused(why) => format!("{}: {why}", outcome.word()),
                Outcome::Answered { .. } | Outcome::TimedOut => outcome.word(),
            };
            (Disposition::Failed { attempts: message.number(), reason, failed_at: now }, None, Some(How::GivenUp))
        }
    };
    let settlement = Settlement { hold: message.hold, merchant: message.merchant, message: message.id, disposition };
    let status = |attempt: &Attempt| attempt.status.and_then(|status| u16::try_from(status).ok());
    let calls = || attempts.iter().map(|attempt| Call { id: attempt.id, status: status(attempt) }).collect();
    let reaction = how.filter(|_| reaction.is_some()).map(|how| ReactionInput {
        kind: message.kind,
        ending: Ending { message: message.id, at: now, number: message.number(), calls: calls(), refusal, how },
        attempts: message.attempts,
    });
    let (endpoint, lane, trace) = (message.endpoint, message.lane.clone(), message.trace);
    AttemptResult { endpoint, lane, settlement, attempts, due_again, reaction, trace }
}

/// A call that was made.
struct Made {
    result: CallResult,
    /// The OAuth token that it used, if any.
    token: Option<Token>,
    /// Its place in a trace.
    place: Option<TraceContext>,
}

/// Makes one call and adds it to `attempts`.
async fn call(
    delivery: &Delivery,
    leases: &Leases,
    peer: &Peer,
    message: &DueMessage,
    reaction: Option<&dyn Reaction>,
    attempts: &mut Vec<Attempt>,
) -> Option<Made> {
    let mut attempt = message.new_attempt(delivery);
    let span = delivery.traces.begin_call(message.trace);
    let place = span.as_ref().map(Begun::context);
    let prepared = prepare(delivery, &peer.route, message, attempt.started_at, place).await;
    if reaction.is_some() {
        match settlements::announce(delivery.cell(), &attempt).await {
            Ok(true) => {}
            Ok(false) => return None,
            Err(failed) => {
                tracing::warn!(%failed, message = %message.id, "recording an attempt failed, will retry before calling");
                return None;
            }
        }
    }
    if !leases.is_valid(message.hold, leases.now()) {
        return None;
    }
    // A reaction needs the whole answer. Otherwise only its beginning is kept, for people.
    let most_kept = if reaction.is_some() { MOST_READ } else { MOST_KEPT };
    crash::point(Point::Call);
    let may_continue = || leases.is_valid(message.hold, leases.now());
    let (result, token) = send(delivery, prepared, message, most_kept, &may_continue).await;
    crash::point(Point::Answered);
    delivery.metrics.attempted(delivery.place().label(), message.kind.as_str(), result.outcome.word(), result.took);
    if let Some(span) = span {
        end_span(delivery, span, message, &result.outcome);
    }
    complete(&mut attempt, &result);
    attempts.push(attempt);
    Some(Made { result, token, place })
}

/// Ends the span of a call.
fn end_span(delivery: &Delivery, span: Begun, message: &DueMessage, outcome: &Outcome) {
    let answer = match outcome {
        Outcome::Answered { status, .. } => Attribute::Status(*status),
        Outcome::TimedOut | Outcome::Unreachable(_) | Outcome::Refused(_) => Attribute::Error(outcome.word()),
    };
    let interface = message.kind.as_str();
    let attributes = vec![
        Attribute::Merchant(message.merchant),
        Attribute::Endpoint(message.endpoint),
        Attribute::Message(message.id),
        Attribute::Interface(interface),
        Attribute::Attempt(message.number()),
        answer,
    ];
    delivery.traces.end(span, format!("deliver {interface}"), attributes, !outcome.is_success());
}

/// Completes the record of a call with its result.
fn complete(attempt: &mut Attempt, result: &CallResult) {
    (attempt.status, attempt.reason) = match &result.outcome {
        Outcome::Answered { status, .. } => (i16::try_from(*status).ok(), None),
        Outcome::TimedOut => (None, None),
        Outcome::Unreachable(why) | Outcome::Refused(why) => (None, Some(why.clone())),
    };
    attempt.outcome = result.outcome.word();
    attempt.took_ms = i32::try_from(result.took.as_millis()).unwrap_or(i32::MAX);
    let answer = result.answer.get(..MOST_KEPT).unwrap_or(&result.answer);
    attempt.answer = (!answer.is_empty()).then(|| answer.to_vec());
}
