//! One question to a merchant's system: one call, or two when its token was refused, within the time that a shopper waits.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::delivery::{Outcome, is_success};
use domain::messages::message::Interface;
use hyper::Method;
use hyper::header::{ACCEPT, HeaderMap, HeaderValue};
use store::messages::endpoints::Endpoint;

use super::Answer;
use super::breaker::Ticket;
use super::gate::{Gate, Resting};
use super::template::{self, NoTarget};
use crate::delivery::client::{CallResult, MOST_READ, Request};
use crate::delivery::guard::{NotAllowed, Target};
use crate::delivery::handle::Delivery;
use crate::delivery::secrets::authentication::Token;
use crate::delivery::transports::dispatch::authorize;
use crate::delivery::transports::peer::{Address, Peer, Way};

const INTERFACE: Interface = Interface::ExchangeVariants;

/// Why a merchant did not say which variants there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// It did not answer in time.
    #[error("no answer in time")]
    TimedOut,
    /// It cannot be reached, or what it answered says nothing.
    #[error("{0}")]
    Erred(String),
    /// It failed so often that it is left in peace for a while.
    #[error("calls fail in a row, so that none is made for a while")]
    Resting,
}

/// What is asked.
pub(super) struct Question<'a> {
    pub(super) merchant: MerchantId,
    pub(super) endpoint: &'a Endpoint,
    pub(super) identifier: &'a str,
    /// How long all of it may take.
    pub(super) patience: Duration,
}

/// A call that was made: when it began, and what came of it in a word.
pub struct Call {
    /// When it began.
    pub began_at: DateTime<Utc>,
    /// What came of it.
    pub outcome: String,
}

/// Asks, when the gate lets it, and says which calls were made.
pub(super) async fn ask(delivery: &Delivery, question: &Question<'_>, gate: &Gate) -> (Answer, Vec<Call>) {
    let mut log = Log::default();
    let mut ticket = None;
    let asked = async {
        let ready = Ready::new(delivery, question)?;
        // A call that would have hardly any time left says nothing about the merchant, and is not begun.
        let entered = tokio::time::timeout(question.patience * 2 / 3, gate.enter(&delivery.clock)).await;
        let pass = entered.map_err(|_| Failure::TimedOut)?.map_err(|Resting| Failure::Resting)?;
        ticket = Some(pass.ticket);
        read(ready.exchange(delivery, &mut log).await).map(Arc::from)
    };
    let answer = tokio::time::timeout(question.patience, asked).await.unwrap_or(Err(Failure::TimedOut));
    let calls = log.close(delivery);
    if let Some(ticket) = ticket {
        report(delivery, gate, ticket, &answer, calls.last());
    }
    (answer, calls.into_iter().map(|(began_at, outcome)| Call { began_at, outcome: outcome.word() }).collect())
}

/// Tells the gate how it went. Whoever says that it does not know the variant, or does not like the question, is well.
fn report(delivery: &Delivery, gate: &Gate, ticket: Ticket, answer: &Answer, last: Option<&(DateTime<Utc>, Outcome)>) {
    let alive = match last {
        Some((_, Outcome::Answered { status: 401 | 403 | 408 | 429, .. })) => false,
        Some((_, Outcome::Answered { status: 400..=499, .. })) => true,
        Some(_) | None => false,
    };
    gate.report(ticket, answer.is_ok() || alive, delivery.clock.uptime());
}

/// What came of a trial, for people.
pub struct Trial {
    /// The outcome.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
    /// The answer, as far as it was read.
    pub answer: bytes::Bytes,
    /// How many variants it tells of, if that can be read.
    pub variants: Option<usize>,
}

/// Asks once on an operator's behalf: at no gate, kept nowhere, and in no report.
pub async fn trial(delivery: &Delivery, merchant: MerchantId, endpoint: &Endpoint, identifier: &str) -> Result<Trial, Failure> {
    let patience = delivery.settings.outbound.variants_timeout();
    let question = Question { merchant, endpoint, identifier, patience };
    let ready = Ready::new(delivery, &question)?;
    let began = delivery.clock.uptime();
    let mut log = Log::default();
    let result = tokio::time::timeout(patience, ready.exchange(delivery, &mut log)).await;
    let result = result.unwrap_or_else(|_| CallResult::refused(Outcome::TimedOut));
    let variants = read(result.clone()).ok().map(|variants| variants.len());
    let took = delivery.clock.uptime().saturating_sub(began);
    Ok(Trial { outcome: result.outcome, took, answer: result.answer, variants })
}

