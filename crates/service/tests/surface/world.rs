//! The world of a test: its own database, the service listening on a port, and the roles that call it.

mod boutique;
pub mod carrier;
pub mod console;
mod database;
mod drop_ship;
mod exchanges;
mod inbound;
pub mod log;
mod order;
pub mod provider;
pub mod receiver;
mod returns;
pub mod script;
pub mod shopper;
pub mod two_cells;
pub mod warehouse;

use std::sync::Arc;
use std::time::Duration;

use backhaul::app::App;
use backhaul::flow::merchants::add_merchant::{NewMerchant, add_merchant_to};
use backhaul::flow::merchants::configure_merchant as flow;
use backhaul::http;
use backhaul::http::listener;
use backhaul::node::Phase;
use backhaul::platform::clock::Clock;
use backhaul::platform::config::Settings;
use backhaul::platform::entropy::Entropy;
use chrono::{DateTime, TimeDelta, Utc};
use domain::id::{Handle, MerchantId};
use domain::merchants::access::{Scope, Scopes};
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use sandbox::fault_proxy::FaultProxy;
use sandbox::postgres::Cluster;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use sqlx::ConnectOptions as _;
use tokio::net::TcpListener;

pub use self::boutique::{
    Boutique, EXCHANGE_ORDERS, and_socks, exchange, exchange_summary, exchanged_for, for_a_gift_card, with_gift_cards,
};
pub use self::database::Database;
pub use self::drop_ship::{DropShipper, cancelled_items, drop_ship, drop_ship_in_full, shipment};
pub use self::inbound::{WAREHOUSE, Yard, asn, scan, scan_for, the_unit, units_of};
pub use self::order::{line, message, order, plain_refund, refund};
pub use self::returns::{Shop, mail_back, refund_for, refunded, reported, sold};

/// The time at which every test begins.
pub fn beginning() -> DateTime<Utc> {
    wire::time::read("2026-03-01T12:00:00Z").unwrap()
}

/// A running service and everything around it.
pub struct World {
    /// The app of the cell in which merchants are added.
    pub app: App,
    /// The app of the first cell, which keeps those of all cells.
    pub process: App,
    /// The database of the cell in which merchants are added.
    pub database: Arc<Database>,
    pub base: String,
    pub admin: String,
    /// The address of the shoppers' portal.
    pub portal: String,
    /// The address of the operator's console.
    pub console: String,
    pub client: reqwest::Client,
    /// Created when a test first delivers.
    pub deliverer: tokio::sync::OnceCell<backhaul::delivery::deliverer::Deliverer>,
}

impl World {
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// A world with these settings on top of the usual ones.
    pub async fn with(variables: &[(&str, &str)]) -> Self {
        let database = if are_about_one_cell(variables) { Database::create_alone().await } else { Database::create().await };
        let database = Arc::new(database);
        let settings = settings(&database, variables);
        Self::on(database, settings, 1, Clock::fixed(beginning())).await
    }

    /// A world with one cell, even where others have several.
    pub async fn of_one_cell() -> Self {
        Self::on_database(Arc::new(Database::create_alone().await)).await
    }

    /// A world on this database, which may have the schema of an earlier version.
    pub async fn on_database(database: Arc<Database>) -> Self {
        let settings = settings(&database, &[]);
        Self::on(database, settings, 1, Clock::fixed(beginning())).await
    }

    /// A node on the same database that connects as `role`.
    pub async fn node_as(&self, role: &str, password: &str) -> Self {
        let url = self.database.options_as(role, password).to_url_lossy().to_string();
        let settings = settings(&self.database, &[("DATABASE_URL", &url)]);
        Self::on(self.database.clone(), settings, 6, self.app.clock.clone()).await
    }

