//! One attempt: a message is prepared and sent (`transport.rs`), and judged. What came of it is data for the settling.

use bytes::Bytes;
use domain::id::{EndpointId, MerchantId};
use domain::messages::delivery::{Outcome, Schedule, Verdict, is_success, judge};
use domain::messages::message::Kind;
use store::crash::{self, Point};
use store::messages::deliveries::Due;
use store::messages::settlements::{self, Attempt, Disposition, Hold, Settlement};
use uuid::Uuid;

use super::lease::Leases;
use super::writer::{Reacts, Result as Ended};
use crate::delivery::client::{Exchange, MOST_KEPT, MOST_READ};
use crate::delivery::handle::Delivery;
use crate::delivery::reaction::{Call, Ending, How, Reaction};
use crate::delivery::secrets::authentication::Token;
use crate::delivery::transports::dispatch::{prepare, send};
use crate::delivery::transports::peer::{Peer, Unfit};

/// A message to be sent.
pub(in crate::delivery) struct Letter {
    pub(in crate::delivery) hold: Hold,
    pub(in crate::delivery) message: Uuid,
    pub(in crate::delivery) kind: Kind,
    pub(in crate::delivery) merchant: MerchantId,
    pub(in crate::delivery) endpoint: EndpointId,
    pub(in crate::delivery) event: String,
    pub(in crate::delivery) sequence: i64,
    pub(in crate::delivery) body: Bytes,
    /// Counted attempts of this round and of the rounds before, without this one.
    attempts: i16,
    attempts_before: i16,
    by_hand: bool,
}

impl Letter {
    /// The letter in a row that was read, if it is one to be sent.
    pub(in crate::delivery) fn new(due: &mut Due, hold: Hold) -> Option<Self> {
        let (text, by_hand) = (due.text.take()?, due.is_by_hand());
        Some(Self {
            hold,
            message: due.message,
            kind: text.kind.parse().ok()?,
            merchant: due.merchant,
            endpoint: due.endpoint,
            event: text.event,
            sequence: due.sequence,
            body: Bytes::from(text.body),
            attempts: due.attempts,
            attempts_before: due.attempts_before,
            by_hand,
        })
    }

    /// The number of this attempt, as the receiver is told.
    pub(in crate::delivery) fn number(&self) -> i16 {
        self.attempts_before.saturating_add(self.attempts).saturating_add(1)
    }

    /// A call of it that begins now.
    fn attempted(&self, delivery: &Delivery) -> Attempt {
        Attempt {
            hold: self.hold,
            id: delivery.mint(),
            merchant: self.merchant,
            message: self.message,
            endpoint: self.endpoint,
            started_at: delivery.now(),
            took_ms: 0,
            number: self.number(),
            by_hand: self.by_hand,
            status: None,
            outcome: settlements::UNKNOWN.to_owned(),
            reason: None,
            answer: None,
            counted_as: match self.kind {
                Kind::Of(interface) => Some(interface.as_str()),
                Kind::EndpointTest | Kind::Internal(_) => None,
            },
        }
    }
}

/// Makes one attempt. Nothing comes of it when the bucket is not ours any more: a process that was stopped for a while must
/// not call for whoever has it now. If its kind has a `reaction`, each call is written down before it is made.
pub(in crate::delivery) async fn attempt(
    delivery: &Delivery,
    leases: &Leases,
    peer: &Peer,
    letter: &Letter,
    reaction: Option<&dyn Reaction>,
) -> Option<Ended> {
    let mut attempts = Vec::with_capacity(1);
    let (mut exchange, token) = call(delivery, leases, peer, letter, reaction, &mut attempts).await?;
    // A token that was refused is replaced once, and the call made again without being counted.
    if let (Outcome::Answered { status: 401, .. }, Some(token)) = (&exchange.outcome, token) {
        delivery.tokens.reject(&token).await;
        (exchange, _) = call(delivery, leases, peer, letter, reaction, &mut attempts).await?;
    }
    let ended = end(delivery, letter, &peer.schedule, exchange, attempts, reaction);
    crash::point(Point::Judged);
    Some(ended)
}

