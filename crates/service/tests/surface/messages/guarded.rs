//! No endpoint reaches the internal network: not when it is saved, nor by a trial, a delivery, the fetch of a token or a request for
//! variants. Listeners wait at the forbidden addresses, and no connection may arrive.

use std::time::Duration;

use backhaul::delivery::secrets::authentication::{Authentication, NoAuthentication, OAuth, Style};
use backhaul::delivery::secrets::stored::Secrets;
use backhaul::flow::merchants::add_merchant::add_merchant;
use backhaul::flow::messages::configure_endpoint::{self as flow, ConfigureEndpointError, EndpointChange};
use domain::id::MerchantId;
use domain::messages::message::{Interface, Kind};
use store::messages::endpoints;

use crate::binary::{backhaul, err, out};
use crate::messages::outbound_call::inside;
use crate::messages::outbound_call::peers::{NameServer, Peer};
use crate::world::World;

/// A URL outside, unknown to the test's name server.
const ELSEWHERE: &str = "https://hooks.example.com/rmas";

/// Names that resolve to internal addresses, at least in part. The settings allow them by http on the listeners' port; only the
/// addresses are forbidden.
const LISTED: [(&str, &[&str]); 12] = [
    ("here.test", &["127.0.0.1"]),
    ("here-too.test", &["::1"]),
    ("zero.test", &["0.0.0.0"]),
    ("none.test", &["::"]),
    ("mapped.test", &["::ffff:127.0.0.1"]),
    ("nat64.test", &["64:ff9b::7f00:1"]),
    ("6to4.test", &["2002:7f00:1::"]),
    ("metadata.test", &["169.254.169.254"]),
    ("link-local.test", &["fe80::1"]),
    ("mixed.test", &["127.0.0.2", "127.0.0.1"]),
    ("mixed-kinds.test", &["127.0.0.2", "::1"]),
    ("mixed-public.test", &["93.184.216.34", "127.0.0.1"]),
];

/// Names that the settings do not list, with their addresses.
const UNLISTED: [(&str, &[&str]); 7] = [
    ("private.test", &["10.0.0.1"]),
    ("carrier.test", &["100.64.0.1"]),
    ("unique-local.test", &["fd00::1"]),
    ("multicast.test", &["224.0.0.1"]),
    ("broadcast.test", &["255.255.255.255"]),
    ("documentation.test", &["192.0.2.1"]),
    ("mixed-private.test", &["93.184.216.34", "10.0.0.1"]),
];

/// Names that resolve to an address outside at the first lookup and to this machine afterwards, one for each kind of call.
const CHANGING: [&str; 4] = ["changing-trial.test", "changing-delivery.test", "changing-token.test", "changing-variants.test"];

/// A world with listeners inside, and one outside that sends everybody inside.
struct Site {
    world: World,
    inside: [Peer; 2],
    outside: Peer,
    port: u16,
    _names: NameServer,
}

impl Site {
    /// A site that also allows these destinations; `{port}` stands for the port of the listeners.
    async fn allowing(more: &[&str]) -> Self {
        let here = Peer::answering("127.0.0.1:0", &answer("200 OK", "x-inside: yes")).await;
        let port = here.port();
        let here_too = Peer::answering(&format!("[::1]:{port}"), &answer("200 OK", "x-inside: yes")).await;
        let moved = answer("302 Found", &format!("location: {}", here.url("/")));
        let outside = Peer::answering(&format!("127.0.0.2:{port}"), &moved).await;
        let steady = LISTED.iter().chain(&UNLISTED).map(|(name, addresses)| (*name, vec![addresses.to_vec()]));
        let changing = CHANGING.iter().map(|name| (*name, vec![vec!["127.0.0.2"], vec!["127.0.0.1"]]));
        let names = NameServer::knowing(steady.chain(changing)).await;
        let listed = LISTED.iter().map(|(name, _)| *name).chain(CHANGING).map(|name| format!("{name}:{port}"));
        let more = more.iter().map(|what| what.replace("{port}", &port.to_string()));
        let allowed: Vec<String> = listed.chain([format!("127.0.0.2:{port}")]).chain(more).collect();
        let world = World::with(&[
            ("BACKHAUL__OUTBOUND__ALLOWED", &format!("{allowed:?}")),
            ("BACKHAUL__OUTBOUND__NAME_SERVERS", &format!("[\"{}\"]", names.address)),
        ])
        .await;
        Self { world, inside: [here, here_too], outside, port, _names: names }
    }