    /// A world with these settings, whose database is on a server of the test's own.
    pub async fn on_a_server(cluster: &Cluster, variables: &[(&str, &str)]) -> Self {
        let database = Arc::new(Database::create_on(cluster).await);
        let settings = settings(&database, variables);
        Self::on(database, settings, 1, Clock::fixed(beginning())).await
    }

    /// A world whose service reaches this database at `url`.
    pub async fn at(database: Database, url: &str) -> Self {
        let settings = settings(&database, &[("DATABASE_URL", url)]);
        Self::on(Arc::new(database), settings, 1, Clock::fixed(beginning())).await
    }

    /// A world with these settings, and the network between its service and its database.
    pub async fn over_a_network(variables: &[(&str, &str)]) -> (Self, FaultProxy) {
        let database = Arc::new(Database::create_alone().await);
        let (network, url) = database.over_a_network().await;
        let variables: Vec<_> = variables.iter().copied().chain([("DATABASE_URL", url.as_str())]).collect();
        let settings = settings(&database, &variables);
        (Self::on(database, settings, 1, Clock::fixed(beginning())).await, network)
    }

    /// A node on the same database whose system clock is off by this much.
    pub async fn node_with_a_clock_wrong_by(&self, by: TimeDelta) -> Self {
        Self::on(self.database.clone(), self.app.settings.clone(), 4, Clock::system_wrong_by(by)).await
    }

    /// A node on the same database with these settings on top of the usual ones.
    pub async fn node_with(&self, variables: &[(&str, &str)]) -> Self {
        let settings = settings(&self.database, variables);
        Self::on(self.database.clone(), settings, 7, self.app.clock.clone()).await
    }

    /// A second node on the same database: its own app, its own caches, the same settings and clock.
    pub async fn second_node(&self) -> Self {
        self.another_node(2).await
    }

    /// A node on the same database with its own clock, which starts at the current time.
    pub async fn node_with_its_own_clock(&self) -> Self {
        Self::on(self.database.clone(), self.app.settings.clone(), 5, Clock::fixed(self.app.clock.wall())).await
    }

    /// Another node on the same database; `seed` gives it ids of its own.
    pub async fn another_node(&self, seed: u64) -> Self {
        Self::on(self.database.clone(), self.app.settings.clone(), seed, self.app.clock.clone()).await
    }

    async fn on(database: Arc<Database>, settings: Settings, seed: u64, clock: Clock) -> Self {
        let process = App::new(settings, clock, Entropy::seeded(seed)).unwrap();
        let base = serve(&process, http::router(&process)).await;
        let admin = serve(&process, http::admin_router(&process, None)).await;
        let portal = serve(&process, http::portal_listener_router(&process)).await;
        let console = serve(&process, http::console_router(&process, backhaul::cli::operator_api())).await;
        process.enter(Phase::Serving);
        let app = process.of_name(database.cell()).unwrap_or_else(|| process.clone());
        let (client, deliverer) = (reqwest::Client::new(), tokio::sync::OnceCell::new());
        Self { app, process, database, base, admin, portal, console, client, deliverer }
    }

    /// The same process with two cells, seen from the first one and from the second one.
    pub async fn of_two_cells() -> (Self, Self) {
        let (home, second) = Database::create_two().await;
        let there = Self::on(second.clone(), settings(&second, &[]), 1, Clock::fixed(beginning())).await;
        let Self { process, base, admin, portal, console, client, .. } = &there;
        let here = Self {
            app: process.clone(),
            process: process.clone(),
            database: home,
            base: base.clone(),
            admin: admin.clone(),
            portal: portal.clone(),
            console: console.clone(),
            client: client.clone(),
            deliverer: tokio::sync::OnceCell::new(),
        };
        (here, there)
    }

