//! One query to a merchant's system: one call, or two if the token was refused, within the time that a shopper waits.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::id::{EndpointId, MerchantId};
use domain::messages::delivery::{Outcome, is_success};
use domain::messages::message::Interface;
use domain::returns::exchange::variant::Variant;
use hyper::Method;
use hyper::header::{ACCEPT, HeaderMap, HeaderValue};
use store::messages::endpoints::Endpoint;
use wire::returns::variants::Listed;

use super::circuit_breaker::Ticket;
use super::limiter::{CircuitOpen, Limiter};
use super::template;
use crate::delivery::client::{CallResult, Request};
use crate::delivery::guard::{NotAllowed, Target};
use crate::delivery::handle::Delivery;
use crate::delivery::secrets::authentication::Token;
use crate::delivery::transports::dispatch::authorize;
use crate::delivery::transports::peer::{Address, Peer, Route};

const INTERFACE: Interface = Interface::ExchangeVariants;
/// The bytes of an answer that are read: 4 MiB, and one more that tells if it goes on.
pub(in crate::delivery) const MOST_READ: usize = 4 * 1024 * 1024 + 1;

/// The answer to a query, shared by all who wait for it.
pub(super) type Answer = Result<Arc<[Variant]>, Failure>;

/// The reasons a merchant's system did not return variants.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("no answer in time")]
    TimedOut,
    /// The system is unreachable, or its answer cannot be used.
    #[error("{0}")]
    Failed(String),
    /// The circuit breaker is open.
    #[error("calls have failed repeatedly, so none is made for a while")]
    CircuitOpen,
}

/// A query for the variants of one identifier.
pub(super) struct Query<'a> {
    pub(super) merchant: MerchantId,
    pub(super) endpoint: &'a Endpoint,
    pub(super) identifier: &'a str,
    /// The time for the whole query, including waiting for the limiter.
    pub(super) timeout: Duration,
}

/// A call that was made, for the reports.
pub struct Call {
    pub began_at: DateTime<Utc>,
    pub outcome: String,
}

/// Runs a query within the limits of the endpoint. Returns the answer and the calls that were made.
pub(super) async fn query(delivery: &Delivery, query: &Query<'_>, limiter: &Limiter) -> (Answer, Vec<Call>) {
    let mut log = Log::default();
    let mut ticket = None;
    let asked = async {
        let request = PreparedRequest::new(delivery, query)?;
        // A call with hardly any time left would say nothing about the merchant's system, so it is not started.
        let acquired = tokio::time::timeout(query.timeout * 2 / 3, limiter.acquire(&delivery.clock)).await;
        let permit = acquired.map_err(|_| Failure::TimedOut)?.map_err(|CircuitOpen| Failure::CircuitOpen)?;
        ticket = Some(permit.ticket);
        let Listed { variants, skipped } = read(&request.send(delivery, &mut log).await)?;
        delivery.metrics.variants_skipped.inc_by(skipped as u64);
        Ok(Arc::from(variants))
    };
    let answer = tokio::time::timeout(query.timeout, asked).await.unwrap_or(Err(Failure::TimedOut));
    let calls = log.close(delivery);
    if let Some(ticket) = ticket {
        report(delivery, limiter, ticket, &answer, calls.last());
    }
    (answer, calls.into_iter().map(|(began_at, outcome)| Call { began_at, outcome: outcome.word() }).collect())
}

/// Reports the result to the circuit breaker. A system that does not know the variant, or rejects the query, is not failing.
fn report(delivery: &Delivery, limiter: &Limiter, ticket: Ticket, answer: &Answer, last: Option<&(DateTime<Utc>, Outcome)>) {
    let alive = match last {
        Some((_, Outcome::Answered { status: 401 | 403 | 408 | 429, .. })) => false,
        Some((_, Outcome::Answered { status: 400..=499, .. })) => true,
        Some(_) | None => false,
    };
    limiter.report(ticket, answer.is_ok() || alive, delivery.clock.uptime());
}

/// The result of a trial query, for people.
pub struct Trial {
    pub outcome: Outcome,
    pub took: Duration,
    pub answer: bytes::Bytes,
    /// The variants in the answer, if it can be read.
    pub listed: Option<Listed>,
}

