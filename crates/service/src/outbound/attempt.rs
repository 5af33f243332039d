//! One attempt: prepare (address, authentication, signature), call, judge. What came of it is data for the settling.

use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use domain::delivery::{Outcome, Schedule, Verdict, judge};
use domain::id::{EndpointId, MerchantId};
use domain::message::{Interface, Kind};
use hyper::Method;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use store::deliveries::Due;
use store::endpoints::Endpoint;
use store::settlements::{Attempt, Fate, Hold, Settlement};
use uuid::Uuid;

use super::authentication::{Authentication, Token};
use super::client::{Exchange, Request};
use super::lease::Leases;
use super::secrets::Secrets;
use super::signature::{Secret, sign};
use crate::app::App;
use crate::metrics::{AttemptLabels, InterfaceLabels};

/// How to call an endpoint: its settings, ready for use.
pub(super) struct Peer {
    merchant: MerchantId,
    endpoint: EndpointId,
    pub(super) revision: i64,
    pub(super) slots: usize,
    pub(super) per_second: usize,
    url: String,
    schedule: Schedule,
    authentication: Authentication,
    secrets: Vec<(Secret, Option<DateTime<Utc>>)>,
    version: Option<(HeaderName, HeaderValue)>,
}

/// Why an endpoint cannot be called: its settings are not fit for it.
#[derive(Debug, thiserror::Error)]
#[error("the endpoint's {0} cannot be used; set the endpoint again")]
pub(super) struct Unfit(&'static str);

impl Peer {
    /// Makes the settings of an endpoint ready for use.
    pub(super) fn new(app: &App, merchant: MerchantId, endpoint: &Endpoint) -> Result<Self, Unfit> {
        let Secrets { authentication, secret, previous } = Secrets::open(app, merchant, endpoint).map_err(|_| Unfit("secrets"))?;
        let until = endpoint.previous_secret.as_ref().map(|(_, until)| *until);
        let secrets = [Some((secret, None)), previous.map(|previous| (previous, until))].into_iter().flatten().collect();
        let schedule = match &endpoint.waits {
            Some(waits) => Schedule::of_seconds(waits).map_err(|_| Unfit("schedule"))?,
            None => Schedule::default(),
        };
        let interface: Option<Interface> = endpoint.interface.parse().ok();
        let version = match (&endpoint.version_header, interface) {
            (Some((name, value)), _) => {
                let header = name.parse().ok().zip(HeaderValue::from_str(value).ok());
                Some(header.ok_or(Unfit("version header"))?)
            }
            (None, Some(interface)) => Some((VERSION, HeaderValue::from_static(interface.version()))),
            (None, None) => None,
        };
        Ok(Self {
            merchant,
            endpoint: endpoint.id,
            revision: endpoint.revision,
            slots: usize::try_from(endpoint.slots).unwrap_or(1),
            per_second: usize::try_from(endpoint.per_second).unwrap_or(1),
            url: endpoint.url.clone(),
            schedule,
            authentication,
            secrets,
            version,
        })
    }

    #[cfg(test)]
    pub(super) fn for_tests(slots: usize, per_second: usize) -> Self {
        Self {
            merchant: MerchantId(Uuid::nil()),
            endpoint: EndpointId(Uuid::nil()),
            revision: 1,
            slots,
            per_second,
            url: String::new(),
            schedule: Schedule::default(),
            authentication: Authentication::None,
            secrets: Vec::new(),
            version: None,
        }
    }
}

const VERSION: HeaderName = HeaderName::from_static("x-service-api-version");
const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const EVENT: HeaderName = HeaderName::from_static("x-service-event");
const SEQUENCE: HeaderName = HeaderName::from_static("x-service-sequence");
const ATTEMPT: HeaderName = HeaderName::from_static("x-service-attempt");

/// A message to be sent.
pub(super) struct Letter {
    pub(super) hold: Hold,
    pub(super) message: Uuid,
    pub(super) kind: Kind,
    event: String,
    sequence: i64,
    body: Bytes,
    /// Counted attempts of this round and of the rounds before, without this one.
    attempts: i16,
    attempts_before: i16,
}

impl Letter {
    /// The letter in a row that was read, if it is one to be sent.
    pub(super) fn new(due: &mut Due, hold: Hold) -> Option<Self> {
        let text = due.text.take()?;
        Some(Self {
            hold,
            message: due.message,
            kind: text.kind.parse().ok()?,
            event: text.event,
            sequence: due.sequence,
            body: Bytes::from(text.body),
            attempts: due.attempts,
            attempts_before: due.attempts_before,
        })
    }

    /// The number of this attempt, as the receiver is told.
    fn number(&self) -> i16 {
        self.attempts_before.saturating_add(self.attempts).saturating_add(1)
    }
}

/// What came of an attempt: the calls that were made, and what becomes of the message.
pub(super) struct Done {
    pub(super) settlement: Settlement,
    pub(super) attempts: Vec<Attempt>,
    /// When the message is due again, if it is.
    pub(super) due_again: Option<DateTime<Utc>>,
}

/// Makes one attempt. Nothing comes of it when the bucket is not ours any more: a process that was stopped for a while must
/// not call for whoever has it now.
pub(super) async fn attempt(app: &App, leases: &Leases, peer: &Peer, letter: &Letter) -> Option<Done> {
    let ours = || leases.is_good(letter.hold, leases.now()).then_some(());
    let mut attempts = Vec::with_capacity(1);
    ours()?;
    let (outcome, token) = call(app, peer, letter, &mut attempts).await;
    // A token that was refused is replaced once, and the call made again without being counted.
    let outcome = match (outcome, token) {
        (Outcome::Answered { status: 401, .. }, Some(token)) => {
            app.tokens.reject(&token).await;
            ours()?;
            call(app, peer, letter, &mut attempts).await.0
        }
        (outcome, _) => outcome,
    };
    let (now, counted) = (app.now(), letter.attempts.saturating_add(1));
    let verdict = judge(&outcome, counted.unsigned_abs(), &peer.schedule, app.entropy.part(), now);
    let trial = letter.kind == Kind::EndpointTest;
    let (fate, due_again) = fate(verdict, trial, counted, letter.number(), &outcome, now);
    let settlement = Settlement { hold: letter.hold, merchant: peer.merchant, message: letter.message, fate };
    Some(Done { settlement, attempts, due_again })
}

/// What becomes of a message whose endpoint cannot be called: an attempt that was refused before it began.
pub(super) fn refuse(app: &App, due: &Due, hold: Hold, unfit: &Unfit) -> Done {
    let outcome = Outcome::Refused(unfit.to_string());
    let (now, counted) = (app.now(), due.attempts.saturating_add(1));
    let number = due.attempts_before.saturating_add(counted);
    let kind: Option<Kind> = due.text.as_ref().and_then(|text| text.kind.parse().ok());
    let attempt = Attempt {
        hold,
        id: app.mint(),
        merchant: due.merchant,
        message: due.message,
        endpoint: due.endpoint,
        started_at: now,
        took_ms: 0,
        number,
        status: None,
        outcome: outcome.word(),
        reason: Some(unfit.to_string()),
        answer: None,
        counted_as: kind.and_then(counted_as),
    };
    let verdict = judge(&outcome, counted.unsigned_abs(), &Schedule::default(), app.entropy.part(), now);
    let (fate, due_again) = fate(verdict, kind == Some(Kind::EndpointTest), counted, number, &outcome, now);
    let settlement = Settlement { hold, merchant: due.merchant, message: due.message, fate };
    Done { settlement, attempts: vec![attempt], due_again }
}

/// What a verdict means for the row. A trial is over after one attempt, whatever came of it.
fn fate(verdict: Verdict, trial: bool, counted: i16, number: i16, outcome: &Outcome, now: DateTime<Utc>) -> (Fate, Option<DateTime<Utc>>) {
    match verdict {
        Verdict::Delivered => (Fate::Gone, None),
        Verdict::Retry { .. } | Verdict::Failed if trial => (Fate::Gone, None),
        Verdict::Retry { at } => (Fate::Postponed { due_at: at, attempts: counted }, Some(at)),
        Verdict::Failed => {
            let reason = match outcome {
                Outcome::Unreachable(why) | Outcome::Refused(why) => format!("{}: {why}", outcome.word()),
                Outcome::Answered { .. } | Outcome::TimedOut => outcome.word(),
            };
            (Fate::Failed { attempts: number, reason, failed_at: now }, None)
        }
    }
}

/// As what a call counts in the reports.
fn counted_as(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Of(interface) => Some(interface.as_str()),
        Kind::EndpointTest => None,
    }
}