    /// Adds a merchant with a credential for every scope, and gets a token for it.
    pub async fn merchant(&self, handle: &str) -> Merchant<'_> {
        self.merchant_with(handle, Scopes::all()).await
    }

    pub async fn merchant_with(&self, handle: &str, scopes: Scopes) -> Merchant<'_> {
        let handle: Handle = handle.parse().unwrap();
        let id = self.adds_merchant(&handle).await;
        let credential = flow::issue_credential(&self.app, "test", id, &flow::Terms::open(scopes, "")).await.unwrap();
        let client_secret = credential.client_secret.expose_secret().to_owned();
        let mut merchant = Merchant { world: self, id, client_id: credential.client_id, client_secret, token: String::new() };
        merchant.token = merchant.gets_a_token().await;
        merchant
    }

    /// Adds a merchant to the cell of this world.
    pub async fn adds_merchant(&self, handle: &Handle) -> MerchantId {
        let cell = Some(self.app.place().name());
        let new = NewMerchant { handle, name: "A merchant", technical_contact: None, cell };
        add_merchant_to(&self.app, "test", &new).await.unwrap()
    }

    pub async fn ask(&self, method: Method, path: &str, shape: impl FnOnce(reqwest::RequestBuilder) -> reqwest::RequestBuilder) -> Reply {
        let request = shape(self.client.request(method, format!("{}{path}", self.base)));
        Reply::from(request.send().await.unwrap()).await
    }

    pub async fn asks_for_a_token(&self, body: &Value) -> Reply {
        self.ask(Method::POST, "/oauth/token", |request| request.json(body)).await
    }

    pub async fn admin(&self, path: &str) -> (StatusCode, String) {
        let answer = self.client.get(format!("{}{path}", self.admin)).send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    }

    /// The value of a metric's line, 0 if it was never counted.
    pub async fn metric(&self, line: &str) -> u64 {
        let (_, page) = self.admin("/metrics").await;
        let value = page.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().unwrap())
    }

    /// The line of a metric that each cell has for itself, for the cell of this world. The first cell's has no label.
    pub fn of_its_cell(&self, gauge: &str) -> String {
        let Some(cell) = self.app.place().label() else { return gauge.to_owned() };
        match gauge.split_once('{') {
            Some((name, labels)) => format!(r#"{name}{{cell="{cell}",{labels}"#),
            None => format!(r#"{gauge}{{cell="{cell}"}}"#),
        }
    }

    pub fn time_passes(&self, by: Duration) {
        self.app.clock.advance(by);
    }

    /// Every scope but one.
    pub fn all_scopes_but(scope: Scope) -> Scopes {
        Scope::ALL.into_iter().filter(|other| *other != scope).collect()
    }
}

/// Tests that reach the database in another way, or with fewer connections than two cells need, are about one cell.
fn are_about_one_cell(variables: &[(&str, &str)]) -> bool {
    variables.iter().any(|(name, _)| ["DATABASE_URL", "BACKHAUL__DATABASE__CONNECTIONS"].contains(name))
}

fn settings(database: &Database, more: &[(&str, &str)]) -> Settings {
    let found = if are_about_one_cell(more) { vec![("DATABASE_URL", database.url.clone())] } else { database.settings() };
    let found = found.iter().map(|(name, value)| (*name, value.as_str()));
    let connections = database.connections().to_string();
    let usual = [
        ("BACKHAUL__MODE", "sandbox"),
        ("BACKHAUL__DATABASE__CONNECTIONS", connections.as_str()),
        ("BACKHAUL__DATABASE__ACQUIRE_TIMEOUT_MS", "20000"),
        ("BACKHAUL__DATABASE__STATEMENT_TIMEOUT_MS", "20000"),
        ("BACKHAUL__DATABASE__LOCK_TIMEOUT_MS", "15000"),
        ("BACKHAUL__INTAKE__WRITERS", "2"),
        ("BACKHAUL__OUTBOUND__ALLOWED", r#"["127.0.0.0/8"]"#),
    ];
    let all: Vec<(&str, &str)> = found.chain(usual).chain(more.iter().copied()).collect();
    Settings::load(None, all.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()))).unwrap()
}