/// What becomes of a message whose endpoint cannot be called: an attempt that was refused before it began.
pub(in crate::delivery) fn refuse(delivery: &Delivery, letter: &Letter, unfit: &Unfit, reaction: Option<&dyn Reaction>) -> Ended {
    let exchange = Exchange::refused(Outcome::Refused(unfit.to_string()));
    let mut attempt = letter.attempted(delivery);
    complete(&mut attempt, &exchange);
    end(delivery, letter, &unfit.schedule, exchange, vec![attempt], reaction)
}

/// What becomes of a message after an attempt. A trial is over after one, whatever came of it.
fn end(
    delivery: &Delivery,
    letter: &Letter,
    schedule: &Schedule,
    exchange: Exchange,
    attempts: Vec<Attempt>,
    reaction: Option<&dyn Reaction>,
) -> Ended {
    let Exchange { outcome, answer, .. } = exchange;
    let (now, counted) = (delivery.now(), letter.attempts.saturating_add(1));
    let trial = letter.kind == Kind::EndpointTest;
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
            (Disposition::Failed { attempts: letter.number(), reason, failed_at: now }, None, Some(How::GivenUp))
        }
    };
    let settlement = Settlement { hold: letter.hold, merchant: letter.merchant, message: letter.message, fate };
    let status = |attempt: &Attempt| attempt.status.and_then(|status| u16::try_from(status).ok());
    let calls = || attempts.iter().map(|attempt| Call { id: attempt.id, status: status(attempt) }).collect();
    let ending = how.filter(|_| reaction.is_some()).map(|how| Reacts {
        kind: letter.kind,
        ending: Ending { message: letter.message, at: now, number: letter.number(), calls: calls(), how },
        attempts: letter.attempts,
    });
    Ended { endpoint: letter.endpoint, settlement, attempts, due_again, ending }
}

/// Makes one call, and notes it down. Answers the token that it was made with, if it was an OAuth token.
async fn call(
    delivery: &Delivery,
    leases: &Leases,
    peer: &Peer,
    letter: &Letter,
    reaction: Option<&dyn Reaction>,
    attempts: &mut Vec<Attempt>,
) -> Option<(Exchange, Option<Token>)> {
    let mut attempt = letter.attempted(delivery);
    let prepared = prepare(delivery, &peer.way, letter, attempt.started_at).await;
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
    if !leases.is_good(letter.hold, leases.now()) {
        return None;
    }
    // A reaction needs the whole answer; of others only the beginning is kept, for people.
    let most_kept = if reaction.is_some() { MOST_READ } else { MOST_KEPT };
    crash::point(Point::Call);
    let may_go_on = || leases.is_good(letter.hold, leases.now());
    let (mut exchange, token) = send(delivery, prepared, letter, most_kept, &may_go_on).await;
    crash::point(Point::Answered);
    if let Outcome::Answered { status, .. } = exchange.outcome
        && is_success(status)
        && let Some(missing) = reaction.and_then(|reaction| reaction.misses(&exchange.answer))
    {
        exchange.outcome = Outcome::Unusable { status, why: missing.to_owned() };
    }
    delivery.metrics.attempted(letter.kind.as_str(), exchange.outcome.word(), exchange.took);
    complete(&mut attempt, &exchange);
    attempts.push(attempt);
    Some((exchange, token))
}

/// Notes down what came of a call.
fn complete(attempt: &mut Attempt, exchange: &Exchange) {
    (attempt.status, attempt.reason) = match &exchange.outcome {
        Outcome::Answered { status, .. } => (i16::try_from(*status).ok(), None),
        Outcome::Unusable { status, why } => (i16::try_from(*status).ok(), Some(why.clone())),
        Outcome::TimedOut => (None, None),
        Outcome::Unreachable(why) | Outcome::Refused(why) => (None, Some(why.clone())),
    };
    attempt.outcome = exchange.outcome.word();
    attempt.took_ms = i32::try_from(exchange.took.as_millis()).unwrap_or(i32::MAX);
    let answer = exchange.answer.get(..MOST_KEPT).unwrap_or(&exchange.answer);
    attempt.answer = (!answer.is_empty()).then(|| answer.to_vec());
}
