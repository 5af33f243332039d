//! The check of an endpoint before its merchant goes live: calls that a sound system accepts, and calls that it refuses.
//!
//! All of them are test messages, or queries, and go through the transport of real ones, so they reach no other addresses and wait no
//! longer. They are in no report, and the limits of the endpoint are kept because they are made one after the other.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use domain::id::{EndpointId, MerchantId};
use domain::messages::delivery::Outcome;
use domain::messages::endpoint_check::{Body, Credentials, Finding, First, State, Trials, judge};
use domain::messages::message::Interface;
use domain::node::mode::Mode;
use hyper::Method;
use hyper::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use store::messages::endpoints::Endpoint;
use uuid::Uuid;
use wire::messages::endpoint_test;
use wire::returns::{exchange_order, variants};

use super::client::{CallResult, MOST_READ, Request, is_of_tls};
use super::due_message::Envelope;
use super::guard::{NotAllowed, Target};
use super::handle::Delivery;
use super::secrets::authentication::{Authentication, Token};
use super::secrets::signature::Secret;
use super::transports::dispatch::{authorize, headers};
use super::transports::peer::{Address, Peer, Route};
use super::variants::{MOST_READ as MOST_READ_OF_VARIANTS, template};

/// A header that authenticates a call.
type Authorization = (HeaderName, HeaderValue);

/// The findings about one endpoint.
#[derive(Clone, Debug)]
pub struct Checked {
    pub interface: Interface,
    pub endpoint: EndpointId,
    pub url: String,
    pub took: Duration,
    /// One for each check, in their order.
    pub findings: [Finding; 9],
}

impl Checked {
    /// The number of checks with this result.
    #[must_use]
    pub fn count(&self, state: State) -> usize {
        self.findings.iter().filter(|finding| finding.state() == state).count()
    }
}

/// Checks an endpoint until `ends` on the clock's uptime at the latest. Variants are queried for `variant`.
pub async fn check(
    delivery: &Delivery,
    merchant: MerchantId,
    interface: Interface,
    endpoint: &Endpoint,
    variant: &str,
    ends: Duration,
) -> Checked {
    let began = delivery.clock.uptime();
    let trials = match Tester::new(delivery, merchant, interface, endpoint, variant, ends) {
        Ok(tester) => tester.run().await,
        Err(why) => Trials { is_https: endpoint.url.starts_with("https:"), ..untried(delivery, interface, First::Unusable(why)) },
    };
    Checked {
        interface,
        endpoint: endpoint.id,
        url: endpoint.url.clone(),
        took: delivery.clock.uptime().saturating_sub(began),
        findings: judge(&trials),
    }
}

/// Trials that ended with the first call.
fn untried(delivery: &Delivery, interface: Interface, first: First) -> Trials {
    Trials {
        interface,
        credentials: Credentials::None,
        is_https: true,
        is_sandbox: delivery.settings.mode == Mode::Sandbox,
        deadline: deadline(delivery, interface),
        first,
        repeated: None,
        forged: None,
        nobody: None,
        made_up: None,
        expired: None,
        fresh: None,
    }
}

/// The time that a call has.
fn deadline(delivery: &Delivery, interface: Interface) -> Duration {
    let outbound = &delivery.settings.outbound;
    if interface.is_asked() { outbound.variants_timeout() } else { outbound.call_timeout() }
}

/// A test message.
struct TestMessage {
    id: Uuid,
    attempt: i16,
    body: Bytes,
}

/// Makes the calls to one endpoint.
struct Tester<'a> {
    delivery: &'a Delivery,
    interface: Interface,
    endpoint: EndpointId,
    address: Box<Address>,
    target: Result<Target, NotAllowed>,
    /// The time that a call has.
    deadline: Duration,
    /// The end of all calls, on the clock's uptime.
    ends: Duration,
}

impl<'a> Tester<'a> {
    fn new(
        delivery: &'a Delivery,
        merchant: MerchantId,
        interface: Interface,
        endpoint: &Endpoint,
        variant: &str,
        ends: Duration,
    ) -> Result<Self, String> {
        let peer = Peer::new(delivery, merchant, endpoint).map_err(|unusable| unusable.to_string())?;
        let Route::Endpoint(address) = peer.route else { return Err("the endpoint is for internal work".to_owned()) };
        let target = if interface.is_asked() {
            template::target_of(delivery.client.guard(), &endpoint.url, variant)?
        } else {
            address.target.clone()
        };
        let deadline = deadline(delivery, interface);
        Ok(Self { delivery, interface, endpoint: endpoint.id, address, target, deadline, ends })
    }