/// Serves `router` on a port of its own, and returns its address.
pub async fn serve(app: &App, router: axum::Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let app = app.clone();
    tokio::spawn(async move { listener::serve(listener, router, &app.settings.http, &app.entropy, std::future::pending()).await });
    base
}

/// A merchant's system.
pub struct Merchant<'w> {
    pub world: &'w World,
    pub id: MerchantId,
    pub client_id: String,
    pub client_secret: String,
    pub token: String,
}

impl Merchant<'_> {
    pub fn credentials(&self) -> Value {
        json!({ "grant_type": "client_credentials", "client_id": self.client_id, "client_secret": self.client_secret })
    }

    pub async fn gets_a_token(&self) -> String {
        let reply = self.world.asks_for_a_token(&self.credentials()).await;
        reply.body["access_token"].as_str().unwrap_or_else(|| panic!("no token: {reply:?}")).to_owned()
    }

    pub async fn calls(&self, method: Method, path: &str, shape: impl FnOnce(reqwest::RequestBuilder) -> reqwest::RequestBuilder) -> Reply {
        self.world.ask(method, path, |request| shape(request.bearer_auth(&self.token))).await
    }

    pub async fn publishes(&self, message: &Value) -> Reply {
        self.calls(Method::POST, "/returns_portal_orders", |request| request.header("Api-Version", "3").json(message)).await
    }

    pub async fn publishes_text(&self, message: impl Into<String>) -> Reply {
        let message = message.into();
        self.calls(Method::POST, "/returns_portal_orders", |request| request.header("Content-Type", "application/json").body(message)).await
    }

    pub async fn checks(&self, message: &Value) -> Reply {
        self.calls(Method::POST, "/returns_portal_orders?validate_only=true", |request| request.json(message)).await
    }

    /// Imports these orders, one per line.
    pub async fn imports(&self, orders: &[Value]) -> Reply {
        self.imports_text("", orders.iter().map(Value::to_string).collect::<Vec<_>>().join("\n")).await
    }

    /// Imports this body; `query` is appended to the URL.
    pub async fn imports_text(&self, query: &str, body: impl Into<reqwest::Body>) -> Reply {
        let body = body.into();
        let path = format!("/v1/order_imports{query}");
        self.calls(Method::POST, &path, |request| request.header("Content-Type", "application/x-ndjson").body(body)).await
    }

    pub async fn looks_up(&self, identifier: &str) -> Reply {
        self.calls(Method::GET, &format!("/v1/orders/{identifier}"), |request| request).await
    }
}

/// A response of the service.
#[derive(Debug)]
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
    pub text: String,
    pub body: Value,
}

impl Reply {
    async fn from(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        // A live feed has no end to wait for.
        let endless = headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let bytes = if endless { Vec::new() } else { response.bytes().await.unwrap().to_vec() };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body = serde_json::from_str(&text).unwrap_or_default();
        Self { status, headers, bytes, text, body }
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The result of each order, in the order of the message.
    pub fn results(&self) -> Vec<&str> {
        assert_eq!(self.status, 200, "{}", self.text);
        self.body["orders"].as_array().unwrap().iter().map(|order| order["result"].as_str().unwrap()).collect()
    }

    /// The `field code` of every fault.
    pub fn faults(&self) -> Vec<String> {
        assert_eq!(self.status, 422, "{}", self.text);
        let text = |fault: &Value, name: &str| fault[name].as_str().unwrap().to_owned();
        self.body["errors"].as_array().unwrap().iter().map(|fault| format!("{} {}", text(fault, "field"), text(fault, "code"))).collect()
    }

    /// The `field` of every warning.
    pub fn warnings(&self) -> Vec<&str> {
        assert_eq!(self.status, 200, "{}", self.text);
        self.body["warnings"].as_array().unwrap().iter().map(|warning| warning["field"].as_str().unwrap()).collect()
    }
}