    fn visits_inside(&self) -> usize {
        self.inside.iter().map(Peer::connections).sum()
    }

    /// The URL outside that redirects inside.
    fn moved(&self) -> String {
        self.outside.url("/")
    }

    /// URLs with addresses that are refused when they are saved, by either scheme.
    fn addresses(&self) -> Vec<String> {
        let of =
            |host: &&str| [format!("http://{host}:{}/", self.port), format!("https://{host}:{}/", self.port), format!("https://{host}/")];
        inside::ADDRESSES.iter().flat_map(of).chain(inside::odd(self.port)).collect()
    }

    /// URLs with names that can be saved, because saving does not resolve them.
    fn names(&self) -> Vec<String> {
        let listed = LISTED.iter().map(|(name, _)| format!("http://{name}:{}/", self.port));
        let unlisted = UNLISTED.iter().map(|(name, _)| *name).chain(inside::NAMES).map(|name| format!("https://{name}/"));
        listed.chain(unlisted).collect()
    }

    /// A new merchant for the `number`th case.
    async fn merchant(&self, number: usize) -> MerchantId {
        add_merchant(&self.world.app, "test", &format!("m-{number}").parse().unwrap(), "A merchant", None).await.unwrap()
    }

    async fn set(&self, merchant: MerchantId, url: &str, authentication: Option<Authentication>) -> Result<(), ConfigureEndpointError> {
        self.set_for(Interface::Rma, merchant, url, authentication).await
    }

    async fn set_for(
        &self,
        interface: Interface,
        merchant: MerchantId,
        url: &str,
        authentication: Option<Authentication>,
    ) -> Result<(), ConfigureEndpointError> {
        let change = EndpointChange { url: Some(url.to_owned()), authentication, ..EndpointChange::default() };
        flow::set_endpoint(&self.world.app, "test", merchant, interface, change).await.map(|_| ())
    }

    /// A merchant whose endpoint was changed in the database directly, as if an older guard had accepted it.
    async fn misled(&self, number: usize, url: &str, authentication: Authentication) -> MerchantId {
        self.misled_for(Interface::Rma, number, url, authentication).await
    }

    async fn misled_for(&self, interface: Interface, number: usize, url: &str, authentication: Authentication) -> MerchantId {
        let merchant = self.merchant(number).await;
        self.set_for(interface, merchant, &of_variants(ELSEWHERE), None).await.unwrap();
        let app = &self.world.app;
        let mut tx = app.begin(merchant).await.unwrap();
        let mut endpoint = endpoints::lock(&mut tx, Kind::Of(interface)).await.unwrap().unwrap();
        let secrets = Secrets { authentication, ..Secrets::open(app, merchant, &endpoint).unwrap() };
        secrets.seal(app, &mut tx, &mut endpoint).await.unwrap();
        url.clone_into(&mut endpoint.url);
        endpoints::save(&mut tx, &endpoint).await.unwrap();
        tx.commit().await.unwrap();
        merchant
    }

    /// The outcomes of the requests for variants, each with its count.
    async fn asked_for_variants(&self) -> Vec<String> {
        self.world.app.variants.wait_until_idle().await;
        let counted =
            "select sum(count) || ' ' || outcome from attempt_hourly where kind = 'exchange_variants' group by outcome order by 1";
        self.world.database.texts(counted).await
    }

