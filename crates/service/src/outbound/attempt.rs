//! One attempt: prepare (address, authentication, signature), call, judge. What came of it is data for the settling.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use domain::delivery::{Outcome, Schedule, Verdict, judge};
use domain::id::{EndpointId, MerchantId};
use domain::message::{Interface, Kind};
use hyper::Method;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use store::crash::{self, Point};
use store::deliveries::Due;
use store::endpoints::Endpoint;
use store::settlements::{self, Attempt, Fate, Hold, Settlement};
use uuid::Uuid;

use super::authentication::{Authentication, Token};
use super::client::{Exchange, MOST_KEPT, MOST_READ, Request};
use super::guard::{NotAllowed, Target};
use super::lease::Leases;
use super::reaction::{Ending, How};
use super::secrets::Secrets;
use super::signature::{Secret, sign};
use super::writer::{Reacts, Result as Ended};
use crate::app::App;
use crate::metrics::{AttemptLabels, InterfaceLabels};

/// How to call an endpoint: its settings, ready for use.
pub(super) struct Peer {
    pub(super) revision: i64,
    pub(super) slots: usize,
    pub(super) per_second: usize,
    target: Result<Target, NotAllowed>,
    schedule: Schedule,
    authentication: Authentication,
    secrets: Vec<(Secret, Option<DateTime<Utc>>)>,
    version: Option<(HeaderName, HeaderValue)>,
}

/// Why an endpoint cannot be called: its settings are not fit for it.
#[derive(Debug, thiserror::Error)]
#[error("the endpoint's {what} cannot be used; set the endpoint again")]
pub(super) struct Unfit {
    what: &'static str,
    schedule: Schedule,
}

impl Peer {
    /// Makes the settings of an endpoint ready for use.
    pub(super) fn new(app: &App, merchant: MerchantId, endpoint: &Endpoint) -> Result<Self, Unfit> {
        let unfit = |what| Unfit { what, schedule: Schedule::default() };
        let schedule = match &endpoint.waits {
            Some(waits) => Schedule::of_seconds(waits).map_err(|_| unfit("schedule"))?,
            None => Schedule::default(),
        };
        let unfit = |what| Unfit { what, schedule: schedule.clone() };
        let Secrets { authentication, secret, previous } = Secrets::open(app, merchant, endpoint).map_err(|_| unfit("secrets"))?;
        let until = endpoint.previous_secret.as_ref().map(|(_, until)| *until);
        let secrets = [Some((secret, None)), previous.map(|previous| (previous, until))].into_iter().flatten().collect();
        let interface: Option<Interface> = endpoint.interface.parse().ok();
        let version = match (&endpoint.version_header, interface) {
            (Some((name, value)), _) => {
                let header = name.parse().ok().zip(HeaderValue::from_str(value).ok());
                Some(header.ok_or_else(|| unfit("version header"))?)
            }
            (None, Some(interface)) => Some((VERSION, HeaderValue::from_static(interface.version()))),
            (None, None) => None,
        };
        Ok(Self {
            revision: endpoint.revision,
            slots: usize::try_from(endpoint.slots).unwrap_or(1),
            per_second: usize::try_from(endpoint.per_second).unwrap_or(1),
            target: app.client.guard().check_url(&endpoint.url),
            schedule,
            authentication,
            secrets,
            version,
        })
    }

    #[cfg(test)]
    pub(super) fn for_tests(slots: usize, per_second: usize) -> Self {
        Self {
            revision: 1,
            slots,
            per_second,
            target: Err(NotAllowed::NoUrl),
            schedule: Schedule::default(),
            authentication: Authentication::None,
            secrets: Vec::new(),
            version: None,
        }
    }
}

const VERSION: HeaderName = HeaderName::from_static(wire::headers::VERSION);
const ID: HeaderName = HeaderName::from_static(wire::headers::ID);
const TIMESTAMP: HeaderName = HeaderName::from_static(wire::headers::TIMESTAMP);
const SIGNATURE: HeaderName = HeaderName::from_static(wire::headers::SIGNATURE);
const EVENT: HeaderName = HeaderName::from_static(wire::headers::EVENT);
const SEQUENCE: HeaderName = HeaderName::from_static(wire::headers::SEQUENCE);
const ATTEMPT: HeaderName = HeaderName::from_static(wire::headers::ATTEMPT);

/// A message to be sent.
pub(super) struct Letter {
    pub(super) hold: Hold,
    pub(super) message: Uuid,
    pub(super) kind: Kind,
    merchant: MerchantId,
    pub(super) endpoint: EndpointId,
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
            merchant: due.merchant,
            endpoint: due.endpoint,
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

    /// A call of it that begins now.
    fn attempted(&self, app: &App) -> Attempt {
        Attempt {
            hold: self.hold,
            id: app.mint(),
            merchant: self.merchant,
            message: self.message,
            endpoint: self.endpoint,
            started_at: app.now(),
            took_ms: 0,
            number: self.number(),
            status: None,
            outcome: settlements::UNKNOWN.to_owned(),
            reason: None,
            answer: None,
            counted_as: match self.kind {
                Kind::Of(interface) => Some(interface.as_str()),
                Kind::EndpointTest => None,
            },
        }
    }
}

