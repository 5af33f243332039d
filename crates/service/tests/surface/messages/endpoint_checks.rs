//! The check of endpoints before going live: each fault of a merchant's systems is named by its own sentence, and none is found in
//! healthy ones.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use backhaul::delivery::endpoint_check::Checked;
use backhaul::delivery::secrets::authentication::{Authentication, OAuth, Style};
use backhaul::flow::messages::check_endpoints::check_endpoints;
use backhaul::flow::messages::configure_endpoint::{EndpointChange, set_endpoint};
use domain::messages::endpoint_check::{Check, Finding, State};
use domain::messages::message::Interface;
use sandbox::merchant::{Careful, Demand, Flaw, Merchant as Systems, OnShelf};
use secrecy::ExposeSecret as _;
use wire::messages::endpoint_check::{happened, next, word};

use super::outbound_call::peers::Authority;
use crate::world::World;
use crate::world::receiver::{PATH, Receiver};

const TOKEN: &str = "the-merchants-token";

fn bearer() -> Demand {
    Demand::Header("authorization".to_owned(), format!("Bearer {TOKEN}"))
}

fn oauth(systems: &Systems) -> Authentication {
    Authentication::OAuth(OAuth {
        token_url: systems.tokens().url(),
        client_id: "backhaul".to_owned(),
        client_secret: "hush".into(),
        scope: None,
        style: Style::Form,
        extra: None,
    })
}

impl Receiver<'_> {
    /// Adds or changes an endpoint. Returns its signing secret, if it is new.
    async fn sets(&self, interface: Interface, change: EndpointChange) -> Option<String> {
        let configured = set_endpoint(&self.world.app, "test", self.merchant, interface, change).await.unwrap();
        configured.secret.map(|secret| secret.expose_secret().to_owned())
    }

    /// Receives with care at `path`, on the clock of the world.
    fn cares(&self, path: &str, secret: &str, demand: Demand, flaw: Option<Flaw>) {
        let clock = self.world.app.clock.clone();
        let time = move |_: &_| SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(clock.wall().timestamp()).unwrap());
        self.systems.receives(path, Careful::new(secret, demand).at(time).with(flaw));
    }

    async fn checked(&self) -> Vec<Checked> {
        check_endpoints(&self.world.app, "test", self.merchant, None, "RUN-42", |_| ()).await.unwrap()
    }

    /// Everything that failed or was warned about, as `interface state: sentence`. Each has a next step.
    async fn faults(&self) -> Vec<String> {
        let checked = self.checked().await;
        let findings = checked.iter().flat_map(|checked| checked.findings.iter().map(|finding| (checked.interface, finding)));
        let is_fault = |finding: &Finding| matches!(finding.state(), State::Failed | State::Warned);
        let told = findings.filter(|(_, finding)| is_fault(finding)).map(|(interface, finding)| {
            assert!(next(finding).is_some(), "{finding:?}");
            format!("{interface} {}: {}", word(finding.state()), happened(finding))
        });
        told.collect()
    }
}

/// A merchant whose only endpoint takes a bearer token.
async fn with_bearer(world: &World) -> Receiver<'_> {
    let change = EndpointChange { authentication: Some(Authentication::Bearer(TOKEN.into())), ..EndpointChange::default() };
    world.receiver_with("acme", change).await
}