    /// The outcomes of the attempts, each with its count.
    async fn outcomes(&self) -> Vec<String> {
        self.world.database.texts("select count(*) || ' ' || outcome from attempt group by outcome order by outcome").await
    }
}

/// A response that closes its connection, so that every call opens a new one.
fn answer(status: &str, header: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{header}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
}

/// The URL with a placeholder for a variant identifier.
fn of_variants(url: &str) -> String {
    format!("{}/{{variant_identifier}}", url.trim_end_matches('/'))
}

fn oauth(token_url: &str) -> Authentication {
    let (token_url, client_id) = (token_url.to_owned(), "backhaul".to_owned());
    Authentication::OAuth(OAuth { token_url, client_id, client_secret: "secret".into(), scope: None, style: Style::Json, extra: None })
}

#[tokio::test]
async fn an_address_inside_is_not_saved() {
    let site = Site::allowing(&[]).await;
    let merchant = site.merchant(0).await;
    let addresses = site.addresses();
    assert!(addresses.len() >= 200, "{}", addresses.len());
    for url in &addresses {
        let refused = site.set(merchant, url, None).await;
        assert!(matches!(refused, Err(ConfigureEndpointError::NotAllowed(_))), "{url}");
        let refused = site.set_for(Interface::ExchangeVariants, merchant, &of_variants(url), None).await;
        assert!(matches!(refused, Err(ConfigureEndpointError::NotAllowed(_))), "variants of {url}");
        let refused = site.set(merchant, ELSEWHERE, Some(oauth(url))).await;
        assert!(matches!(refused, Err(ConfigureEndpointError::Authentication(NoAuthentication::TokenUrl(_)))), "a token from {url}");
    }
    assert_eq!(site.world.database.count("endpoint").await, 0);
    // A name can be saved: it is resolved at each call, because its address may change.
    for url in site.names() {
        site.set(merchant, &url, Some(oauth(&url))).await.unwrap();
    }
    assert_eq!((site.visits_inside(), site.outside.connections()), (0, 0));
}

#[tokio::test]
async fn the_command_line_saves_no_address_inside() {
    let site = Site::allowing(&[]).await;
    site.merchant(0).await;
    let set = |words: &[&str]| backhaul(&site.world.database, &[&["endpoint", "set", "--merchant", "m-0", "rma"], words].concat());
    for (url, why) in [
        (format!("http://127.0.0.1:{}/", site.port), "the URL must start with https://"),
        ("https://0xa9fea9fe/latest/meta-data/".to_owned(), "the address is the address of a cloud's metadata, which may not be called"),
    ] {
        let error = err(&set(&["--url", &url]));
        assert!(error.contains("the URL cannot be called") && error.contains(why), "{error}");
    }
    out(&set(&["--url", ELSEWHERE]));
    assert_eq!(site.visits_inside(), 0);
}

#[tokio::test]
async fn a_trial_does_not_reach_inside() {
    let site = Site::allowing(&[]).await;
    let app = &site.world.app;
    for (number, url) in site.addresses().into_iter().enumerate() {
        let merchant = site.misled(number, &url, Authentication::None).await;
        let refused = flow::test_endpoint(app, "test", merchant, Interface::Rma).await;
        assert!(matches!(refused, Err(ConfigureEndpointError::NotAllowed(_))), "{url}");
    }
    assert_eq!(site.world.owed().await, 0);
    let names = site.names();
    for (number, url) in names.iter().enumerate() {
        let merchant = site.misled(1_000 + number, url, Authentication::None).await;
        flow::test_endpoint(app, "test", merchant, Interface::Rma).await.unwrap();
    }
    site.world.deliver_all_due().await;
    assert_eq!(site.outcomes().await, [format!("{} refused", names.len())]);
    let merchant = site.misled(2_000, &site.moved(), Authentication::None).await;
    flow::test_endpoint(app, "test", merchant, Interface::Rma).await.unwrap();
    site.world.deliver_all_due().await;
    assert_eq!(site.outcomes().await, ["1 302".to_owned(), format!("{} refused", names.len())]);
    assert_eq!((site.visits_inside(), site.outside.connections()), (0, 1), "a redirect is not followed");
}

