//! Views of messages, for the API and the command line.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chrono::DateTime;
use domain::id::MerchantId;
use store::Failed;
use store::messages::attempts::{Attempt, Page, Place};
use store::messages::endpoints as kept;
use store::messages::log::{self, MessageDetail};
use wire::messages::message::{AttemptOut, Attempts, FailureOut, MessageOut, MessageState};
use wire::time;

use crate::delivery::Delivery;
use crate::delivery::transports::answer::KnownSecrets;

/// The state of a message.
pub(crate) const fn state(state: log::State) -> MessageState {
    match state {
        log::State::Owed => MessageState::Owed,
        log::State::Failed => MessageState::Failed,
        log::State::Discarded => MessageState::Discarded,
        log::State::Unsent => MessageState::Unsent,
        log::State::Delivered => MessageState::Delivered,
    }
}

/// A message with a page of its attempts, first to last.
pub(crate) fn message(found: MessageDetail, page: Page) -> MessageOut {
    let stands = found.state();
    MessageOut {
        message_id: found.id.to_string(),
        state: state(stands),
        created_at: time::write(log::written_at(found.id)),
        next_attempt_at: found.owed.and_then(|owed| owed.due_at).map(time::write),
        waits_for: found.owed.and_then(|owed| owed.behind).map(|behind| behind.to_string()),
        failure: found.failure.map(|failure| FailureOut {
            reason: failure.reason,
            state: failure.state,
            failed_at: time::write(failure.failed_at),
        }),
        interface: found.kind,
        event: found.event,
        subject: found.subject,
        sequence: found.sequence,
        body: found.body,
        erased: found.erased,
        attempts: Attempts { items: page.attempts.into_iter().map(attempt_out).collect(), next: page.next.map(write_place) },
    }
}

/// Removed endpoints whose secrets are looked for in answers.
const REMOVED: i64 = 20;

/// The secrets that answers of the merchant's systems are shown without. A message may have gone to an endpoint that was removed.
pub(crate) async fn known_secrets(delivery: &Delivery, merchant: MerchantId) -> Result<KnownSecrets, Failed> {
    let store = delivery.store(merchant);
    let removed = kept::list_removed(store, merchant, REMOVED).await?;
    Ok(KnownSecrets::of(delivery, merchant, &kept::list(store, merchant).await?, &removed))
}

/// Writes the place of an attempt as a cursor.
fn write_place(Place { started_at, number, attempt_id }: Place) -> String {
    format!("{}.{number}.{attempt_id}", started_at.timestamp_micros())
}

/// Reads a cursor that [`write_place`] wrote.
pub(crate) fn read_place(cursor: &str) -> Option<Place> {
    let mut parts = cursor.splitn(3, '.');
    let started_at = DateTime::from_timestamp_micros(parts.next()?.parse().ok()?)?;
    Some(Place { started_at, number: parts.next()?.parse().ok()?, attempt_id: parts.next()?.parse().ok()? })
}

fn attempt_out(attempt: Attempt) -> AttemptOut {
    let (answer, answer_base64) = match attempt.answer.map(String::from_utf8) {
        None => (None, None),
        Some(Ok(text)) => (Some(text), None),
        Some(Err(bytes)) => (None, Some(BASE64_STANDARD.encode(bytes.as_bytes()))),
    };
    AttemptOut {
        number: attempt.number,
        started_at: time::write(attempt.started_at),
        took_ms: attempt.took_ms,
        outcome: attempt.outcome,
        status: attempt.status,
        reason: attempt.reason,
        answer,
        answer_base64,
    }
}