/// Makes one call, and notes it down. Answers the token that it was made with, if it was an OAuth token.
async fn call(app: &App, peer: &Peer, letter: &Letter, attempts: &mut Vec<Attempt>) -> (Outcome, Option<Token>) {
    let (started_at, id) = (app.now(), app.mint());
    let mut headers = headers(peer, letter, started_at);
    let (exchange, token) = match authorize(app, peer, &mut headers).await {
        Ok(token) => {
            let request = Request { headers, body: letter.body.clone(), ..app.client.request(Method::POST, &peer.url) };
            (app.client.call(request).await, token)
        }
        Err(outcome) => (Exchange { outcome, answer: Bytes::new(), truncated: false, took: Duration::ZERO }, None),
    };
    let interface = letter.kind.as_str();
    app.metrics.attempts.get_or_create(&AttemptLabels { interface, outcome: exchange.outcome.word() }).inc();
    app.metrics.attempt_seconds.get_or_create(&InterfaceLabels { interface }).observe(exchange.took.as_secs_f64());
    let (status, reason) = match &exchange.outcome {
        Outcome::Answered { status, .. } => (i16::try_from(*status).ok(), None),
        Outcome::TimedOut => (None, None),
        Outcome::Unreachable(why) | Outcome::Refused(why) => (None, Some(why.clone())),
    };
    attempts.push(Attempt {
        hold: letter.hold,
        id,
        merchant: peer.merchant,
        message: letter.message,
        endpoint: peer.endpoint,
        started_at,
        took_ms: i32::try_from(exchange.took.as_millis()).unwrap_or(i32::MAX),
        number: letter.number(),
        status,
        outcome: exchange.outcome.word(),
        reason,
        answer: (!exchange.answer.is_empty()).then(|| exchange.answer.to_vec()),
        counted_as: counted_as(letter.kind),
    });
    (exchange.outcome, token)
}