/// Makes one attempt. Nothing comes of it when the bucket is not ours any more: a process that was stopped for a while must
/// not call for whoever has it now. With `reacts`, each call is written down before it is made.
pub(super) async fn attempt(app: &App, leases: &Leases, peer: &Peer, letter: &Letter, reacts: bool) -> Option<Ended> {
    let mut attempts = Vec::with_capacity(1);
    let (mut exchange, token) = call(app, leases, peer, letter, reacts, &mut attempts).await?;
    // A token that was refused is replaced once, and the call made again without being counted.
    if let (Outcome::Answered { status: 401, .. }, Some(token)) = (&exchange.outcome, token) {
        app.tokens.reject(&token).await;
        (exchange, _) = call(app, leases, peer, letter, reacts, &mut attempts).await?;
    }
    let ended = end(app, letter, &peer.schedule, exchange, attempts, reacts);
    crash::point(Point::Judged);
    Some(ended)
}

/// What becomes of a message whose endpoint cannot be called: an attempt that was refused before it began.
pub(super) fn refuse(app: &App, letter: &Letter, unfit: &Unfit, reacts: bool) -> Ended {
    let exchange = Exchange::refused(Outcome::Refused(unfit.to_string()));
    let mut attempt = letter.attempted(app);
    complete(&mut attempt, &exchange);
    end(app, letter, &unfit.schedule, exchange, vec![attempt], reacts)
}

/// What becomes of a message after an attempt. A trial is over after one, whatever came of it.
fn end(app: &App, letter: &Letter, schedule: &Schedule, exchange: Exchange, attempts: Vec<Attempt>, reacts: bool) -> Ended {
    let Exchange { outcome, answer, .. } = exchange;
    let (now, counted) = (app.now(), letter.attempts.saturating_add(1));
    let trial = letter.kind == Kind::EndpointTest;
    let (fate, due_again, how) = match judge(&outcome, counted.unsigned_abs(), schedule, app.entropy.part(), now) {
        Verdict::Delivered => {
            let status = if let Outcome::Answered { status, .. } = outcome { status } else { 0 };
            (Fate::Gone, None, Some(How::Delivered(status, answer)))
        }
        Verdict::Retry { .. } | Verdict::Failed if trial => (Fate::Gone, None, None),
        Verdict::Retry { at } => (Fate::Postponed { due_at: at, attempts: counted }, Some(at), None),
        Verdict::Failed => {
            let reason = match &outcome {
                Outcome::Unreachable(why) | Outcome::Refused(why) => format!("{}: {why}", outcome.word()),
                Outcome::Answered { .. } | Outcome::TimedOut => outcome.word(),
            };
            (Fate::Failed { attempts: letter.number(), reason, failed_at: now }, None, Some(How::GivenUp))
        }
    };
    let settlement = Settlement { hold: letter.hold, merchant: letter.merchant, message: letter.message, fate };
    let ending = how.filter(|_| reacts).map(|how| Reacts {
        kind: letter.kind,
        ending: Ending { message: letter.message, at: now, how },
        attempts: letter.attempts,
    });
    Ended { endpoint: letter.endpoint, settlement, attempts, due_again, ending }
}

/// Makes one call, and notes it down. Answers the token that it was made with, if it was an OAuth token.
async fn call(
    app: &App,
    leases: &Leases,
    peer: &Peer,
    letter: &Letter,
    reacts: bool,
    attempts: &mut Vec<Attempt>,
) -> Option<(Exchange, Option<Token>)> {
    let mut attempt = letter.attempted(app);
    let mut headers = headers(peer, letter, attempt.started_at);
    let authorized = authorize(app, peer, letter.endpoint, &mut headers).await;
    if reacts {
        match settlements::announce(&app.store, &attempt).await {
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
    let (exchange, token) = match authorized {
        Ok(token) => {
            let usual = app.client.request_to(Method::POST, peer.target.clone());
            // A reaction needs the whole answer; of others only the beginning is kept, for people.
            let most_kept = if reacts { MOST_READ } else { MOST_KEPT };
            crash::point(Point::Call);
            let exchange = app.client.call(Request { headers, body: letter.body.clone(), most_kept, ..usual }).await;
            crash::point(Point::Answered);
            (exchange, token)
        }
        Err(outcome) => (Exchange::refused(outcome), None),
    };
    let interface = letter.kind.as_str();
    app.metrics.attempts.get_or_create(&AttemptLabels { interface, outcome: exchange.outcome.word() }).inc();
    app.metrics.attempt_seconds.get_or_create(&InterfaceLabels { interface }).observe(exchange.took.as_secs_f64());
    complete(&mut attempt, &exchange);
    attempts.push(attempt);
    Some((exchange, token))
}

/// Notes down what came of a call.
fn complete(attempt: &mut Attempt, exchange: &Exchange) {
    (attempt.status, attempt.reason) = match &exchange.outcome {
        Outcome::Answered { status, .. } => (i16::try_from(*status).ok(), None),
        Outcome::TimedOut => (None, None),
        Outcome::Unreachable(why) | Outcome::Refused(why) => (None, Some(why.clone())),
    };
    attempt.outcome = exchange.outcome.word();
    attempt.took_ms = i32::try_from(exchange.took.as_millis()).unwrap_or(i32::MAX);
    let answer = exchange.answer.get(..MOST_KEPT).unwrap_or(&exchange.answer);
    attempt.answer = (!answer.is_empty()).then(|| answer.to_vec());
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
async fn authorize(app: &App, peer: &Peer, endpoint: EndpointId, headers: &mut HeaderMap) -> Result<Option<Token>, Outcome> {
    let (header, token) = match &peer.authentication {
        Authentication::OAuth(oauth) => {
            let token = app.tokens.token(&app.client, endpoint.0, oauth).await?;
            (Some(token.header()), Some(token))
        }
        other => (other.header().map_err(|wrong| Outcome::Refused(wrong.to_string()))?, None),
    };
    headers.extend(header.map(|(name, value)| (Some(name), value)));
    Ok(token)
}