#[tokio::test]
async fn a_delivery_does_not_reach_inside() {
    let site = Site::allowing(&[]).await;
    let urls = [site.addresses(), site.names()].concat();
    for (number, url) in urls.iter().enumerate() {
        let merchant = site.misled(number, url, Authentication::None).await;
        site.world.owe(merchant, "R-1", 1).await;
    }
    site.world.deliver_all_due().await;
    assert_eq!(site.outcomes().await, [format!("{} refused", urls.len())]);
    assert_eq!(site.world.database.texts("select distinct attempts::text from delivery").await, ["1"], "each is retried");
    let merchant = site.misled(1_000, &site.moved(), Authentication::None).await;
    site.world.owe(merchant, "R-1", 1).await;
    site.world.deliver_all_due().await;
    assert_eq!(site.outcomes().await, ["1 302".to_owned(), format!("{} refused", urls.len())]);
    assert_eq!((site.visits_inside(), site.outside.connections()), (0, 1), "a redirect is not followed");
}

#[tokio::test]
async fn a_token_is_not_fetched_from_inside() {
    let site = Site::allowing(&[]).await;
    let urls = [site.addresses(), site.names()].concat();
    for (number, url) in urls.iter().enumerate() {
        let merchant = site.misled(number, &site.moved(), oauth(url)).await;
        site.world.owe(merchant, "R-1", 1).await;
    }
    site.world.deliver_all_due().await;
    assert_eq!(site.outcomes().await, [format!("{} refused", urls.len())]);
    assert_eq!((site.visits_inside(), site.outside.connections()), (0, 0), "without a token the endpoint is not called");
    let merchant = site.misled(1_000, &site.moved(), oauth(&site.moved())).await;
    site.world.owe(merchant, "R-1", 1).await;
    site.world.deliver_all_due().await;
    assert_eq!(site.outcomes().await, [format!("{} refused", urls.len() + 1)]);
    assert_eq!((site.visits_inside(), site.outside.connections()), (0, 1), "a redirect is not followed");
}

#[tokio::test]
async fn a_name_that_leads_inside_the_next_time_is_not_followed() {
    let site = Site::allowing(&[]).await;
    let [trial, delivery, token, variants] = CHANGING.map(|name| format!("http://{name}:{}/", site.port));
    let app = &site.world.app;
    let tried = site.merchant(0).await;
    site.set(tried, &trial, None).await.unwrap();
    for outcomes in [&["1 302"][..], &["1 302", "1 refused"]] {
        flow::test_endpoint(app, "test", tried, Interface::Rma).await.unwrap();
        site.world.deliver_all_due().await;
        assert_eq!(site.outcomes().await, outcomes);
    }
    let [owed, authenticated] = [site.merchant(1).await, site.merchant(2).await];
    site.set(owed, &delivery, None).await.unwrap();
    site.set(authenticated, ELSEWHERE, Some(oauth(&token))).await.unwrap();
    for merchant in [owed, authenticated] {
        site.world.owe(merchant, "R-1", 1).await;
    }
    site.world.deliver_all_due().await;
    assert_eq!(site.outside.connections(), 3, "both were outside at first");
    for wait in [6, 45] {
        site.world.time_passes(Duration::from_secs(wait));
        site.world.deliver_all_due().await;
    }
    let query = "select number || ' ' || outcome || ' ' || coalesce(reason, '-') from attempt join message using (merchant_id, message_id) \
        where kind = 'rma' order by number, outcome";
    let inside = "refused the host name resolves to an address that may not be called";
    let token_inside = "refused the token endpoint: the host name resolves to an address that may not be called";
    let mut expected = vec!["1 302 -".to_owned(), "1 refused the token endpoint answered 302".to_owned()];
    expected.extend((2..=3).flat_map(|number| [format!("{number} {inside}"), format!("{number} {token_inside}")]));
    let mut found = site.world.database.texts(query).await;
    found.sort();
    assert_eq!(found, expected);
    assert_eq!((site.visits_inside(), site.outside.connections()), (0, 3));
    let asked = site.merchant(3).await;
    site.set_for(Interface::ExchangeVariants, asked, &of_variants(&variants), None).await.unwrap();
    for expected in [&["1 302"][..], &["1 302", "1 refused"]] {
        app.variants.ask(app, asked, "V").await.unwrap_err();
        assert_eq!(site.asked_for_variants().await, expected);
    }
    assert_eq!((site.visits_inside(), site.outside.connections()), (0, 4));
}