#[tokio::test]
async fn nothing_is_found_in_healthy_systems_and_nothing_changes_there() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.systems.has_variants("RUN-42", [OnShelf::new("RUN-43", "43", 5_000)]);
    for interface in Interface::ALL {
        let authentication = match interface {
            Interface::Rma => oauth(&receiver.systems),
            Interface::OutboundAsn => Authentication::Basic { user: "backhaul".to_owned(), password: "hush".into() },
            Interface::InventoryReceipt => Authentication::ApiKey { header: "X-Api-Key".to_owned(), value: TOKEN.into() },
            Interface::DropShipmentConfirmation => Authentication::None,
            _ => Authentication::Bearer(TOKEN.into()),
        };
        let demand = match interface {
            Interface::Rma => Demand::Token,
            Interface::OutboundAsn => Demand::Header("authorization".to_owned(), "Basic YmFja2hhdWw6aHVzaA==".to_owned()),
            Interface::InventoryReceipt => Demand::Header("x-api-key".to_owned(), TOKEN.to_owned()),
            Interface::DropShipmentConfirmation => Demand::Nothing,
            _ => bearer(),
        };
        let url = Some(receiver.systems.url(interface.path()));
        let change = EndpointChange { url, authentication: Some(authentication), ..EndpointChange::default() };
        let secret = receiver.sets(interface, change).await.unwrap_or_else(|| receiver.secret.clone());
        let path = if interface.is_asked() { "/sku" } else { interface.path() };
        receiver.cares(path, &secret, demand, None);
    }
    let checked = receiver.checked().await;
    assert_eq!(checked.iter().map(|checked| checked.interface).collect::<Vec<_>>(), Interface::ALL);
    for checked in &checked {
        let others = checked.findings.iter().filter(|finding| finding.state() != State::Passed);
        let others: Vec<Check> =
            others.inspect(|finding| assert_eq!(finding.state(), State::NotApplicable, "{checked:?}")).map(Finding::check).collect();
        let expected: &[Check] = match checked.interface {
            Interface::Rma => &[Check::Secure, Check::Answer],
            Interface::ExchangeOrder => &[Check::Secure, Check::Token],
            Interface::ExchangeVariants => &[Check::Secure, Check::Signature, Check::Repeated, Check::Token],
            Interface::DropShipmentConfirmation => &[Check::Secure, Check::Credentials, Check::Token, Check::Answer],
            _ => &[Check::Secure, Check::Token, Check::Answer],
        };
        assert_eq!(others, expected, "{checked:?}");
    }
    // A merchant can tell everything that arrived from real messages, and the feed and the reports do not have it.
    for received in receiver.systems.received().iter().filter(|received| received.method() == "POST") {
        assert_eq!(received.header("x-service-event"), Some("endpoint.test"));
        assert_eq!(received.header("x-service-trial"), Some("true"));
    }
    for table in ["message", "delivery", "attempt", "attempt_hourly", "failure"] {
        assert_eq!(world.database.count(table).await, 0, "{table}");
    }
    // All of them count as tested, and the check is in the audit once.
    assert_eq!(world.database.texts("select distinct (tested_at is not null)::text from endpoint where not internal").await, ["true"]);
    let audit = world.database.texts("select actor || ' ' || detail from audit where action = 'endpoint.checked'").await;
    assert_eq!(audit.len(), 1);
    assert!(audit[0].starts_with("test ") && Interface::ALL.iter().all(|interface| audit[0].contains(interface.as_str())), "{audit:?}");
}

#[tokio::test]
async fn each_fault_is_named_by_its_own_sentence() {
    let world = World::new().await;
    let receiver = with_bearer(&world).await;
    let fault = async |flaw| {
        receiver.cares("/", &receiver.secret, bearer(), flaw);
        receiver.faults().await
    };
    for (flaw, told) in [
        (Flaw::Fails, "A right call was answered 500: the system failed while it handled it."),
        (Flaw::Redirects, "A right call was answered 302, a redirect, which is not followed."),
        (Flaw::RefusesCredentials, "The right credentials were refused: 401."),
        (Flaw::AcceptsAnybody, "A call without any credentials was accepted: 200. The system lets anybody in."),
        (Flaw::AcceptsAnyCredentials, "A call with made-up credentials was accepted: 200. The system does not compare them."),
        (Flaw::IgnoresSignatures, "A message with a wrong signature was accepted: 200. The system does not verify signatures."),
        (Flaw::RefusesRepeats, "The same webhook-id was accepted at first, and then not: 409."),
    ] {
        assert_eq!(fault(Some(flaw)).await, [format!("rma failed: {told}")], "{flaw:?}");
    }
    let tested = "select (tested_at is not null)::text from endpoint where not internal";
    assert_eq!(world.database.texts(tested).await, ["false"], "a faulty endpoint does not count as tested");
    assert_eq!(fault(None).await, Vec::<String>::new());
    assert_eq!(world.database.texts(tested).await, ["true"]);
}

#[tokio::test]
async fn a_system_that_is_not_there_is_unreachable() {
    let world = World::new().await;
    let receiver = with_bearer(&world).await;
    let Receiver { systems, merchant, .. } = receiver;
    systems.stop().await;
    let checked = check_endpoints(&world.app, "test", merchant, None, "test", |_| ()).await.unwrap();
    let told: Vec<String> = checked[0].findings.iter().map(happened).collect();
    assert_eq!(told[0], "The system could not be reached: the connection was refused.");
    assert_eq!(told[3], "Not checked, because “Reached” did not pass.");
    assert_eq!((checked[0].count(State::Failed), checked[0].count(State::NotChecked)), (1, 5));
}

#[tokio::test]
async fn a_certificate_for_another_name_is_named_and_a_right_one_is_accepted() {
    let authority = Authority::new();
    let world = World::with(&[("BACKHAUL__OUTBOUND__EXTRA_ROOTS", authority.file.to_str().unwrap())]).await;
    let secure = async |name: &str, handle: &str| {
        let (certificate, key) = authority.pair(name);
        let systems = Systems::start_tls(certificate.as_bytes(), key.as_bytes()).await.unwrap();
        let receiver = world.receiver_at(handle, systems, EndpointChange::default()).await;
        receiver.cares("/", &receiver.secret, Demand::Nothing, None);
        let checked = receiver.checked().await.remove(0);
        (checked.count(State::Failed), happened(&checked.findings[0]), happened(&checked.findings[1]))
    };
    let reached = "The address was found and took the connection.".to_owned();
    let told = "No secure connection could be made: the certificate is for another name.".to_owned();
    assert_eq!(secure("other.example.com", "acme").await, (1, reached.clone(), told));
    assert_eq!(secure("127.0.0.1", "acorn").await, (0, reached, "TLS 1.3 with a valid certificate.".to_owned()));
}