    async fn run(&self) -> Trials {
        let credentials = match &self.address.authentication {
            Authentication::None => Credentials::None,
            Authentication::Bearer(_) | Authentication::Basic { .. } | Authentication::ApiKey { .. } => Credentials::Fixed,
            Authentication::OAuth(_) => Credentials::Fetched,
        };
        let message = self.message();
        let (first, authorization) = self.first(&message).await;
        let is_https = self.target.as_ref().is_ok_and(Target::is_https);
        let trials = Trials { credentials, is_https, ..untried(self.delivery, self.interface, first) };
        if !matches!(trials.first, First::Answered { status: 200..=299, .. }) {
            return trials;
        }
        let (mut repeated, mut forged) = (None, None);
        if !self.interface.is_asked() {
            repeated = self.repeat(&TestMessage { attempt: 2, ..message }).await;
            forged = self.forge(authorization).await;
        }
        let strangers = if credentials == Credentials::None { Strangers::default() } else { self.strangers().await };
        let Strangers { nobody, made_up, expired } = strangers;
        let is_open = nobody.as_ref().is_none_or(Outcome::is_success);
        let fresh = if credentials == Credentials::Fetched && !is_open { self.renew().await } else { None };
        Trials { repeated, forged, nobody, made_up, expired, fresh, ..trials }
    }

    fn message(&self) -> TestMessage {
        let body = endpoint_test::body(self.interface, self.delivery.now());
        TestMessage { id: self.delivery.mint(), attempt: 1, body: body.into() }
    }

    /// Makes the first call, which is right.
    async fn first(&self, message: &TestMessage) -> (First, Option<Authorization>) {
        match self.deliver(message).await {
            Ok(Called { result, authorization, .. }) => (result.map_or(First::OutOfTime, |result| self.seen(&result)), authorization),
            Err(first) => (first, None),
        }
    }

    /// Makes a right call. As in a delivery, a refused token is replaced once.
    async fn deliver(&self, message: &TestMessage) -> Result<Called, First> {
        let called = self.call_as_usual(message).await?;
        match (called.outcome(), &called.token) {
            (Some(Outcome::Answered { status: 401, .. }), Some(token)) => {
                self.delivery.tokens.reject(token).await;
                self.call_as_usual(message).await
            }
            _ => Ok(called),
        }
    }

    /// Makes a right call, once. The error says that there is no token for it.
    async fn call_as_usual(&self, message: &TestMessage) -> Result<Called, First> {
        let Some(left) = self.left() else { return Ok(Called::default()) };
        let authorized = tokio::time::timeout(left, authorize(self.delivery, &self.address, self.endpoint)).await;
        let (authorization, token) = match authorized {
            Ok(Ok(authorized)) => authorized,
            Ok(Err(outcome)) => return Err(First::NoToken(reason(outcome))),
            Err(_) => return Err(First::NoToken("the token endpoint did not answer in time".to_owned())),
        };
        let result = self.call(authorization.clone(), message, &self.secrets()).await;
        Ok(Called { result, authorization, token })
    }

    fn seen(&self, result: &CallResult) -> First {
        let outbound = &self.delivery.settings.outbound;
        match &result.outcome {
            Outcome::Answered { status, .. } => {
                First::Answered { status: *status, took: result.took, tls: result.tls, body: self.body(result) }
            }
            // Connecting has a deadline of its own, so if that is shorter, there was a connection.
            Outcome::TimedOut => First::Silent(outbound.connect_timeout() < self.deadline),
            Outcome::Unreachable(why) if is_of_tls(why) => First::BadTls(why.clone()),
            Outcome::Unreachable(why) => First::Unreachable(why.clone()),
            Outcome::Refused(why) => First::NotAllowed(why.clone()),
        }
    }

    fn body(&self, result: &CallResult) -> Body {
        let is_read = |read: bool| if read && !result.truncated { Body::Read(0) } else { Body::Malformed };
        match self.interface {
            Interface::ExchangeVariants => match variants::read(&result.answer) {
                Ok(listed) if !result.truncated => Body::Read(listed.skipped),
                Ok(_) | Err(_) => Body::Malformed,
            },
            Interface::ExchangeOrder => is_read(exchange_order::is_readable(&result.answer)),
            Interface::Rma
            | Interface::OutboundAsn
            | Interface::InventoryReceipt
            | Interface::DropShipmentConfirmation
            | Interface::DropShipmentCancellation
            | Interface::DropShipmentPartialCancellation => Body::Unread,
        }
    }

    /// Sends the first message once more.
    async fn repeat(&self, message: &TestMessage) -> Option<Outcome> {
        match self.deliver(message).await {
            Ok(called) => called.outcome().cloned(),
            Err(_) => None,
        }
    }