/// Queries once on behalf of an operator, without limits, cache or reports.
pub async fn trial(delivery: &Delivery, merchant: MerchantId, endpoint: &Endpoint, identifier: &str) -> Result<Trial, Failure> {
    let timeout = delivery.settings.outbound.variants_timeout();
    let query = Query { merchant, endpoint, identifier, timeout };
    let request = PreparedRequest::new(delivery, &query)?;
    let began = delivery.clock.uptime();
    let mut log = Log::default();
    let result = tokio::time::timeout(timeout, request.send(delivery, &mut log)).await;
    let result = result.unwrap_or_else(|_| CallResult::refused(Outcome::TimedOut));
    let listed = read(&result).ok();
    let took = delivery.clock.uptime().saturating_sub(began);
    Ok(Trial { outcome: result.outcome, took, answer: result.answer, listed })
}

/// A query that is ready to be sent.
struct PreparedRequest {
    endpoint: EndpointId,
    address: Box<Address>,
    target: Result<Target, NotAllowed>,
}

impl PreparedRequest {
    fn new(delivery: &Delivery, query: &Query<'_>) -> Result<Self, Failure> {
        let Query { merchant, endpoint, identifier, .. } = query;
        let failed = |why: &str| Failure::Failed(why.to_owned());
        let target = template::target_of(delivery.client.guard(), &endpoint.url, identifier).map_err(Failure::Failed)?;
        match Peer::new(delivery, *merchant, endpoint).map_err(|unusable| Failure::Failed(unusable.to_string()))?.route {
            Route::Endpoint(address) => Ok(Self { endpoint: endpoint.id, address, target }),
            Route::Mail | Route::OperatorHook | Route::Carrier => Err(failed("the endpoint is for internal work and has no variants")),
        }
    }

    /// Makes the call. A refused token is replaced once, and the call repeated.
    async fn send(&self, delivery: &Delivery, log: &mut Log) -> CallResult {
        let (result, token) = self.call(delivery, log).await;
        match (&result.outcome, token) {
            (Outcome::Answered { status: 401, .. }, Some(token)) => {
                delivery.tokens.reject(&token).await;
                self.call(delivery, log).await.0
            }
            _ => result,
        }
    }

    /// The request is not signed, because it has no body.
    async fn call(&self, delivery: &Delivery, log: &mut Log) -> (CallResult, Option<Token>) {
        log.begin(delivery);
        let (result, token) = match authorize(delivery, &self.address, self.endpoint).await {
            Ok((authorization, token)) => {
                let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
                headers.extend(authorization.into_iter().chain(self.address.fixed()).map(|(name, value)| (Some(name), value)));
                let request = delivery.client.request_to(Method::GET, self.target.clone());
                let identity = self.address.identity.clone();
                (delivery.client.call(Request { headers, identity, most_read: MOST_READ, most_kept: MOST_READ, ..request }).await, token)
            }
            Err(outcome) => (CallResult::refused(outcome), None),
        };
        log.complete(delivery, result.outcome.clone());
        (result, token)
    }
}

/// Parses the variants in an answer.
fn read(result: &CallResult) -> Result<Listed, Failure> {
    match &result.outcome {
        Outcome::Answered { status, .. } if is_success(*status) => {
            let listed = if result.truncated { None } else { wire::returns::variants::read(&result.answer).ok() };
            listed.ok_or_else(|| Failure::Failed("the merchant's answer could not be parsed".to_owned()))
        }
        Outcome::Answered { status, .. } => Err(Failure::Failed(format!("the merchant answered {status}"))),
        Outcome::TimedOut => Err(Failure::TimedOut),
        Outcome::Unreachable(why) | Outcome::Refused(why) => Err(Failure::Failed(why.clone())),
    }
}

/// The calls of a query. A call without an end was cut off by the timeout.
#[derive(Default)]
struct Log(Vec<Entry>);

struct Entry {
    began_at: DateTime<Utc>,
    /// On the clock's uptime.
    began: Duration,
    ended: Option<(Outcome, Duration)>,
}

impl Log {
    fn begin(&mut self, delivery: &Delivery) {
        self.0.push(Entry { began_at: delivery.now(), began: delivery.clock.uptime(), ended: None });
    }

    fn complete(&mut self, delivery: &Delivery, outcome: Outcome) {
        if let Some(entry) = self.0.last_mut() {
            entry.ended = Some((outcome, delivery.clock.uptime()));
        }
    }

    /// Adds the calls to the metrics and returns them.
    fn close(self, delivery: &Delivery) -> Vec<(DateTime<Utc>, Outcome)> {
        let close = |entry: Entry| {
            let (outcome, ended) = entry.ended.unwrap_or_else(|| (Outcome::TimedOut, delivery.clock.uptime()));
            let took = ended.saturating_sub(entry.began);
            delivery.metrics.attempted(delivery.place().label(), INTERFACE.as_str(), outcome.word(), took);
            (entry.began_at, outcome)
        };
        self.0.into_iter().map(close).collect()
    }
}