#[tokio::test]
async fn a_system_that_hangs_is_given_up_at_the_deadline() {
    let world = World::with(&[("BACKHAUL__OUTBOUND__CALL_TIMEOUT_MS", "1000"), ("BACKHAUL__OUTBOUND__CONNECT_TIMEOUT_MS", "900")]).await;
    let receiver = with_bearer(&world).await;
    receiver.cares("/", &receiver.secret, bearer(), Some(Flaw::Hangs));
    assert_eq!(receiver.faults().await, ["rma failed: It took the call and did not answer within 1 s."]);
    assert_eq!(receiver.systems.count(), 1, "no other call is made");
}

#[tokio::test]
async fn a_slow_answer_is_warned_about() {
    let world = World::new().await;
    let receiver = with_bearer(&world).await;
    receiver.cares("/", &receiver.secret, bearer(), None);
    let (clock, first) = (world.app.clock.clone(), AtomicBool::new(true));
    receiver.systems.on_request(move |_| {
        if first.swap(false, Ordering::SeqCst) {
            clock.advance(Duration::from_secs(7));
        }
    });
    assert_eq!(receiver.faults().await, ["rma warned: It answered after 7.00 s, more than a third of the 20 s that a call has."]);
}

#[tokio::test]
async fn whoever_accepts_a_stale_token_is_told() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.sets(Interface::Rma, EndpointChange { authentication: Some(oauth(&receiver.systems)), ..EndpointChange::default() }).await;
    let fault = async |flaw| {
        receiver.cares("/", &receiver.secret, Demand::Token, flaw);
        receiver.faults().await
    };
    assert_eq!(fault(None).await, Vec::<String>::new());
    assert_eq!(receiver.systems.token_fetches(), 2, "one to begin with, and a fresh one");
    let told = "was accepted: 200. The system does not check whether a token is valid.";
    assert_eq!(fault(Some(Flaw::AcceptsAnyCredentials)).await, [format!("rma failed: A token that was never issued {told}")]);
    assert_eq!(fault(Some(Flaw::KeepsTokens)).await, Vec::<String>::new(), "no token has expired yet");
    // A token that has expired since is tried as well.
    world.time_passes(Duration::from_hours(2));
    assert_eq!(fault(Some(Flaw::KeepsTokens)).await, [format!("rma failed: A token that has expired {told}")]);
    world.time_passes(Duration::from_hours(2));
    assert_eq!(fault(None).await, Vec::<String>::new());
    let refused = "rma failed: No access token could be fetched: the token endpoint answered 401.";
    receiver.systems.expect_client("somebody", "else");
    world.time_passes(Duration::from_hours(2));
    assert_eq!(fault(None).await, [refused]);
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_told() {
    let world = World::new().await;
    let receiver = world.receiver("acme").await;
    receiver.cares(PATH, &receiver.secret, Demand::Nothing, Some(Flaw::AnswersMalformed));
    receiver.systems.has_variants("RUN-42", [OnShelf::new("RUN-43", "43", 5_000)]);
    let url = |path: &str| EndpointChange { url: Some(receiver.systems.url(path)), ..EndpointChange::default() };
    let secret = receiver.sets(Interface::ExchangeOrder, url("/exchange_orders")).await.unwrap();
    receiver.sets(Interface::ExchangeVariants, url("/sku/{variant_identifier}/variants")).await;
    let fault = async |flaw| {
        receiver.cares("/exchange_orders", &secret, Demand::Nothing, flaw);
        receiver.cares("/sku", &secret, Demand::Nothing, flaw);
        receiver.faults().await
    };
    let told = "failed: The body of the answer is malformed: it cannot be read.";
    assert_eq!(fault(Some(Flaw::AnswersMalformed)).await, [format!("exchange_order {told}"), format!("exchange_variants {told}")]);
    assert_eq!(fault(None).await, Vec::<String>::new(), "nobody reads the body of other answers");
    let checked =
        check_endpoints(&world.app, "test", receiver.merchant, Some(Interface::ExchangeVariants), "unknown", |_| ()).await.unwrap();
    assert_eq!((checked.len(), &checked[0].findings[3]), (1, &Finding::UnknownVariant));
}

#[tokio::test]
async fn without_an_endpoint_there_is_nothing_to_check() {
    let world = World::new().await;
    let merchant = world.merchant("acme").await;
    let refused = check_endpoints(&world.app, "test", merchant.id, None, "test", |_| ()).await.unwrap_err();
    assert!(refused.to_string().contains("the merchant has no endpoint"), "{refused}");
    let refused = check_endpoints(&world.app, "test", merchant.id, Some(Interface::Rma), "test", |_| ()).await.unwrap_err();
    assert!(refused.to_string().contains("backhaul endpoint set --merchant HANDLE rma"), "{refused}");
}