    /// Sends a message with our credentials that somebody else has signed.
    async fn forge(&self, authorization: Option<Authorization>) -> Option<Outcome> {
        let secret = Secret::generate(&self.delivery.entropy).ok()?;
        Some(self.call(authorization, &self.message(), &[&secret]).await?.outcome)
    }

    /// Calls without our credentials. Nobody is tried first: whoever accepts that accepts everything.
    async fn strangers(&self) -> Strangers {
        let nobody = self.outcome(None, &self.message()).await;
        if nobody.as_ref().is_none_or(Outcome::is_success) {
            return Strangers { nobody, ..Strangers::default() };
        }
        let secret = URL_SAFE_NO_PAD.encode(self.delivery.entropy.bytes::<24>());
        let made_up = match self.address.authentication.with_secret(secret.into()).header() {
            Ok(authorization) => self.outcome(authorization, &self.message()).await,
            Err(_) => None,
        };
        let expired = match self.delivery.tokens.expired(&self.delivery.client, self.endpoint.0).await {
            Some(token) => self.outcome(Some(token.header()), &self.message()).await,
            None => None,
        };
        Strangers { nobody, made_up, expired }
    }

    /// Calls with a fresh token, as after a 401.
    async fn renew(&self) -> Option<Outcome> {
        let (_, used) = tokio::time::timeout(self.left()?, authorize(self.delivery, &self.address, self.endpoint)).await.ok()?.ok()?;
        self.delivery.tokens.reject(&used?).await;
        match self.call_as_usual(&self.message()).await {
            Ok(called) => called.outcome().cloned(),
            Err(First::NoToken(why)) => Some(Outcome::Refused(why)),
            Err(_) => None,
        }
    }

    fn secrets(&self) -> Vec<&Secret> {
        self.address.live_secrets(self.delivery.now())
    }

    /// The outcome of a call with the right signature.
    async fn outcome(&self, authorization: Option<Authorization>, message: &TestMessage) -> Option<Outcome> {
        Some(self.call(authorization, message, &self.secrets()).await?.outcome)
    }

    /// The time that is left, if any is.
    fn left(&self) -> Option<Duration> {
        self.ends.checked_sub(self.delivery.clock.uptime()).filter(|left| !left.is_zero())
    }

    /// Makes one call. `None` if the time is up.
    async fn call(&self, authorization: Option<Authorization>, message: &TestMessage, secrets: &[&Secret]) -> Option<CallResult> {
        let left = self.left()?;
        let client = &self.delivery.client;
        let version = self.address.version.clone();
        // Whoever has no credentials has no key of the gateway either.
        let extra = self.address.extra.clone().filter(|_| authorization.is_some());
        let mut request = if self.interface.is_asked() {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
            let most = MOST_READ_OF_VARIANTS;
            Request { headers, most_read: most, most_kept: most, ..client.request_to(Method::GET, self.target.clone()) }
        } else {
            let TestMessage { id, attempt, body } = message;
            let envelope = Envelope { id: *id, event: endpoint_test::EVENT, sequence: 1, attempt: *attempt, body };
            let headers = headers(secrets, &envelope, self.delivery.clock.wall());
            Request { headers, body: body.clone(), most_kept: MOST_READ, ..client.request_to(Method::POST, self.target.clone()) }
        };
        request.headers.extend(authorization.into_iter().chain(version).chain(extra).map(|(name, value)| (Some(name), value)));
        // It belongs to the connection, and there may be none without it; what is tried are the credentials above it.
        request.identity.clone_from(&self.address.identity);
        request.deadline = self.deadline.min(left);
        let result = client.call(request).await;
        let was_cut = result.outcome == Outcome::TimedOut && left < self.deadline;
        (!was_cut).then_some(result)
    }
}

/// A call with our credentials; without a result, the time was up.
#[derive(Default)]
struct Called {
    result: Option<CallResult>,
    authorization: Option<Authorization>,
    token: Option<Token>,
}

impl Called {
    fn outcome(&self) -> Option<&Outcome> {
        self.result.as_ref().map(|result| &result.outcome)
    }
}

/// The outcomes of calls without our credentials.
#[derive(Default)]
struct Strangers {
    nobody: Option<Outcome>,
    made_up: Option<Outcome>,
    expired: Option<Outcome>,
}

/// The reason that there is no token.
fn reason(outcome: Outcome) -> String {
    match outcome {
        Outcome::Unreachable(why) | Outcome::Refused(why) => why,
        Outcome::Answered { .. } | Outcome::TimedOut => outcome.word(),
    }
}
