//! Views of messages and endpoints, for the API and the command line.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chrono::DateTime;
use domain::id::MerchantId;
use rustls::pki_types::CertificateDer;
use store::Failed;
use store::messages::attempts::{Attempt, Page, Place};
use store::messages::log::{self, MessageDetail};
use store::messages::{endpoints as kept, health};
use wire::messages::message::{AttemptOut, EndpointCertificate, EndpointOut, EndpointState, FailureOut, MessageOut, MessageState};
use wire::time;

use crate::delivery::Delivery;
use crate::delivery::transports::answer::KnownSecrets;
use crate::node::Node;
use crate::platform::client_certificate::{ClientCertificate, subject_of};

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
        attempts: page.attempts.into_iter().map(attempt_out).collect(),
        attempts_next_after: page.next.map(write_place),
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

/// The client certificate that an endpoint is presented.
pub(crate) fn certificate(client: &kept::EndpointClient) -> Option<EndpointCertificate> {
    let first = CertificateDer::from(client.chain.first()?.as_slice());
    let ClientCertificate { fingerprint, expires_at } = ClientCertificate::read(&first)?;
    let (subject, sha256) = (subject_of(&first)?, fingerprint.to_string());
    Some(EndpointCertificate { subject, sha256, expires_at: time::write(expires_at) })
}

/// The endpoints of a merchant with their health.
pub(crate) async fn endpoints(node: &Node, merchant: MerchantId) -> Result<Vec<EndpointOut>, store::Failed> {
    let health = health::endpoints(node.store(merchant), merchant, node.now()).await?;
    let described = kept::list(node.store(merchant), merchant).await?.into_iter().map(|endpoint| {
        let health = health.iter().find(|health| health.endpoint == endpoint.id);
        EndpointOut {
            state: match health {
                _ if endpoint.paused_at.is_some() => EndpointState::Paused,
                Some(health) if health.failing => EndpointState::Failing,
                Some(_) | None => EndpointState::Healthy,
            },
            last_success_hour: health.and_then(|health| health.last_success).map(time::write),
            last_failure_hour: health.and_then(|health| health.last_failure).map(time::write),
            owed: health.map_or(0, |health| health.owed),
            past_due: health.map_or(0, |health| health.past_due),
            failed: health.map_or(0, |health| health.failed),
            client_certificate: endpoint.client.as_ref().and_then(certificate),
            interface: endpoint.interface,
            url: endpoint.url,
        }
    });
    Ok(described.collect())
}