#[tokio::test]
async fn a_question_for_variants_does_not_reach_inside() {
    let site = Site::allowing(&[]).await;
    let (app, interface) = (&site.world.app, Interface::ExchangeVariants);
    let urls = [site.addresses(), site.names()].concat();
    for (number, url) in urls.iter().enumerate() {
        let merchant = site.misled_for(interface, number, &of_variants(url), Authentication::None).await;
        app.variants.ask(app, merchant, "V").await.unwrap_err();
        let merchant = site.misled_for(interface, 1_000 + number, &of_variants(&site.moved()), oauth(url)).await;
        app.variants.ask(app, merchant, "V").await.unwrap_err();
    }
    assert_eq!(site.asked_for_variants().await, [format!("{} refused", 2 * urls.len())]);
    let merchant = site.misled_for(interface, 2_000, &of_variants(&site.moved()), Authentication::None).await;
    app.variants.ask(app, merchant, "V").await.unwrap_err();
    assert_eq!(site.asked_for_variants().await, ["1 302".to_owned(), format!("{} refused", 2 * urls.len())]);
    assert_eq!((site.visits_inside(), site.outside.connections()), (0, 1), "a redirect is not followed");
}

/// Proves that the listeners would notice: an allowed caller does arrive.
#[tokio::test]
async fn whoever_is_allowed_inside_comes_from_each_place() {
    let site = Site::allowing(&["127.0.0.1:{port}", "[::1]:{port}"]).await;
    let [here, here_too] = [site.inside[0].url("/"), site.inside[1].url("/")];
    let merchant = site.merchant(0).await;
    site.set(merchant, &here, None).await.unwrap();
    flow::test_endpoint(&site.world.app, "test", merchant, Interface::Rma).await.unwrap();
    site.world.deliver_all_due().await;
    assert_eq!(site.visits_inside(), 1, "the trial");
    site.world.owe(merchant, "R-1", 1).await;
    site.world.deliver_all_due().await;
    assert_eq!(site.visits_inside(), 2, "the delivery");
    site.set(merchant, &here, Some(oauth(&here_too))).await.unwrap();
    site.world.owe(merchant, "R-1", 2).await;
    site.world.deliver_all_due().await;
    assert_eq!(site.inside.each_ref().map(Peer::connections), [2, 1], "the token");
    let app = &site.world.app;
    site.set_for(Interface::ExchangeVariants, merchant, &of_variants(&here), None).await.unwrap();
    app.variants.ask(app, merchant, "V").await.unwrap_err();
    assert_eq!(site.inside.each_ref().map(Peer::connections), [3, 1], "the request for variants");
    // And so does a name with an allowed address.
    let merchant = site.merchant(1).await;
    site.set(merchant, &format!("http://here.test:{}/", site.port), None).await.unwrap();
    site.world.owe(merchant, "R-1", 1).await;
    site.world.deliver_all_due().await;
    assert_eq!(site.inside.each_ref().map(Peer::connections), [4, 1]);
}