/// A question that can be asked.
struct Ready {
    endpoint: EndpointId,
    address: Box<Address>,
    target: Result<Target, NotAllowed>,
}

impl Ready {
    fn new(delivery: &Delivery, question: &Question<'_>) -> Result<Self, Failure> {
        let Question { merchant, endpoint, identifier, .. } = question;
        let erred = |why: &str| Failure::Erred(why.to_owned());
        let target = match template::target(delivery.client.guard(), &endpoint.url, identifier) {
            Ok(target) => Ok(target),
            Err(NoTarget::NotAllowed(refusal)) => Err(refusal),
            Err(NoTarget::Misfit) => return Err(erred("no URL can hold the variant identifier")),
        };
        match Peer::new(delivery, *merchant, endpoint).map_err(|unfit| Failure::Erred(unfit.to_string()))?.way {
            Way::Endpoint(address) => Ok(Self { endpoint: endpoint.id, address, target }),
            Way::Mail | Way::OperatorHook | Way::Carrier => Err(erred("the endpoint is none of the merchant's")),
        }
    }

    /// Calls. A token that was refused is replaced once, and the call made again.
    async fn exchange(&self, delivery: &Delivery, log: &mut Log) -> CallResult {
        let (result, token) = self.call(delivery, log).await;
        match (&result.outcome, token) {
            (Outcome::Answered { status: 401, .. }, Some(token)) => {
                delivery.tokens.reject(&token).await;
                self.call(delivery, log).await.0
            }
            _ => result,
        }
    }

    /// Nothing is sent that would have to be signed.
    async fn call(&self, delivery: &Delivery, log: &mut Log) -> (CallResult, Option<Token>) {
        log.note(delivery);
        let (result, token) = match authorize(delivery, &self.address, self.endpoint).await {
            Ok((authorization, token)) => {
                let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
                headers.extend(authorization.into_iter().chain(self.address.version.clone()).map(|(name, value)| (Some(name), value)));
                let usual = delivery.client.request_to(Method::GET, self.target.clone());
                (delivery.client.call(Request { headers, most_kept: MOST_READ, ..usual }).await, token)
            }
            Err(outcome) => (CallResult::refused(outcome), None),
        };
        log.complete(delivery, result.outcome.clone());
        (result, token)
    }
}

/// The variants in an answer.
fn read(result: CallResult) -> Result<Vec<domain::returns::exchange::variant::Variant>, Failure> {
    match result.outcome {
        Outcome::Answered { status, .. } if is_success(status) => {
            let variants = if result.truncated { None } else { wire::returns::variants::read(&result.answer).ok() };
            variants.ok_or_else(|| Failure::Erred("the merchant's answer cannot be read".to_owned()))
        }
        Outcome::Answered { status, .. } => Err(Failure::Erred(format!("the merchant answered {status}"))),
        Outcome::TimedOut => Err(Failure::TimedOut),
        Outcome::Unusable { why, .. } | Outcome::Unreachable(why) | Outcome::Refused(why) => Err(Failure::Erred(why)),
    }
}

/// The calls of a question. One that has no end was cut off.
#[derive(Default)]
struct Log(Vec<Entry>);

struct Entry {
    began_at: DateTime<Utc>,
    /// On the clock's uptime.
    began: Duration,
    ended: Option<(Outcome, Duration)>,
}

impl Log {
    fn note(&mut self, delivery: &Delivery) {
        self.0.push(Entry { began_at: delivery.now(), began: delivery.clock.uptime(), ended: None });
    }

    fn complete(&mut self, delivery: &Delivery, outcome: Outcome) {
        if let Some(entry) = self.0.last_mut() {
            entry.ended = Some((outcome, delivery.clock.uptime()));
        }
    }

    /// What was done, counted in the metrics.
    fn close(self, delivery: &Delivery) -> Vec<(DateTime<Utc>, Outcome)> {
        let close = |entry: Entry| {
            let (outcome, ended) = entry.ended.unwrap_or_else(|| (Outcome::TimedOut, delivery.clock.uptime()));
            delivery.metrics.attempted(INTERFACE.as_str(), outcome.word(), ended.saturating_sub(entry.began));
            (entry.began_at, outcome)
        };
        self.0.into_iter().map(close).collect()
    }
}