fn headers(peer: &Peer, letter: &Letter, now: DateTime<Utc>) -> HeaderMap {
    let id = letter.message.to_string();
    let live: Vec<&Secret> =
        peer.secrets.iter().filter(|(_, until)| until.is_none_or(|until| now < until)).map(|(secret, _)| secret).collect();
    let signature = sign(&live, &id, now, &letter.body);
    let mut headers = HeaderMap::with_capacity(10);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("Backhaul/", env!("CARGO_PKG_VERSION"))));
    for (name, value) in [(ID, &id), (SIGNATURE, &signature), (EVENT, &letter.event)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    }
    headers.insert(TIMESTAMP, now.timestamp().into());
    headers.insert(SEQUENCE, letter.sequence.into());
    headers.insert(ATTEMPT, letter.number().into());
    if let Some((name, value)) = &peer.version {
        headers.insert(name, value.clone());
    }
    headers
}

/// Adds what authenticates us.
async fn authorize(app: &App, peer: &Peer, headers: &mut HeaderMap) -> Result<Option<Token>, Outcome> {
    let (header, token) = match &peer.authentication {
        Authentication::OAuth(oauth) => {
            let token = app.tokens.token(&app.client, peer.endpoint.0, oauth).await?;
            (Some(token.header()), Some(token))
        }
        other => (other.header().map_err(|wrong| Outcome::Refused(wrong.to_string()))?, None),
    };
    headers.extend(header.map(|(name, value)| (Some(name), value)));
    Ok(token)
}
